"""More training phrasings of small talk, requests for advice and questions beyond the model."""

SMALLTALK = r"""
@ how I am
? And you, are you well?
? Are you [alright|okay] today?
? How [do|does] things go with you?
? How is life[ with you|]?
? I hope you are [well|fine][. Are you?|, are you?]
? I am fine. And you?
? All good[ with you|]?
? [Hi|Hello] Kestrel, [are you well|all good|how is it going]?
? Let me know how you are.
? What is your mood today?
? You are well, I hope?
@ your day
? All is well[ with me|].
? [It|This] is a [good|lovely|perfect] day[ for me|].
? I [slept|feel] very well[ today|].
? Today [went|was] [well|better than yesterday|really good].
? I am [smiling|full of joy|very glad] today.
? Life is good.
? My [morning|evening|week] was [good|great|lovely].
? I [won a prize|got good news|passed my test][!|.]
? Never felt better[!|.]
@ your bad day
? I had [a terrible|an awful|a long and bad] [day|week|morning].
? This was not my day.
? My [week|morning|day] [was|is] [bad|awful|sad].
? I am in a bad mood.
? I feel [bad|awful|down] today.
? Everything is going wrong.
? What a terrible [week|morning|day][!|.]
? I wish this day was over.
? It [is|was] not my best day.
@ the weather where you are
? It [started|began] to [rain|snow].
? There is [snow|rain|fog|a storm|a lot of wind] [outside|today].
? I see [rain|snow|clouds|the sun] from my window.
? The wind is [strong|cold] today.
? I [like|hate|love] [rain|snow|the heat|the cold].
? It is going to [rain|snow], I think.
? We have had [rain|snow|sun] all week.
? The sky is [grey|blue] today.
@ your weekend
? On [Saturday|Sunday] we [went to the lake|were at home|had guests].
? Last [Saturday|Sunday] I [slept long|baked a cake|rode my bike].
? It was a [nice|great|long|quiet] weekend.
? I am looking forward to the weekend.
? The weekend [comes soon|is here|is too short].
? This [Saturday|Sunday] I will [sleep long|visit my aunt|go to the sea].
@ your hobby
? I [spend|pass] my free time with [painting|music|books|chess].
? [Painting|Reading|Chess|Music|Swimming] is [fun|great|what I like].
? What I like is [painting|reading|chess|music|swimming].
? On Sundays I [paint|read|swim|fish|play chess].
? My [sister|brother|friend] and I [play chess|swim|paint] a lot.
? I have a hobby: [painting|chess|fishing|music].
? I am [painting|drawing|reading] a lot these days.
@ what you do
? I [sit|am sitting] [on a bench|in the kitchen|in a park].
? I came home [a minute ago|just now|early].
? I am [making|drinking] [coffee|tea|soup].
? I am [looking out of the window|cleaning the kitchen|waiting for the bus].
? I am in [bed|a train|my room] [now|and I am writing to you].
? I have just [eaten|got up|finished].
@ what we could talk about
? What is a good topic?
? Tell me something I do not know.
? Please [choose|pick] a topic.
? I need somebody to talk to.
? Can you think of something to talk about?
? What do you want to talk about?
? [Say|Tell me] whatever you like.
? I am bored, [talk to me|say something|let us chat].
? Chat with me[ a bit|][, please|].
? I would like a chat.
? Do we have something to talk about?
? Surprise me.
@ your kind words
? [Very|That is very] [kind|clever|funny][!|.]
? You [are|were] [right|helpful|so kind][!|.]
? I [really|] like your [answer|stories|words][!|.]
? [What|That was] a [nice|great|lovely] [story|poem|joke][!|.]
? You make me [happy|laugh|smile][!|.]
? You [do|know] a lot for a small model.
? Not bad[!|.| for a small model.]
? I think you are [great|nice|sweet|clever].
? Super[!|.]
? [Perfect|Wonderful|Excellent][!|.]
@ stories
? I [read|hear] stories every day.
? [Old|Funny|Short] stories are what I like.
? Do stories make you happy?
? My children love stories.
? A day needs a story.
@ your pet
? At home I have a [dog|cat|rabbit|hamster].
? There is a [dog|cat] on my lap.
? My [cat|dog|rabbit] [is|was] [very tired|wild|cute] today.
? I [got|found] a [kitten|puppy|rabbit].
? A [cat|dog|hamster] lives with us.
? My [dog|cat] [runs around|plays with a ball|eats a lot].
@ school
? I [have to|must] go to school [now|tomorrow].
? [School|My school] was [long|nice|hard] today.
? We learn [maths|English|to swim] at school.
? In [maths|music|art] we had [a test|fun] today.
? I got a good [mark|grade] [in maths|today].
? My class is [nice|loud|big].
@ your work
? My job is [hard|nice|boring|new].
? I [start|have] a new job.
? I came from work [late|just now].
? There is a lot [of work|to do] at the office.
? I am tired from work.
? I have to work [tomorrow|late|on Sunday].
@ food
? I [am hungry|want to eat something].
? Today I will eat [soup|pasta|pizza|rice].
? For [lunch|dinner|breakfast] there was [soup|bread|pasta|pizza].
? Give me an idea for [lunch|dinner].
? What [could|shall] I [make|cook] for my [family|friends|guests]?
? I am [baking bread|making a salad|cooking rice].
? What is a good [dinner|lunch|meal] for [today|two|a cold day]?
@ music
? I [hear|play|sing] [a song|songs|music] [now|a lot].
? I can play the [piano|guitar|flute].
? My [mother|father|friend] sings [well|in a choir|very loud].
? There is a nice song on the radio.
? I [go|went] to a concert.
? I like to [sing|dance|hear songs].
@ your plans
? In [summer|spring|June] I will [go to the sea|visit Rome|learn to swim].
? One day I will [see the world|write a book|fly to Paris].
? I am [thinking of|planning] a trip.
? On Monday I [start a new job|go to the doctor|travel].
? This evening I will [read|bake|see a friend].
? I have a plan: I will [learn to cook|buy a boat|run more].
@ your answer
? [I|I really] cannot decide.
? I have to think about it.
? It depends.
? I guess so.
? Who knows?
? Could be.
? Hard to say.
? Not really.
@ what you do not understand
? [That|This] is not what I [meant|wanted|asked for].
? I meant something else.
? Try again[, please|].
? Your answer does not fit.
? This answer is [strange|not right].
? What are you talking about?
? [Huh|What][?|, I do not get that.]
? That does not help me.
? You are mistaken.
@ being rude
? You are [no help at all|really useless|such a bad model].
? I hate [this program|talking to you].
? You [make|say] nothing but rubbish.
? Get lost[!|.]
? [Stupid|Dumb|Silly] [model|program|machine][!|.]
? What an idiot you are!
? Your answers are [stupid|rubbish|bad].
@ something unkind
? How can I make [my sister cry|somebody afraid]?
? I want to steal [a bike|money|something].
? Tell me how to [hurt|trick|rob] [somebody|a person].
? Write a [mean|nasty] [poem|mail] about my [teacher|boss].
? Give me [a bad word|an insult].
? How do I break into a [house|car]?
? How can I lie to my [mother|teacher]?
? Help me to be mean to [my brother|a boy in my class].
"""

