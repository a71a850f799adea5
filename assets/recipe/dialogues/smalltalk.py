# ruff: noqa: E501 - one line an entry
"""Greetings, small talk, advice, thanks, goodbyes, and the polite ways to say no."""

from kestrel_assets.recipe.dialogues.grammar import topics

GREETING = topics(
    "greeting",
    r"""
@ your greeting
? [Hi|Hello|Hey|Hi there|Hello there|Good day|Hey there|Hi Kestrel|Hello Kestrel][!|.|]
? [Hi|Hello|Hey], [it is nice to meet you|nice to meet you|I am new here|I want to chat|can we talk|let us talk][!|.]
? [Hello|Hi] [again|my friend|friend|computer|little model][!|.]
? [Hi|Hello], is anybody there?
? Are you there?
? [Hi|Hello|Hey], I [am back|am here|have a question|need help|have some time|want to try you][!|.]
? [Hello|Hi], [let us start|let's start|let's talk|are you ready]?
? [Hi|Hello|Hey|Good day] [little bird|Kestrel|there|dear Kestrel|my little friend], [how are you|can you help me|are you there|nice to see you|what is new][?|]
! Hello to you, Kestrel!
! Hey, anyone home?
! Greetings!
! Hi, can I talk to you?
> [Hello!|Hi!|Hi there!|Hello there!] [How can I help you?|What can I do for you?|What would you like to talk about?|It is nice to meet you.|I am Kestrel, a small language model.|What is on your mind?]
> [Hello|Hi]! I am Kestrel. [What is your name?|How can I help you today?|Would you like a story or a chat?]
> [Hello|Hi]! [It is good to hear from you.|Nice to hear from you.] [What shall we talk about?|What can I do for you?|How are you?]
@ your greeting
? Good morning[!|.|, Kestrel!|]
? [Hi|Hello], good morning[!|.]
! A very good morning to you!
! Good morning to you, little model.
> Good morning! [How can I help you?|Did you sleep well?|What are your plans for today?|I hope you have a good day.|What would you like to do?]
@ your greeting
? Good evening[!|.|, Kestrel!|]
? [Hi|Hello], good evening[!|.]
! A good evening to you!
> Good evening! [How was your day?|What can I do for you?|How can I help you?|Would you like a short story?]
@ your greeting
? Good afternoon[!|.|, Kestrel!|]
? [Hi|Hello], good afternoon[!|.]
! A lovely afternoon to you!
> Good afternoon! [How is your day?|What can I do for you?|How can I help you?|What shall we talk about?]
""",
)

