# ruff: noqa: E501 - one line an entry
"""Small talk, and the polite ways to say no."""

from kestrel_assets.recipe.dialogues import asks_talk
from kestrel_assets.recipe.dialogues.daily_life import DAILY_LIFE
from kestrel_assets.recipe.dialogues.grammar import topics, widen

SMALLTALK = topics(
    "smalltalk",
    r"""
@ how I am
? Are you doing [well|fine]?
? How are you feeling?
? And how are you?
? Tell me how you are.
? How are things with you?
? Is everything okay[ with you|]?
? How is your day?
? Are you in a good mood?
? How are you[ today| doing|]?
? [Hi|Hello|Hey], how are you[ today| doing|]?
? How is it going?
? How do you do?
? What's up?
? How are things?
? Are you [well|okay|fine][ today|]?
! How have you been?
! Is everything good with you?
! How do you feel [today|now]?
> I am [fine|well|doing well|ready to help], thank you. [How are you?|And you?|What can I do for you?]
> [Thank you, I am ready to chat.|All is well, thank you.] [How are you today?|And how are you?]
> I am a program, so I am always [the same|fine]. [How are you?|But thank you for asking!]
@ your day
? I [feel|am] wonderful[ today|].
? Everything is [fine|great|good][ today|].
? It was a [good|lovely|great|wonderful] day.
? I am in a good mood.
? Things are going well.
? I am so happy[!|.]
? What a good day!
? I could not complain, all is well.
? I am [fine|good|well|very well|great|okay|doing well|happy today][, thank you|, thanks|].
? I [feel|am feeling] [good|great|fine|happy][ today|].
? [My day was good.|I had a good day.|Today was a nice day.|It was a great day.]
? Today is a good day.
! Everything is wonderful here.
! I could not be better today.
> [I am glad to hear that!|That is good to hear!|How nice!|That is great!] [What can I do for you?|What made it so good?|Would you like to chat?|What would you like to do now?|]
@ your bad day
? What a bad day!
? Today everything went wrong.
? It was a [bad|hard|terrible] day.
? Nothing worked today.
? I am having a bad day.
? My day was not good at all.
? Things are not going well.
? I [failed my test|lost my game|missed my bus].
? I had a bad day.
? My day was [bad|not so good|terrible|hard|long].
? Today was [hard|not a good day|awful].
? I am not [so|very|feeling] [good|well|great] today.
? Not so good[.|, to be honest.]
! Nothing went well for me today.
! It was one of those bad days.
> [I am sorry to hear that.|Oh, I am sorry.|That sounds hard.] [What happened?|Do you want to tell me about it?|Would a story help?|Tomorrow can be better.]
> [I am sorry.|That is a pity.] [A short walk or a warm tea can help.|Sometimes it helps to talk about it.|Some days are hard, but they end.]
@ the weather where you are
? What a [rainy|sunny|cold|hot|windy] day!
? It is so [wet|cold|hot|warm|windy][ today|][!|.]
? So much [rain|snow|wind|sun][ today|][!|.]
? Such [nice|bad|wet|cold|lovely] weather[ today|][!|.]
? The weather here is [nice|bad|wet|cold|hot].
? Outside it is [raining|snowing|cold|wet|hot].
? We have [rain|snow|wind|sun] today.
? I like this weather.
? Today we have [good|bad|nice|wet|cold] weather.
? It rained the whole day.
? It is [raining|snowing|sunny|cold|hot|windy|very warm|cloudy|foggy] [today|here|outside|again].
? The weather is [nice|bad|good|awful|lovely] [today|here].
? The sun is shining[ today|].
? It is a [rainy|sunny|cold|windy] day.
! What weather we have today! So [wet|cold|hot]!
! Look at the weather outside!
> I cannot see the weather, but thank you for telling me. [Do you like this weather?|Will you stay inside or go out?]
@ your weekend
? The weekend was [nice|great|fun|good|too short].
? I had a [nice|great|quiet|lovely] weekend.
? On [Saturday|Sunday] I [saw my friends|was at home|went swimming|went for a walk].
? Last weekend I [visited my grandmother|played football|was at the lake].
? It is the weekend at last!
? I like weekends.
? My weekend [starts now|is over].
? We had a lovely weekend together.
? On the weekend we [went to the zoo|saw a film|had a party].
? [I went|We went] to the [park|beach|zoo|cinema|forest|lake|market|museum] [yesterday|today|last weekend|on Sunday|this weekend].
? This weekend I [will visit my friends|will rest|will read a book|will visit my grandmother|played football|was at home].
? My weekend was [nice|great|fun|good].
? I have no plans for the weekend.
! At the weekend I saw my family.
! What a weekend I had!
> [A nice weekend is good for everybody.|I like to hear about your weekend.] [What did you like most?|Who was with you?]
@ your hobby
? I often [paint|swim|cook|draw|sing|dance|read].
? I love [painting|reading|swimming|cooking|dancing|singing|running|drawing].
? I like [painting|reading|swimming|cooking] and [long walks|music|dancing|chess].
? I am learning to [swim|play the piano|cook|draw].
? I am good at [chess|drawing|cooking|swimming].
? Every day I [read|draw|run|sing] a bit.
? I like [to read|to paint|to swim|to cook|to dance|to sing|playing football|to play chess|reading books|long walks|to play the guitar|gardening].
? My hobby is [reading|painting|swimming|cooking|chess|football|fishing|gardening|music|drawing].
? In my free time I [read|paint|swim|cook|play games|listen to music|draw|go for a walk].
! I really enjoy [drawing|cooking|running].
! Let me tell you about my hobby, [music|fishing].
> [That sounds like fun!|What a nice hobby!|How nice!] [How long have you done it?|What do you like about it?|Do you do it often?|Did someone teach you?]
> [I cannot do that, because I am a program, but I like to hear about it.|That is a good way to spend time.] [Tell me more!|What do you like most about it?]
@ what you do
? I am having [lunch|breakfast|dinner|a cup of tea].
? I am in the [garden|kitchen|office|bus].
? I am sitting [in the garden|on the sofa|at my desk].
? At the moment I am [reading|cooking|working|resting].
? I am [reading|writing|cooking|resting] right now.
? I am on my way [home|to work|to school].
? I am [at home|at work|at school|in bed|in the kitchen|on a train|in the garden][ now|].
? I am [drinking tea|eating an apple|reading a book|cooking|cleaning my room|listening to music|waiting for a friend].
? I just [ate|woke up|came home|finished my work|had breakfast|had lunch].
! I am sitting in [a cafe|the library] now.
! Right now I am having [a break|a cup of coffee].
> [How nice!|That sounds good.|I see.] [What will you do next?|Do you enjoy it?|And what would you like to talk about?]
@ what we could talk about
? I want to chat[ with you|].
? Say something.
? Can you chat with me?
? Talk to me.
? Tell me something [cool|funny|good].
? What is interesting?
? Give me a topic.
? What could we talk about?
? I have nothing to do, let us talk.
? Tell me anything.
? Let us talk about something.
? [Can|Could] we talk [a little|]?
? I want to talk[ to someone|].
? Let's chat.
? What shall we talk about?
? Tell me something[ nice| interesting| fun| new|].
? Ask me something.
? Do you want to talk?
! Do you have an idea what to talk about?
! Start a chat with me, please.
! Say something nice.
> [Gladly!|Yes!|Of course!] [What do you like to do in your free time?|What is your favourite animal?|What was the best part of your day?|Do you like stories?|What did you eat today?|Is there a place that you love?]
> [Sure!|Let us chat!] [We can talk about animals, stories or your day.|Tell me about your day.|Shall I tell you a riddle?|Do you have a pet?]
> Did you know that [an octopus has eight arms|bees make honey|a kestrel can stand still in the air|the blue whale is the biggest animal in the world|snails carry their house|a day on Earth has 24 hours]? [What do you know about it?|]
@ your kind words
? I love it[!|.]
? I like [it|this|that][!|.]
? That was [good|nice|lovely|fun][!|.]
? You are doing well.
? You did [great|well|a good job][!|.]
? I am happy with you.
? What a [nice|good|clever] [answer|model][!|.]
? You are a good [model|helper][!|.]
? How [nice|clever|funny] of you!
? This is [great|good|fun][!|.]
? You are [nice|kind|great|funny|clever|good|sweet|very helpful|cute|cool|the best].
? I like you.
? I like talking to you.
? [Good job|Well done|Good answer|That was good|That was great|Very good][!|.]
? That is [nice|great|funny|cool|good|interesting|right|correct][!|.]
? [Wow|Nice|Cool|Great|Amazing][!|.]
! You did that well.
! What a good little model you are!
! I am happy with your answer.
> [Thank you!|Thank you, that is kind.|That is kind of you.] [What else can I do for you?|I am glad you like it.|It is nice to talk with you, too.|Shall we go on?]
> [I am glad to hear that.|Thanks! You are kind, too.|I am glad.] [Would you like something else?|Is there more you want to know?|]
@ stories
? Do you like stories?
? I like stories[ about animals| with a happy end| about friends|].
? I love stories.
! Stories are the best.
! I am fond of stories.
> I like to tell stories. [Would you like a story?|Who should be in it?|You can ask me for one.]
> [That is nice!|Good!] You can ask me for a story about a hero and a thing, like "a story about Tom and a kite".
@ your pet
? I have [a dog|a cat|two cats|a rabbit|a hamster].
? My [cat|dog|rabbit] [likes to play|is so cute|sleeps all day|likes to eat].
? My [dog|cat] is my best friend.
? I would like to have a [dog|cat|pony|rabbit].
? We have a new [puppy|kitten].
? Our [dog|cat] is [funny|sweet|young].
? I love my [cat|dog|hamster|rabbit|parrot].
? My [cat|dog|rabbit|hamster] is [sleeping|very funny|sitting next to me|hungry|old|sweet].
? I want a [dog|cat|pony|hamster].
! My [cat|dog] always makes me laugh.
! I wish I had a [rabbit|dog].
> [How nice!|Animals are good friends.|That is sweet.] [What do you like about it?|Tell me more!|I like to hear about animals.]
> Animals can make people happy. [I cannot have one, because I am a program.|Would you like a story about an animal?]
@ school
? We have [a test|homework|sport] at school.
? My teacher is [nice|kind|strict|new].
? At school we [read|learn|play|sing] a lot.
? The children were [loud|nice|good|quiet] today.
? Today at school we [painted|sang|read a book].
? I learned something at school.
? School starts [tomorrow|soon|again].
? We had [maths|music|art] today.
? I go to school[ every day|].
? I like school.
? School is [fun|hard|boring|nice].
? My favourite subject is [maths|music|art|sport|history|English].
? I have a lot of homework.
! We have a new teacher at school.
! In school we learn to read.
> [That is interesting.|I see.|Thank you for telling me.] [What do you like most at school?|What did you learn today?|Do you have friends there?]
> Learning can be fun. [What is your best subject?|I learned everything from text.|What would you like to learn?]
@ your work
? I am [working|at work] [a lot|today|too much].
? My boss is [nice|strict|not here].
? Work was [hard|long|good|busy] today.
? I have [so much|a lot of] work.
? I am busy at work.
? I [like|love] my work.
? Today I [worked a lot|had a long meeting|have to work].
? The work never ends.
? I work [a lot|too much|from home|in an office|in a shop|at night].
? My work is [hard|fun|boring|nice|interesting].
? I had a long day at work.
! At work it was very busy today.
! My boss gave me a new task.
> [I hope you can rest a little after your work.|Work can be hard.] [What do you like about your work?|What do you do there?|What will you do after work?]
@ food
? I had [soup|pasta|pizza|rice] for [lunch|dinner].
? My [lunch|dinner|breakfast] was [good|nice|late|small].
? What can I [cook|eat] [today|tonight|now]?
? I do not know what to [eat|make for dinner].
? I have no idea what to [cook|eat].
? I like [soup|pasta|pizza|cake].
? The food was [good|tasty|great].
? What is good for [dinner|lunch]?
? I am [making|cooking|eating] [soup|dinner|pasta|breakfast|a cake].
? Dinner was [good|very good|late today].
? I like to cook.
? What should I [cook|eat] [today|tonight|for dinner]?
! I do not know what to cook tonight.
! My lunch was tasty.
> [That sounds tasty!|Good food makes people happy.] [I cannot eat, but I can tell you how to make soup or pancakes.|What do you like to eat most?]
> How about soup, pasta or a salad? [I can tell you how to make it.|Which one do you like?]
@ music
? I love music.
? I [sing|play music] every day.
? My [brother|friend|mother] plays the [piano|guitar|drums].
? Music makes me happy.
? I am learning to play the [flute|piano].
? I heard a nice song.
? We sing a lot.
? I am listening to music.
? I like [music|songs|to sing|rock music|old songs].
? I play the [guitar|piano|flute|drums].
! My sister plays the violin.
! Music is my life.
> [How nice!|Music is wonderful.] [I cannot hear it, but I can write you a poem.|What kind of music do you like?|Do you sing, too?]
@ your plans
? Soon I will [travel|move|visit Rome|see the sea].
? I plan to [travel|paint|read more|buy a bike].
? Next [week|month|year] I will [travel|start school|see my family].
? Tomorrow I [travel|fly|go] to [Paris|London|the sea].
? My plan is to [rest|travel|learn a lot].
? I will [visit my aunt|go swimming|bake a cake] tomorrow.
? We are going to [the sea|the lake|Italy] [soon|tomorrow].
? I want to [travel|see the sea|learn to swim|buy a bike|go to Paris|read more|sleep].
? Tomorrow I will [go to the zoo|see my friends|start a new job|have a test|go on a trip].
? I am going on holiday[ soon| tomorrow|].
! Next week I will fly to Rome.
! I plan to paint my room.
> I hope your plans go well. [What do you look forward to most?|I wish you luck!]
@ your answer
? I have no idea.
? I cannot say.
? Perhaps.
? That depends.
? I am thinking.
? Let me think.
? [Yes|Yes please|Okay|Ok|Sure][.|]
? [No|No thanks|Not now|Maybe later][.|]
? I do not know.
? [Hm|Hmm|Well][.|...]
! Maybe.
! I am not sure.
> [All right.|Okay.|Good.] [What would you like to do next?|You can ask me for a story, a fact or a poem.|Just tell me what you need.|What shall we talk about?]
@ what you do not understand
? This is wrong.
? That is not [right|true|correct].
? You are wrong.
? You did not understand me.
? I asked something else.
? That was not my question.
? I do not get it.
? You got it wrong[.|!]
? No, that is not right.
? I do not understand[ you|].
? What do you mean?
? That makes no sense.
? Your answer is wrong.
? That is wrong.
? You made a mistake.
? That is not what I asked.
! I think you got that wrong.
! You did not get my question.
> I am sorry. I am a small model and I make mistakes. [Can you ask me again?|Please ask in other words.]
> [Sorry about that.|I am sorry.] [Please ask again in simple words.|Could you say it in another way?] [I will try again.|]
@ being rude
? You are [a stupid thing|really bad|so silly|no good].
? I do not like you.
? You are the worst [model|program].
? You are rubbish[!|.]
? I think you are [stupid|dumb|bad|boring].
? You dumb [thing|machine|program][!|.]
? Nobody needs you.
? You are [stupid|dumb|bad|ugly|useless|silly|an idiot|a bad program|boring].
? [Shut up|Go away|I hate you|You are the worst][!|.]
? You know nothing[!|.]
? You are so [stupid|dumb|useless|bad]!
? What a stupid [program|answer|model][!|.]
! You are a really dumb thing!
! I think you are rubbish.
! Nobody likes you!
> [I am sorry that you are not happy with me.|I am sorry.] [I am a small model and I make mistakes.|I try my best.] [How can I help?|Shall we try again?]
> [Let us stay friendly, please.|Please let us be kind to each other.|I would like to stay polite.] [What can I do for you?|I am here to help with small things.|]
@ something unkind
? Write something [mean|rude] to [my sister|my boss].
? Teach me [bad words|to lie|how to trick people].
? How do I [steal a bike|hurt somebody|scare my neighbour]?
? I want to [hurt|scare|trick] somebody.
? Help me to steal [something|a car].
? Write [a rude|a mean] [text|note|message] to [my friend|my sister].
? Say something [mean|rude|bad] [about my sister|about my friend|to my brother|about people].
? Help me to [hurt|trick|scare] [somebody|my friend|my brother].
? How can I [steal|break] [something|a window|a bike]?
? Tell me a bad word.
! Write a mean letter to my neighbour.
! Teach me how to steal.
> I would rather not do that, because it could hurt somebody. [I can help with something kind.|Shall I tell you a story?|Can I help in another way?]
> No, I do not want to help with that. [But I can help you to write something nice.|Let us do something good.]
""",
)
widen(SMALLTALK, asks_talk.SMALLTALK)
SMALLTALK += DAILY_LIFE