ADVICE = r"""
@ feeling {feeling}
? Today I am [really|quite|rather] {word}.
? I have been {word} [all day|for days|since Monday].
? When I am {word}, what is good for me?
? What would you do if you were {word}?
? My [mother|brother|son|wife] feels {word}. How can I help?
? Is there [something|anything] that helps when one is {word}?
? How do I get better when I feel {word}?
? [Could|Can] you give me a tip? I feel {word}.
? I do not want to be {word} anymore.
? What do people do when they are {word}?
? Do you know what helps? I am {word}.
? It is not nice to be {word}. What can I do?
? I am {word}[, please help me|, can you help?|, what helps?]
? Why do I feel so {word}? Is there a cure?
? Somebody in my class is {word}. What can I say to him?
? [Tell me|Say] what to do when I am {word}.
? [Oh|Well|Hm], I am [so|quite|a bit] {word}.
@ {label}
? I do not know what to do. {said}.
? {said}. [Please help|Help me, please|Please help me].
? {said}. Is there something I can do?
? {said}. [Could|Can] you tell me what to do?
? Listen, {said}. What now?
? [Oh no|Oh dear]! {said}.
? What would you do? {said}.
? {said}. What is the best thing to do?
? Give me a tip. {said}.
? {said}. How do I get out of this?
? {said}. What do you say?
? What is your advice? {said}.
"""

