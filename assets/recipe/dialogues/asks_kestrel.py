"""More training questions about Kestrel and its parts; {x} in CONCEPT is the part asked about."""

KESTREL = r"""
@ Kestrel
? Which kind of thing is Kestrel?
? What does this program do?
? What can I do with Kestrel?
? Why would I use Kestrel?
? I am using Kestrel. What is it?
? What makes Kestrel special?
? Let me know what Kestrel is.
? How does Kestrel work?
? Is Kestrel a [chat|program|game]?
? What am I using here?
? Say something about this program.
? Who needs Kestrel, and for what?
@ the name Kestrel
? From what does Kestrel have its name?
? Who or what is a kestrel?
? Is there an animal called kestrel?
? Does Kestrel mean something?
? Is a kestrel [an animal|a falcon|a fish]?
? What kind of [bird|animal] is a kestrel?
? Why did they call you Kestrel?
? Tell me about the kestrel, the bird.
? What is behind the name Kestrel?
? Kestrel is a strange name. Why is it so?
? A kestrel is what kind of bird?
? How does a kestrel look?
@ speculative decoding
? How do you guess tokens ahead?
? Why does guessing make a model faster?
? Speculative decoding: how is it done?
? What happens in speculative decoding?
? Who guesses and who checks in speculative decoding?
? Why do you guess the next tokens?
? What is good about speculative decoding?
? How does Kestrel get so fast?
? Does guessing ahead save time?
? What trick makes Kestrel fast?
? I want to understand speculative decoding.
@ a draft head
? What is the draft head good for?
? Who makes the guesses in Kestrel?
? Why does Kestrel have a draft head?
? What is the task of a draft head?
? Which part guesses the next tokens?
? Is the draft head [big|small]?
? Where do the guesses come from?
? How does the draft head guess?
? Is there a part that guesses ahead?
@ a recurrent state
? What is the recurrent state good for?
? Where does a model keep what it has read?
? Is the recurrent state a kind of memory?
? How [big|large] is a recurrent state?
? What is kept in the recurrent state?
? Why does a model have a recurrent state?
? How does a model remember the text so far?
? I want to understand the recurrent state.
? What is stored in the state?
@ the acceptance rate
? How many guesses are right?
? What does a high acceptance rate mean?
? How is the acceptance rate [measured|counted]?
? How often is a guess kept?
? What is the share of good guesses called?
? Is a high acceptance rate good?
? What does the number for acceptance say?
? How do I read the acceptance rate?
? How do I know if the guesses are good?
@ a token
? How long is a token?
? How many tokens [do you know|are there]?
? What is the difference between a token and a word?
? Are tokens words?
? What do you read, words or tokens?
? How is text cut into tokens?
? Give me an example of a token.
? Why do you use tokens?
? What pieces of text do you read?
@ a language model
? How does a program write text?
? How can a computer [talk|write sentences]?
? How do you know what to say?
? What happens inside you when I ask something?
? How do you choose the next word?
? What is inside a language model?
? How do you think?
? How is it possible that you can talk?
? Where do your sentences come from?
? In what way do you find your words?
? How do you come to your answers?
@ the word bit-exact
? Bit-exact: what is that?
? When is something bit-exact?
? Does drafting change the text?
? Are the answers the same without drafting?
? Does guessing change your answers?
? Is Kestrel bit-exact?
? Let me know what bit-exact means.
? What do you call two results that are exactly the same?
? I want to understand the word bit-exact.
? What is meant by bit-exact?
@ a parameter
? Parameters: what is that?
? What is meant by parameters?
? What are parameters good for?
? Is a parameter a number?
? I want to understand parameters.
? What is one parameter?
? What is the use of parameters in a model?
? Why does a model need parameters?
? When people talk of parameters, what is it?
@ training
? What happens in training?
? How does training work?
? How do models get better?
? What do you do to train a model?
? How did your training go?
? What is meant by training a model?
? How does a model get to know words?
? I want to understand training.
? Can you learn new things [now|while we chat]?
? Do you get better when I talk to you?
? What is training good for?
? How long does a model learn?
@ drafting
? What do drafts do?
? What is meant by a draft?
? Why does Kestrel draft?
? What does Kestrel do with wrong guesses?
? If a guess is wrong, what then?
? How does drafting help?
? When is a draft thrown away?
? Where do bad guesses go?
? What does it mean to draft?
? Are drafts always right?
? I want to understand drafting.
@ attention
? What is attention good for?
? How do you look back at the text?
? What does an attention layer do?
? How does a model know which earlier word matters?
? What is meant by attention?
? Why do models have attention?
? How does attention work?
? I want to understand attention in a model.
? With what does a model look back?
@ an inference engine
? What runs the model?
? What is meant by inference?
? What is the engine of Kestrel?
? How is a model run?
? What does inference mean?
? What is the engine good for?
? Does Kestrel have its own engine?
? Which part does the maths?
? I want to understand what inference is.
? What is the job of the engine?
@ the terminal
? What is a terminal good for?
? Where do I type commands?
? What is the window with text for?
? Why does Kestrel run in a terminal?
? What is meant by the terminal?
? In which window am I typing?
? How do I use a terminal?
? What can one do in a terminal?
? I do not know what a terminal is.
"""

CONCEPT = (
    "[Could|Can|Would] you explain what {x} is[, please|]?",
    "What is {x}[, in one sentence|, in a few words|, please|]?",
    "I do not [know|understand] what {x} is.",
    "[Let me know|Say|Please say] what {x} is.",
    "I would like to [understand|learn about|know more about] {x}.",
    "How [can I|do people|can one] explain {x}?",
    "[My son|My sister|A friend] asks what {x} is. [What can I say?|Please help.]",
    "What is meant by {x}?",
    "What [should|must] I know about {x}?",
    "Teach me [something|a bit] about {x}[, please|].",
    "[I saw|I found] the words {x}. [What is that?|What is it?]",
    "{x}: what is that?",
    "[Say|Write] [something|a few words|one sentence] about {x}.",
    "What kind of thing is {x}?",
    "What would you say {x} is?",
    "Help me to understand {x}[, please|].",
)
