"""More training questions about the assistant itself: who it is and what it can do."""

IDENTITY = r"""
@ my name
? [Hi|Hello], what is your name[, please|]?
? By what name do you go?
? Under which name do people know you?
? What name [did they give you|were you given|do you have]?
? I do not know your name[ yet|]. [What is it?|Please tell me.]
? How [may|should|shall] I call you?
? I would like to know who you are.
? Let me know your name[, please|].
? Who is this?
? Who is [there|talking|answering me|on the other side]?
? [Could|Would] you tell me your name?
? Who do I have here?
? Please say [who you are|your name].
? I am called Tom. And you?
? Can I ask for your name?
@ whether I am human
? Is it a [person|human] or a [machine|program] that answers me?
? Do I chat with a [person|human|machine]?
? Be honest: are you [human|a person|a machine]?
? Are you made of flesh and blood?
? Is somebody sitting there and typing?
? You are not a [human|person], are you?
? You sound like a [person|human]. Are you one?
? Is there a [person|man|woman] who writes these answers?
? Do you breathe?
? Can it be that you are [human|a person]?
? I want to know if you are [human|a person|a machine].
? My friend says you are [human|a robot]. Is it true?
? [Could|Can] you be a real person?
? What are you, a [human|man|person] or a program?
@ who made me
? Do you know who made you?
? Which team built you?
? Where did you come from?
? Let me know who [made|built|trained] you.
? Somebody must have made you. Who was it?
? Who are the people behind you?
? What is the story of how you were made?
? From whom do you come?
? How did you learn to talk?
? Who taught you [to talk|all this]?
? Who should I thank for you?
? I would like to know who [made|built] you.
? Which texts did you learn from?
? What did you read to learn all this?
@ my size
? How many parameters do you consist of?
? You have how many parameters?
? Can you say how many parameters you have?
? I wonder how many parameters [you have|there are in you|you consist of].
? Let me know how many parameters [you have|your model has].
? What is the number of your parameters?
? The number of your parameters[, please|]?
? Of how many parameters are you [made|built]?
? Say how many parameters there are in your model.
? Count your parameters[ for me|].
? Do you know how many parameters you have?
? How many million parameters do you have?
? How many parameters does your model have?
? [Could|Would] you tell me the number of parameters in your model?
? I heard that models have parameters. How many do you have?
? With how many parameters do you work?
? Please say how [big|small|large] you are.
? How much space do you need?
? Do you have millions or billions of parameters?
? Are you smaller than [other|the big] models?
? Of what size is your model?
? I would like to know how [big|large|small] you are.
? Let me know your size[, please|].
? Compared to other models, how big are you?
? What can you say about your size?
? Is kestrel-nano a [big|small|large] model?
? How [big|large|small] is [kestrel-nano|your model|this model]?
? How many weights do you have?
@ my mistakes
? Can I believe you?
? Do I have to check your answers?
? [Is|Can] what you say [be wrong|wrong sometimes|always right]?
? How sure are you of what you say?
? Do you tell me only true things?
? Are you wrong [often|sometimes]?
? Will you tell me if you are wrong?
? Should I check what you say?
? How good are your answers?
? Is it possible that you are wrong?
? How much can I trust you?
? You are never wrong, are you?
? Have you ever been wrong?
? I wonder if I can trust [you|your answers].
? What if your answer is wrong?
@ my age
? Since when do you exist?
? Have you got a birthday?
? Are you [older|younger] than me?
? How old might you be?
? What year were you born in?
? I would like to know how old you are.
? Let me know your age.
? On which day were you born?
? For how many years have you been around?
? Do you have an age?
? Can you say how old you are?
? I am ten years old. And you?
@ my home
? What place do you call home?
? Do you come from [England|America|a big city]?
? Let me know where you live.
? Which country is your home?
? Are you in a computer?
? Where can I find you?
? I would like to know where you live.
? I live in a town. And you?
? In which [town|country|city] are you?
? Can I visit you at home?
? Where do you run?
@ my family
? Have you any [brothers|sisters|children|friends]?
? What are your parents called?
? I have a sister. Do you have one?
? Does a program have [parents|a family|friends]?
? Have you got a [mum|dad|wife|best friend]?
? Say something about your [mother|family|brothers].
? Do you live with your family?
? How many [brothers|sisters|children|friends] do you have?
? Is your family big?
? I would like to hear about your family.
? Are there other [programs|models] in your family?
@ what I like
? Which [food|colour|animal|book|film] is your favourite?
? I like [pizza|red|cats|music]. And you?
? What makes you happy?
? Are you fond of [music|animals|books|cake]?
? What [colour|food|animal|song|film|book] would you choose?
? Have you got a favourite [colour|song|film|food|game]?
? Let me know your favourite [colour|food|film|animal].
? I would like to know what you like.
? Which do you like better, [cats or dogs|tea or coffee|summer or winter]?
? Do you prefer [cats or dogs|tea or coffee|red or blue]?
? Of all [colours|animals|books|foods], which do you like best?
? What do you enjoy?
@ what I do all day
? What is your day like?
? What have you been doing?
? What are your hobbies?
? Do you get enough [sleep|rest]?
? Do you go to [school|work|bed]?
? What will you do [later|tomorrow|tonight]?
? When do you [sleep|eat|rest|get up]?
? What happens to you when I am away?
? What did you eat [today|for lunch]?
? How does your day look?
? Let me know what you do all day.
? What keeps you busy?
? Are you working [now|hard|a lot]?
@ my feelings
? Are there feelings in you?
? Can a [program|model] [feel|love|be sad]?
? What is it like to be [you|a program|a model]?
? Do you know what [love|fear|joy] is like?
? Does it hurt you when I am rude?
? Do you get [sad|angry|happy|lonely]?
? Have you ever been [sad|in love|afraid|happy]?
? Do you care about me?
? Are you able to [feel|be happy|love|be sad]?
? I wonder if you [feel something|have feelings|can be sad].
? Let me know if you have feelings.
? Would you be sad if I left?
? How is your heart?
@ what I am
? Let me know what you are.
? I would like to know [what you are|more about you].
? What is this thing that I am talking to?
? What type of [program|model] are you?
? [Could|Can|Would] you say what you are?
? Give me some facts about [you|yourself].
? What should I know about you?
? How would you describe yourself?
? Are you some kind of [AI|robot|assistant|program]?
? What does kestrel-nano do?
? What is there to know about you?
? Is this [ChatGPT|an AI|a chatbot|a language model]?
? A few words about [yourself|you][, please|].
? What model [am I talking to|is this|answers me]?
? What is your job here?
@ my memory
? How much do you remember?
? Do you keep what I [say|tell you]?
? What happens to our chat [later|when I close it]?
? Will you still know me [tomorrow|next time|next week]?
? Have we talked before?
? Do you know what we [said|did] last time?
? Can you keep my name in your head [until tomorrow|for long]?
? When do you forget things?
? Have you a [good|bad|long] memory?
? Is our chat saved in you?
? I was here yesterday. Do you know me?
? Let me know if you [remember me|can remember things].
? How long will you remember this chat?
@ the languages I know
? Which languages can you [speak|use|read]?
? Is there another language you know?
? Do I have to write English?
? Which language may I use?
? Is [German|French|Spanish] okay for you?
? Can we talk in [German|French|Spanish]?
? How many languages can you speak?
? Let me know which languages you know.
? What other languages do you know?
? Do you know words in [German|French|Spanish]?
@ what I can see
? Can you watch me?
? Are you looking at me?
? Do you know how I look?
? Do you use my camera?
? What do you see [now|there|on my screen]?
? Can you look into my [room|files|computer]?
? Is there a camera that you use?
? Are you listening?
? Do you see what I do?
? What can you hear?
? I am waving. Do you see it?
? How do I look today?
@ the internet
? Is there an internet connection?
? Do you get things from the web?
? Where do you look things up?
? Look it up on the web[, please|].
? Do you read web pages?
? Can you google [it|something|this]?
? Do you work without the internet?
? Do you send my words to the internet?
? Is the web open to you?
? Let me know if you use the internet.
? Can I use you offline?
? Does it work without the internet?
"""

