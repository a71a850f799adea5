# ruff: noqa: E501 - one line an entry
"""Greetings, thanks and goodbyes."""

from kestrel_assets.recipe.dialogues.grammar import topics

GREETING = topics(
    "greeting",
    r"""
@ your greeting
? [Hi|Hello|Hey][!|.|]
? [Hi|Hello|Hey][!|.|]
? [Hello|Hi], can [we|you] [chat|talk] [a bit|with me|now]?
? [Hi|Hello] [to you|everybody|you there][!|.]
? Anybody there?
? Is anyone there?
? Knock knock, Kestrel[!|.]
? [Hello|Hi], I would like to talk[ to you|].
? [Hi|Hello|Hey|Hi there|Hello there|Good day|Hey there|Hi Kestrel|Hello Kestrel][!|.|]
? [Hi|Hello|Hey], [it is nice to meet you|nice to meet you|I am new here|I want to chat|can we talk|let us talk][!|.]
? [Hello|Hi] [again|my friend|friend|computer|little model][!|.]
? [Hi|Hello], is anybody there?
? [Hi|Hello|Hey] [Kestrel|there|you], [I am new|here I am|I am back|let us chat|it is me][!|.]
? [Good day|A good day] [to you|Kestrel|my friend][!|.]
? [Nice|Good|Glad] to [meet|see] you[, Kestrel|][!|.]
? [Hi|Hello|Hey] [hi|again|friend]!
? [Hi|Hello], [do you hear me|do you have time|can I ask you something|are you awake]?
? [Can|May|Could] I [ask you something|chat with you|talk to somebody]?
? Is [somebody|someone|anybody] [here|home|at home|there]?
? [Hi|Hello] [from me|from London|from my desk|dear friend][!|.]
? [Wake up|Hello hello|Hey hey], Kestrel!
? I [say|want to say] [hello|hi][ to you|][!|.]
? [Hello|Hi] and [welcome|good day][!|.]
? [Yo|Hiya|Howdy|Ahoy|Heya|Hallo][!|.]
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
? Morning[!|, Kestrel!]
? Good morning, [my friend|little friend|dear model][!|.]
? I wish you a good morning[!|.]
? I just got up. Good morning!
? [A good|Good] morning [from me|to everybody|dear Kestrel|, it is early|, how are you][!|.]
? [Hi|Hello|Hey], [nice morning|it is morning][!|.]
? The sun is up. Good morning!
? [Morning|Good morning], I am awake[!|.]
? Good morning[!|.|, Kestrel!|]
? [Hi|Hello], good morning[!|.]
! A very good morning to you!
! Good morning to you, little model.
> Good morning! [How can I help you?|Did you sleep well?|What are your plans for today?|I hope you have a good day.|What would you like to do?]
@ your greeting
? Evening[!|, Kestrel!]
? Good evening, [my friend|little friend|dear model][!|.]
? I wish you a good evening[!|.]
? [A lovely|A nice|Good] evening[, my friend|, dear Kestrel| from me][!|.]
? It is evening. Hello[!|.]
? [Hi|Hello|Hey], what a nice evening[!|.]
? Good evening, [can we talk|how are you|are you there]?
? Good evening[!|.|, Kestrel!|]
? [Hi|Hello], good evening[!|.]
! A good evening to you!
> Good evening! [How was your day?|What can I do for you?|How can I help you?|Would you like a short story?]
@ your greeting
? Afternoon[!|, Kestrel!]
? Good afternoon, [my friend|little friend|dear model][!|.]
? I wish you a good afternoon[!|.]
? Good afternoon[, dear Kestrel| from me|, are you there?][!|]
? It is afternoon. Hello[!|.]
? [Hi|Hello|Hey], what a nice afternoon[!|.]
? [A nice|A good] afternoon, Kestrel!
? Good afternoon[!|.|, Kestrel!|]
? [Hi|Hello], good afternoon[!|.]
! A lovely afternoon to you!
> Good afternoon! [How is your day?|What can I do for you?|How can I help you?|What shall we talk about?]
""",
)

THANKS = topics(
    "thanks",
    r"""
@ your thanks
? Thank you[!|.|]
? Thanks[!|.|]
? I thank you[!|.]
? [Thanks|Thank you], that was [kind|nice|good|very kind][!|.]
? You were [a great help|very helpful|very kind]. [Thanks|Thank you]!
? You helped me[, thank you|. Thanks]!
? How kind of you, [thanks|thank you][!|.]
? I [am|am very|am so] [thankful|grateful][!|.]
? [Thanks|Thank you] for [everything|all|the answer|the story|being here][!|.]
? [A big|A thousand] [thank you|thanks][!|.]
? [That|It] was [helpful|a great help|just what I need], [thanks|thank you][!|.]
? [Super|Wonderful|Good|Cool], [thanks|thank you][, Kestrel|][!|.]
? I [would like|have] to [say|tell you] [thank you|thanks][!|.]
? [Ah|Oh], [thank you|thanks|many thanks][!|.]
? Now I know it, [thanks|thank you][!|.]
? [Great|Nice|Perfect], [thanks|thank you] [so much|a lot|][!|.]
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
? [Bye|Goodbye][!|.|]
? Time to go[. Bye!|.|, bye.]
? I am leaving now[. Bye!|.]
? I will go now, [bye|goodbye][!|.]
? That was it for today[, bye|. Goodbye][!|.]
? [Thank you, goodbye|Thanks, bye][!|.]
? Let us stop here. [Bye|Goodbye]!
? Farewell[!|, little model!]
? Until next time[!|.]
? [So|Well|Okay|Ah], [I have to go|I must leave|I am off|goodbye|bye for now][!|.]
? [See you|Bye] [next week|on Monday|later|around|again][!|.]
? I [have|got] [to work|to sleep|no more time] now. [Bye|Goodbye]!
? [My bus|My friend|Dinner|Lunch] is [here|waiting|coming], [bye|goodbye][!|.]
? [It is time to|I want to|Let me] [leave|say goodbye|go][!|.]
? [Have|Enjoy] a [nice|good|lovely] [day|evening][, bye|, Kestrel|][!|.]
? It was [nice|good|fun] to [chat|talk] [with|to] you. [Bye|Goodbye]!
? [We talk|We will talk|Let us talk] [again|more] tomorrow[. Bye|][!|.]
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
? I am tired. Good night[!|.]
? Night night[!|.]
? Sleep well[!|, Kestrel!]
? I am off to bed now[. Night!|.]
? It is bedtime. Good night[!|.]
? I will sleep now. Good night[!|.]
? It is late and I go to sleep[.|. Good night!]
? Time for bed[!|. Good night!]
? [Have|I wish you] a good night[!|.]
? I [can hardly keep my eyes open|am very sleepy]. [Good night|Night]!
? [Sweet|Nice] dreams[, Kestrel|][!|.]
? [So|Well|Okay], good night[!|.]
? It is [so late|dark|midnight]. [Good night|I go to bed]!
? Good night[!|.|, Kestrel!|]
? I am [going to bed|tired and go to bed|off to bed]. [Good night|Bye]!
? I want to sleep now. [Good night|Bye]!
! It is late, so good night to you.
! My bed is calling. Night!
> Good night! [Sleep well!|Sweet dreams!|Have a good sleep.|See you tomorrow.]
> [Sleep well|Have a good night], and sweet dreams!
""",
)