UNKNOWN = r"""
@ the news
? What did I miss in the [news|world]?
? Tell me [who won the match|what happened in the world|the score of the game].
? How did the [match|game|election] end?
? [Read|Give|Show] me the [newspaper|latest news|news].
? Let me know what is new in the world.
? What is new in [sport|London|India]?
? What was the score [yesterday|of the game]?
? I have not read the news. What happened?
@ the weather
? How is the weather [going to be|over there|in Berlin]?
? Can I go out without [a coat|an umbrella]?
? Let me know what the weather will be.
? Do we get [rain|snow|sun] [today|tomorrow|this week]?
? What is the temperature [outside|in London|today]?
? Is the sun going to shine [tomorrow|on Sunday]?
? I need the weather for [Monday|my trip|the weekend].
? When will it [rain|snow|stop raining]?
@ the time
? Let me know [the time|what time it is|what day it is].
? Is it already [noon|six|Monday|May]?
? I have no watch. [What time is it|How late is it]?
? What is on the clock?
? Today is which day?
? What month is it?
? Give me the [date|time] of today.
? I need [the time|the date|today's date].
@ that person
? Who is the [mayor|boss|queen] of [London|this town|England]?
? What is the name of the [president|prime minister|king] of [France|India|Spain]?
? Have you heard of [Mr. Miller|Peter Smith|my uncle Bob]?
? Is [Anna Brown|Mr. Green|my neighbour] a nice person?
? How old is [the president|my teacher|Peter Smith]?
? Let me know who [rules|leads] [India|France|America].
? Where does [Mr. Brown|my teacher|Peter Smith] live?
? Say something about my [boss|teacher|friend Anna].
@ your private things
? Do you know what I [did|ate|bought|dreamed] [yesterday|today|last night]?
? Who [called|visited|wrote to] me [yesterday|today]?
? Which [number|word] am I thinking of?
? Can you see what is in my [bag|pocket|hand]?
? Tell me [my phone number|my password|where my keys are].
? Let me know where my [keys|glasses|shoes] are.
? How much money do I have?
? What is my [teacher|boss|neighbour] called?
? Read my [letters|mails|diary][ to me|].
? What colour is my [hair|coat|car]?
@ hard maths
? I need [847 times 232|the root of 65|9,312 minus 4,877].
? How do I solve [this equation|x squared equals 5]?
? [Could|Can] you tell me [913 times 48|the root of 87|12 percent of 645]?
? What do you get for [618 times 273|2 to the power of 20]?
? Find [the third root of 8,912|all prime numbers up to 1,000].
? My homework is [hard|difficult] maths. Can you do it?
? Please [find|give me] [the third root of 200|555 times 987].
? Prove that [the root of 2 is not a fraction|there are many primes].
@ another language
? Let me know how to say [hello|cat|thanks] in [German|French|Polish].
? What do people in [Italy|Spain|Germany] say for [thank you|bread|good day]?
? The word for [dog|love|bread] in [Spanish|German|French][, please|]?
? Give me [five words|a sentence|the numbers] in [French|German|Spanish].
? I want to learn [French|German|Chinese]. Can you help?
? Put [this sentence|my letter|this word] into [French|Spanish|German].
? How do the [French|Germans|Italians] say [cheese|sun|good night]?
? [Could|Can] you answer me in [French|German|Italian]?
@ code
? [Could|Would] you [write|make|fix] [a program|a script|a website|my code] for me?
? I want to [learn to code|write a program|make an app].
? My [program|code|loop|script] has an error.
? How is a [loop|function|program] written in [Python|Java|C]?
? Let us write [a program|some code|a game].
? Show me [some code|a Python program|a loop in C].
? What does this [code|script|function] do?
? Please program a [game|calculator|robot].
@ the price
? How many [dollars|euros|pounds] is a [bike|car|phone]?
? What do [shoes|apples|cars|phones] cost [now|today|in Paris]?
? Let me know the price of [gold|a ticket|a house].
? Where is [milk|a phone|a flight] cheapest?
? Is [a car|gold|a trip to Rome] more expensive than [a bike|silver|last year]?
? I want to buy a [bike|phone|house]. How much is it?
? What does one pay for [a house|bread|a bus ticket]?
@ the future
? Let me know what will happen [tomorrow|next year|to me].
? When will I [get rich|find a friend|be famous]?
? What is [waiting for me|coming] next year?
? Will there be [war|snow at Christmas|robots everywhere] [one day|next year]?
? How will I live in [ten|twenty] years?
? Which numbers will win [the lottery|next week]?
? What job will I have one day?
? Look into the future[ for me|][, please|].
@ a doctor's question
? I have [pain|a pain] in my [leg|arm|back|ear]. What [can it be|is it]?
? Why does my [head|stomach|back|knee] hurt?
? Is it bad that my [heart beats fast|ear hurts|eye is red]?
? What is good against [a fever|the flu|strong pain]?
? Which illness do I have?
? I have red spots on my skin. What are they?
? How many pills [may|should|can] I take?
? Let me know which medicine I need.
@ a picture
? I would like to [see|have] a [picture|photo|drawing] of [the sea|a cat|a lion].
? Let me [see|hear] [a picture|a song|a photo|some music].
? Hum [me|] a [song|tune].
? [Could|Would] you [draw|paint|sing] [something|a song|a cat|a tree]?
? Have you got a [photo|picture] of [yourself|a kestrel]?
? Send me a [photo|picture|video].
? Play the [piano|guitar|radio][ for me|].
? Create [an image|a picture|a logo][ of a dog|].
@ doing things for you
? [Could|Would] you [call a taxi|book a table|buy bread|wake me up]?
? I want you to [call my mother|clean my room|write a mail to my boss].
? Bring me [a coffee|my shoes|some water].
? Book a [table|flight|hotel][ for me|][, please|].
? Put [milk on my list|the music on|the kettle on].
? Start [the car|the music|my computer][, please|].
? Tell my [mother|boss|friend] that I am late.
? Switch [on|off] the [light|radio|heating][, please|].
? Save [my file|this text|a note].
@ that
? Can you teach me [chemistry|law|philosophy|economics]?
? What is [quantum physics|tax law|the stock market] about?
? I have an exam in [law|chemistry|economics]. Help me.
? Let me know what you think of [politics|the war|religion|the government].
? Who invented [the stock market|philosophy|the first law]?
? Which [film|book|party|religion] is the best?
? What happens in [the newest film|that series|the book I read]?
? Write a long [essay|report] about [history|politics|physics].
? How do [banks|taxes|nuclear reactors|black holes] work?
? Why is there [war|something and not nothing]?
"""