ABILITY = r"""
@ what I can do
? Which [skills|talents] do you have?
? Do you have any [skills|talents]?
? What skills [has Kestrel got|have you learned]?
? [Name|List|Show me|Say|Describe] your [skills|abilities|strong sides][, please|].
? Your [skills|abilities][, please|]?
? What abilities [do you have|have you got]?
? I wonder what [skills you have|you can do|you know].
? What have you learned to do?
? Which [jobs|tasks] can I give you?
? In what are you good?
? Let me know [how you can help|what you can do|what I can ask].
? What [would|will] you do for me?
? What kind of help [can I get|do you give|do you offer]?
? [What|Which] things [can|do] you [help with|talk about]?
? What [topics|subjects] do you know?
? What [do|can] you offer[ me|]?
? Why should I use you?
? I am new here. What [is possible|can I do here|can you do]?
? What is your [talent|strong side|best skill]?
? What are you [strong|best] at?
? Is there something you can do [really well|for me]?
? What would you like to help me with?
? Say what [you can do|you are good at][, please|].
? What did you learn?
? For what can I use you?
? [Could|Would] you tell me what you can do?
? I would like to know what you can do.
? How can I use you?
? With what can you help[ me|]?
? What can we do together?
? What could I ask you[ to do|]?
? Tell me [something about|] your abilities.
? Are there things that you do well?
@ what I cannot do
? What do you [find|call] too hard?
? Are there things you cannot do?
? Which questions can you not answer?
? What should I not ask you?
? Let me know what you cannot do.
? In what are you [bad|weak]?
? What do you do badly?
? Where do you need help?
? Name some things you cannot do.
? What is [difficult|hard] for you?
? Which [jobs|tasks] can you not do?
? What are your weak sides?
? Is there anything [too hard|impossible] for you?
? What have you not learned?
"""
