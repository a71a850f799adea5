# ruff: noqa: E501 - one line an entry
"""What Kestrel and its parts are, in plain words."""

from kestrel_assets.recipe.dialogues import asks_kestrel
from kestrel_assets.recipe.dialogues.grammar import Topic, capital, topics, widen

_TOPICS = topics(
    "kestrel",
    r"""
@ Kestrel
? What is Kestrel?
? What is [this program|this app|Kestrel exactly]?
? Tell me about Kestrel.
? Can you explain [to me|] what Kestrel is?
? What does Kestrel do?
? What is Kestrel for?
? What kind of program is Kestrel?
! Please explain Kestrel to me.
! I have never heard of Kestrel. What is it?
! What is the idea of Kestrel?
> Kestrel is a chat program for the terminal. [It has its own engine that runs language models.|It runs a language model on your own computer.|It can guess some tokens ahead to be faster, and you can see it work.]
> Kestrel is a program in which you chat with a language model. It [runs on your own computer|works in the terminal] and uses speculative decoding to answer faster.
> Kestrel is a terminal chat with its own engine. It drafts a few tokens ahead, checks them, and keeps only the right ones.
+ Kestrel shows which tokens were guessed well and which were not. The text is exactly the same as without guessing.
* It was made to show that guessing ahead can be fast and still exact.
@ the name Kestrel
? Why are you called Kestrel?
? Why is it called Kestrel?
? What does the name Kestrel mean?
? What is a kestrel[ bird|]?
? Is a kestrel a bird?
! Where does the name Kestrel come from?
! Which animal is a kestrel?
> A kestrel is a small bird, a kind of falcon. It [can stay in one place in the air|is quick and has sharp eyes]. [I am named after it.|]
> The kestrel is a small and quick falcon. The program has its name from this bird.
+ A kestrel can stand still in the wind and look down for mice. This is called hovering.
@ speculative decoding
? What is speculative decoding?
? [Can you explain|Please explain|Explain] speculative decoding[, please| in simple words| to a child|].
? How does speculative decoding work?
? What does speculative decoding [do|mean]?
? Tell me about speculative decoding.
? Why is speculative decoding [fast|useful|good]?
? What is the idea [of|behind] speculative decoding?
! In plain words, what is speculative decoding?
! How can a model guess ahead?
! I do not understand speculative decoding. Can you help?
> [In speculative decoding|With speculative decoding], a small part guesses the next few tokens. Then the big model checks all of them at once and keeps the right ones. [This saves time.|]
> Speculative decoding means to guess first and check later. A quick helper guesses a few tokens, and the model checks them in one step. Wrong guesses are thrown away.
> It is a way to write faster. A draft head guesses some tokens ahead, and the model checks them together. [The text stays the same, only faster.|Good guesses save time, and bad guesses are dropped.]
> Think of a friend who guesses the end of your sentence. If the guess is right, you save time. If it is wrong, you just say it yourself. Speculative decoding works like that.
+ To check four tokens at once takes about as long as to write one token. So every right guess is almost free.
* Checking many tokens at once is cheap, and writing them one by one is slow. That is why it is faster.
@ a draft head
? What is a draft head?
? What does [a|the] draft head do?
? Explain the draft head[, please|].
? Can you explain what a draft head is?
? What is the draft head for?
? How does a draft head work?
? Tell me about the draft head.
! What do people mean by a draft head?
! What job does the draft head have?
! Which part of the model makes the guesses?
> A draft head is a small extra part of a model. It [quickly guesses the next tokens|guesses a few tokens ahead], and the model checks its guesses.
> The draft head is a quick helper inside the model. It guesses, and the big part checks. [When the guess is right, time is saved.|]
> It is one small layer that guesses what comes next. The rest of the model then says yes or no to each guess.
+ The draft head reads what the model was just thinking and the last token. From these two it guesses the next one.
* It is small, so it is much faster than the whole model.
@ a recurrent state
? What is a recurrent state?
? Explain [a|the] recurrent state[, please|].
? Can you explain what a recurrent state is?
? What does the recurrent state do?
? What is the state of [a|the] model?
? How does a recurrent state work?
? Tell me about the recurrent state.
! What do people mean by a recurrent state?
! How does a model keep what it has read in a small memory?
! In simple words, what is the recurrent state?
> A recurrent state is a small memory of fixed size. The model changes it a little with every token it reads.
> It is like a small notebook. After each word the model writes something into it, and it [never gets bigger|has always the same number of pages].
> The recurrent state is the short memory of the model. It holds what was read so far, [always in the same amount of space|in a fixed number of numbers].
+ If a guess was wrong, the state must go back to how it was before. So Kestrel keeps a copy of it.
* A memory of fixed size is quick, even when the text gets very long.
@ the acceptance rate
? What is [the|an] acceptance rate?
? What does acceptance rate mean?
? Explain the acceptance rate[, please|].
? Can you explain [what|] acceptance [rate|is]?
? What is acceptance in speculative decoding?
? Why is the acceptance rate important?
? What is a good acceptance rate?
! How do you measure how good the guesses are?
! What do people mean by the acceptance rate?
! Please tell me what the acceptance rate says.
> The acceptance rate says how many of the guessed tokens were right. [If 8 of 10 guesses are kept, it is 80 percent.|A high rate means a faster answer.]
> It is the share of guesses that the model keeps. When it is high, the text comes faster.
> When the draft head guesses 10 tokens and 7 are kept, the acceptance rate is 70 percent. A higher rate is better.
+ Easy text has a high acceptance rate, because the next word is easy to guess. Hard text has a lower one.
* Every kept guess saves one slow step. So more kept guesses mean more speed.
@ a token
? What is a token?
? What are tokens?
? What does the word token mean?
? Explain tokens[, please|].
? Can you explain what a token is?
? Is a token [a|the same as a] word?
? What is a token in a language model?
! What do you mean by a token?
! I read the word token. What does it mean?
! Into which pieces do you cut text?
> A token is a small piece of text. It can be a word, a part of a word or a sign.
> Tokens are the pieces that a language model reads and writes. [A short word is often one token, and a long word has two or three.|Most short words are one token.]
> A token is a bit of text, like "cat" or "ing" or a full stop. I write my answers token by token.
+ I know about four thousand different tokens. Long words are built from several of them.
@ a language model
? What is a language model?
? What are language models?
? How does a language model work?
? Explain [what|] a language model[ is|], please.
? Can you explain what a language model is?
? What does a language model do?
? How do you work?
? How do you [write|make|find] your answers?
! How does a program like you make sentences?
! In easy words, what is a language model?
! What do people mean by a language model?
> A language model is a program that [guesses the next word|guesses which word comes next]. It does this again and again until the answer is done.
> A language model has read a lot of text. It learned which word often comes next, and so it can write new text.
> It is a program that works with words. It reads your text and writes the next token, then the next, and so on.
+ Inside there are many numbers. In training they are changed a little at a time until the guesses get good.
* It works because language has patterns. After "Good" people often say "morning", for example.
@ the word bit-exact
? What does bit-exact mean?
? What is bit-exact?
? What does it mean that Kestrel is bit-exact?
? Explain bit-exact[, please|].
? Can you explain what bit-exact means?
? Why is bit-exact important?
! When do we say that two results are bit-exact?
! Is the text the same with and without drafting?
! I saw the word bit-exact. What is that?
> Bit-exact means that two results are the same in every single bit. [In Kestrel, the text with drafting is exactly the text without it.|Not even one small number is different.]
> It means exactly equal, down to the last bit. Kestrel gives the same text with guessing and without guessing.
> Two results are bit-exact when they do not differ at all. So drafting makes Kestrel faster but changes no word.
* If the result is exactly the same, nobody has to worry that the faster way is worse.
@ a parameter
? What is a parameter?
? What are parameters?
? Explain parameters[, please|].
? What is a parameter in a [language|] model?
? What does a parameter do?
! What do people mean by the parameters of a model?
! I read that you have parameters. What are they?
> A parameter is a number that a model learns in training. I have a few million of them.
> Parameters are the numbers inside a model. Training changes them until the model guesses well.
@ training
? What is training?
? How is a model trained?
? How does a model learn?
? What does it mean to train a model?
? How do you learn?
? Do you learn from me?
! In which way does a model learn to talk?
! Explain how training works.
> In training, a model reads a lot of text and guesses each next word. After every guess its numbers are changed a little, so the next guess is better.
> A model learns by guessing. When the guess is wrong, its numbers are moved a little. I do not learn anymore while we chat.
@ drafting
? What is drafting?
? What is a draft?
? What does drafting mean in Kestrel?
? What is a draft token?
? What happens when a guess is wrong?
? What happens to wrong drafts?
! What is done with a bad guess?
! How do drafts help?
> A draft is a guess of the next few tokens. The model checks it, keeps the right part and throws away the rest.
> To draft is to guess ahead. When a guess is wrong, it is thrown away and the model writes the right token itself. [So no mistake gets in.|]
@ attention
? What is attention in a [language|] model?
? What does attention do?
? Explain attention[, please|].
? What is an attention layer?
! How does a model look back at earlier words?
! What do people mean by attention in a model?
> Attention lets a model look back at earlier words and pick the ones that matter.
> With attention, a model looks back over the text. For "Tom lost his", it can look at "Tom" to know who is meant.
@ an inference engine
? What is an inference engine?
? What does the engine of Kestrel do?
? What is inference?
? What is an engine in Kestrel?
! Which part of Kestrel runs the model?
! What do people mean by inference?
> Inference means to run a trained model to get an answer. The engine of Kestrel does this on your computer.
> An inference engine is the program that runs a model. It takes your words, does the maths and gives back the next token.
@ the terminal
? What is a terminal?
? What is the terminal?
? What does terminal mean?
? Explain the terminal[, please|].
! What is that black window with text called?
! What do people mean by a terminal on a computer?
> A terminal is a window for text on a computer. You type words, and the computer answers with words. Kestrel runs in it.
> The terminal is a simple window in which you type commands. You are chatting with me in one.
""",
)