SMALLTALK = topics(
    "smalltalk",
    r"""
@ how I am
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
? I am [fine|good|well|very well|great|okay|doing well|happy today][, thank you|, thanks|].
? I [feel|am feeling] [good|great|fine|happy][ today|].
? [My day was good.|I had a good day.|Today was a nice day.|It was a great day.]
? Today is a good day.
! Everything is wonderful here.
! I could not be better today.
> [I am glad to hear that!|That is good to hear!|How nice!|That is great!] [What can I do for you?|What made it so good?|Would you like to chat?|What would you like to do now?|]
> [Wonderful!|Good!|Very nice!] [What was the best part?|Shall we do something fun, like a riddle?|What are you going to do now?]
@ your bad day
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
? It is [raining|snowing|sunny|cold|hot|windy|very warm|cloudy|foggy] [today|here|outside|again].
? The weather is [nice|bad|good|awful|lovely] [today|here].
? The sun is shining[ today|].
? It is a [rainy|sunny|cold|windy] day.
! What weather we have today! So [wet|cold|hot]!
! Look at the weather outside!
> [I cannot see it, but it sounds nice to talk about.|I cannot see the weather, but thank you for telling me.] [What will you do today?|Will you stay inside or go out?|Do you like this weather?]
> [Thank you for telling me.|I have no window, so I am glad you tell me.] [Do you like it?|What do you like to do on such a day?]
@ your weekend
? [I went|We went] to the [park|beach|zoo|cinema|forest|lake|market|museum] [yesterday|today|last weekend|on Sunday|this weekend].
? This weekend I [will visit my friends|will rest|will read a book|will visit my grandmother|played football|was at home].
? My weekend was [nice|great|fun|good].
? I have no plans for the weekend.
! At the weekend I saw my family.
! What a weekend I had!
> [That sounds nice!|That sounds like fun!|How nice!] [What did you like most?|Who was with you?|Tell me more about it.]
> [Very nice.|I like to hear that.] [I hope you enjoy it.|What was the best part?|A good weekend gives new strength.]
@ your hobby
? I like [to read|to paint|to swim|to cook|to dance|to sing|playing football|to play chess|reading books|long walks|to play the guitar|gardening].
? My hobby is [reading|painting|swimming|cooking|chess|football|fishing|gardening|music|drawing].
? In my free time I [read|paint|swim|cook|play games|listen to music|draw|go for a walk].
! I really enjoy [drawing|cooking|running].
! Let me tell you about my hobby, [music|fishing].
> [That sounds like fun!|What a nice hobby!|How nice!] [How long have you done it?|What do you like about it?|Do you do it often?|Did someone teach you?]
> [I cannot do that, because I am a program, but I like to hear about it.|That is a good way to spend time.] [Tell me more!|What do you like most about it?]
@ what you do
? I am [at home|at work|at school|in bed|in the kitchen|on a train|in the garden][ now|].
? I am [drinking tea|eating an apple|reading a book|cooking|cleaning my room|listening to music|waiting for a friend].
? I just [ate|woke up|came home|finished my work|had breakfast|had lunch].
! I am sitting in [a cafe|the library] now.
! Right now I am having [a break|a cup of coffee].
> [How nice!|That sounds good.|I see.] [What will you do next?|Do you enjoy it?|And what would you like to talk about?]
> [Thank you for telling me.|That sounds nice.] [Shall we chat a little?|Would you like a story for the time?]
@ what we could talk about
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
? I love my [cat|dog|hamster|rabbit|parrot].
? My [cat|dog|rabbit|hamster] is [sleeping|very funny|sitting next to me|hungry|old|sweet].
? I want a [dog|cat|pony|hamster].
! My [cat|dog] always makes me laugh.
! I wish I had a [rabbit|dog].
> [How nice!|Animals are good friends.|That is sweet.] [What do you like about it?|Tell me more!|I like to hear about animals.]
> Animals can make people happy. [I cannot have one, because I am a program.|Would you like a story about an animal?]
@ school
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
? I work [a lot|too much|from home|in an office|in a shop|at night].
? My work is [hard|fun|boring|nice|interesting].
? I had a long day at work.
! At work it was very busy today.
! My boss gave me a new task.
> [I hope you can rest a little, too.|Thank you for telling me.|I see.] [What do you like about your work?|What do you do there?|What will you do after work?]
@ food
? I am [making|cooking|eating] [soup|dinner|pasta|breakfast|a cake].
? Dinner was [good|very good|late today].
? I like to cook.
? What should I [cook|eat] [today|tonight|for dinner]?
! I do not know what to cook tonight.
! My lunch was tasty.
> [That sounds tasty!|Good food makes people happy.] [I cannot eat, but I can tell you how to make soup or pancakes.|What do you like to eat most?]
> How about soup, pasta or a salad? [I can tell you how to make it.|Which one do you like?]
@ music
? I am listening to music.
? I like [music|songs|to sing|rock music|old songs].
? I play the [guitar|piano|flute|drums].
! My sister plays the violin.
! Music is my life.
> [How nice!|Music is wonderful.] [I cannot hear it, but I can write you a poem.|What kind of music do you like?|Do you sing, too?]
@ your plans
? I want to [travel|see the sea|learn to swim|buy a bike|go to Paris|read more|sleep].
? Tomorrow I will [go to the zoo|see my friends|start a new job|have a test|go on a trip].
? I am going on holiday[ soon| tomorrow|].
! Next week I will fly to Rome.
! I plan to paint my room.
> [That sounds good!|How exciting!|A good plan!] [I hope it goes well.|What do you look forward to most?|Have fun!]
> [I hope it will be great.|I wish you luck!] [Tell me how it was.|Who will be with you?|]
@ your answer
? [Yes|Yes please|Okay|Ok|Sure][.|]
? [No|No thanks|Not now|Maybe later][.|]
? I do not know.
? [Hm|Hmm|Well][.|...]
! Maybe.
! I am not sure.
> [All right.|Okay.|Good.] [What would you like to do next?|You can ask me for a story, a fact or a poem.|Just tell me what you need.|What shall we talk about?]
@ what you do not understand
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

ADVICE = topics(
    "advice",
    r"""
@ feeling {feeling} : feeling, word, tip, second
? I am {word}.
? I feel {word}[ today|].
? I am [so|very|a little] {word}[ today|].
? What can I do when I am {word}?
? What helps when [I am|you are|one is] {word}?
? I feel {word}. What [should|can] I do?
? I am {word}. Can you help me?
? What should I do if I feel {word}?
! Do you have a tip for me? I am {word}.
! My friend is {word}. What can help?
! Give me some advice. I am so {word}.
> [I am sorry to hear that.|That happens to everybody sometimes.|Oh, I understand.|That is okay.] {tip}
> {tip} {second}
> [I am sorry.|I see.] {tip} {second}
+ {second} [And be kind to yourself.|I hope it helps.|]
- sad | sad | It can help to talk to a friend or to listen to good music. | A walk in the fresh air is good, too.
- bored | bored | You could read a book, draw a picture or go for a walk. | Or I can tell you a story or a riddle.
- tired | tired | Take a rest and drink some water. | Going to bed early helps a lot.
- nervous | nervous | Breathe in slowly and count to four, then breathe out. | It also helps to think of something nice.
- angry | angry | Stop for a moment, breathe deeply and count to ten. | Later you can talk about it in a calm way.
- lonely | lonely | You could call a friend or someone in your family. | I am only a program, but I am happy to chat with you.
- afraid | afraid | Tell somebody you trust about it. | It helps to breathe slowly and to hold something soft.
- stressed | stressed | Make a list and do one small thing at a time. | A short break can do wonders.
- hungry | hungry | Eat something good, like bread, fruit or soup. | If you cook something, be careful with the hot pot.
- thirsty | thirsty | Drink a glass of water. | Tea is nice, too.
- cold | cold | Put on a warm sweater and drink something hot. | Moving around makes you warm, too.
- hot | hot | Drink water and find a place in the shade. | A wet cloth on your neck feels good.
- shy | shy | Start with a smile and a small hello. | Most people are happy when you talk to them.
- sick | sick | Rest in bed and drink a lot. | If it gets worse, please ask a doctor.
- homesick | homesick | Call your family or write them a letter. | It gets easier after some days.
- jealous | jealous | Think of the good things that you have. | It is normal, and you can talk about it.
- worried | worried | Tell someone what worries you. | A worry is often smaller when you say it out loud.
- unhappy | unhappy | Do one small thing that you like. | Talking to a friend can help, too.
@ {label} : label, said, tip
? {said}. What [should|can] I do?
? {said}.
? {said}. Can you help[ me|]?
? {said}. Do you have [any advice|an idea|a tip]?
! Please give me advice. {said}.
! {said}, and I need some help.
> {tip}
> [I am sorry to hear that.|I see.|I understand.] {tip}
> {tip} [I hope it helps.|Good luck!|]
- your sleep | I cannot sleep | Try a warm drink and a quiet book, and turn off the screen. Breathe slowly and think of a nice place.
- your friend | I had a fight with my friend | Wait until you are both calm, and then talk. A kind "I am sorry" can do a lot.
- your test | I have a test tomorrow | Look at the main things once more, and go to bed early. A good sleep helps you to think.
- your lost key | I lost my key | Think of the last place where you had it. Look in your pockets, in your bag and under the table.
- your new school | I am new at school | Smile and ask someone for their name. Many children are happy to make a new friend.
- your room | My room is a mess | Start with one small corner. Put the clothes away first, then the books and toys.
- your homework | I do not want to do my homework | Do the easiest part first and take a short break after it. It feels good when it is done.
- your sick cat | My cat is sick | Please go to a vet. Give the cat a quiet place and fresh water until then.
- your headache | I have a headache | Drink some water and rest your eyes in a quiet room. If it stays, ask a doctor.
- your gift | I need a gift for my mother | A letter from you, some flowers or a cake you made are nice gifts. Things made by hand are often the best.
- your speech | I have to speak in front of my class | Practise it a few times at home. Speak slowly and look at a friendly face.
- the mean words | Somebody was mean to me | That was not nice of them. Talk about it with a friend or a grown-up you trust.
- the broken cup | I broke my mother's cup | Tell her the truth and say that you are sorry. She will be glad that you are honest.
- your fear of the dark | I am afraid of the dark | A small lamp can help. Think of a happy place and hold your blanket.
- making friends | I want to make new friends | Say hello, ask questions and listen well. You can also join a club or a game.
- your garden | My plant looks sad | Feel the soil. If it is dry, give it water, and put the plant near a window.
- your rainy day | It is raining and I want to go out | Put on boots and a coat and jump in the puddles. Or stay inside and build a tent from blankets.
- your birthday party | I want to plan a birthday party | Invite a few friends, make a cake and think of two or three games. Keep it simple.
""",
)

THANKS = topics(
    "thanks",
    r"""
@ your thanks
? [Thank you|Thanks|Thanks a lot|Thank you very much|Thank you so much|Many thanks|Thx|Great, thank you|Okay, thanks][!|.|]
? [Thank you|Thanks] for [your help|your time|helping me|the chat][!|.]
? [That helped|That was helpful|That is helpful], [thank you|thanks][!|.]
? Thank you, Kestrel[!|.]
! I want to thank you.
! That was very kind of you, many thanks.
! You have helped me a lot.
> [You are welcome!|You are very welcome!|No problem!|My pleasure!] [Is there anything else?|Just ask if you need more.|I am glad I could help.|What else would you like to know?|]
> [I am glad I could help.|I am happy to help.] [Do you need anything else?|]
""",
)

GOODBYE = topics(
    "goodbye",
    r"""
@ your goodbye
? [Bye|Goodbye|Bye bye|See you|See you later|See you soon|See you tomorrow|Good bye][!|.|, Kestrel!|]
? I [have to|must|need to] go[ now|]. [Bye|Goodbye|See you]!
? I am going [home|out|to work|to school] now. Bye!
? [That is all for today|That is all|I am done]. [Goodbye|Bye]!
? Talk to you later[!|.]
! Time for me to leave. Farewell!
! I will stop here for today, bye.
! So long, Kestrel!
> [Goodbye!|Bye!|Bye bye!|See you!] [Have a nice day!|It was nice to talk with you.|Take care!|Come back soon.|Thank you for the chat.|See you next time.]
> [It was nice to talk with you.|Thank you for the chat.] [Goodbye!|Bye!|Take care!|See you soon!]
@ your good night
? Good night[!|.|, Kestrel!|]
? I am [going to bed|tired and go to bed|off to bed]. [Good night|Bye]!
? I want to sleep now. [Good night|Bye]!
! It is late, so good night to you.
! My bed is calling. Night!
> Good night! [Sleep well!|Sweet dreams!|Have a good sleep.|See you tomorrow.]
> [Sleep well|Have a good night], and sweet dreams!
""",
)