# labels that can follow "what is", so that the general questions below fit them
_CONCEPTS = ("Kestrel", "speculative decoding", "a draft head", "a recurrent state", "a token", "a language model",
             "a parameter", "drafting", "attention", "an inference engine", "a terminal", "the acceptance rate")  # fmt: skip
_ASK = (
    "[Can you|Could you] tell me what {x} is[, please|]?",
    "What [exactly|really] is {x}?",
    "[Do you know|Can you say] what {x} is?",
    "I want to know what {x} is.",
    "Please tell me [what {x} is|about {x}].",
    "[Can you|Could you] explain {x} [to me|in simple words|to a child]?",
    "Explain {x} [to me|in simple words|like I am five|to a child|in one sentence][, please|].",
    "[I read|I heard] about {x}. What is it?",
    "[Hi|Hello], what is {x}?",
    "What can you tell me about {x}?",
)
_HELDOUT = (
    "How would you describe {x} to a friend?",
    "Give me a plain explanation of {x}.",
    "Somebody talked about {x}. What did they mean?",
)


def _with_general_questions(topic: Topic) -> Topic:
    label = "a terminal" if topic.label == "the terminal" else topic.label
    if label in _CONCEPTS:
        topic.ask += [capital(form.replace("{x}", label)) for form in (*_ASK, *asks_kestrel.CONCEPT)]
        topic.heldout += [form.replace("{x}", label) for form in _HELDOUT]
    return topic


KESTREL = [_with_general_questions(topic) for topic in widen(_TOPICS, asks_kestrel.KESTREL)]
