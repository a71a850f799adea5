"""Ways to wrap a training question: lead-ins, tails and short forms that fit questions of any family.

A held-out question is never wrapped, and no frame here is the frame of a held-out template.
"""

import re
from random import Random

from kestrel_assets.recipe.dialogues.grammar import Exchange, capital
from kestrel_assets.recipe.dialogues.indirect import ask_indirectly

COLONS = (
    "Quick question", "Question", "Here is my question", "A small question", "Let me ask you", "I wonder",
    "Somebody asked me", "My son asks", "My daughter asked me", "My teacher asked", "In a quiz they ask",
    "For my homework", "Help me out", "Please answer", "I often ask myself", "A simple one",
    "This is what I need", "I am not sure about this", "Can I ask you something",
    "We were talking about this", "By the way", "My next question", "Just a short question", "Tell me one thing",
    "Another thing", "I have a question for you", "What I want to ask is this", "Now I want to ask",
    "There is something I forgot", "We are playing a quiz", "My friends and I ask", "Here is an easy one",
    "Think about it", "Something else", "One thing I never understood", "I am asking for a friend",
)  # fmt: skip
COMMAS = (
    "Hey",
    "Hi",
    "Hello",
    "Hi Kestrel",
    "Kestrel",
    "Excuse me",
    "So",
    "Well",
    "Now",
    "Okay",
    "Hm",
    "Please",
    "Sorry",
    "By the way",
    "Listen",
    "Say",
    "Oh",
    "And now",
    "Tell me",
    "Good",
    "Dear Kestrel",
    "All right",
    "Um",
    "Hey Kestrel",
    "Pardon me",
    "My friend",
)
TAILS = (
    "Can you tell me?", "Please tell me.", "Any idea?", "I forgot it.", "I am curious.", "Can you help me?",
    "It is for school.", "I have no idea.", "Thank you.", "Please keep it short.", "Please help me.",
    "I really want to know.", "Thanks.", "I never knew that.", "Just a short answer, please.", "Please.",
    "Nobody could tell me.", "Do you know it?", "My son asked me.", "We talked about it today.",
    "I hope you know it.", "That is my question.",
)  # fmt: skip
_OPENERS = (
    "Please",
    "Kestrel, please",
    "Hi, please",
    "Now",
    "Hello,",
    "Okay, now",
    "Hey,",
    "So,",
    "Kestrel,",
    "Now please",
    "And please",
    "Would you please",
    "Could you please",
    "Be so kind and",
    "Can you please",
)
REQUEST_TAILS = (
    "Thank you!",
    "That would be nice.",
    "Can you do that?",
    "I am curious.",
    "Thanks!",
    "That would help me.",
    "I would like that.",
    "You can do that, I think.",
    "It is for my son.",
    "Is that possible?",
)
_OPEN = ("What", "How", "Why", "Where", "Which", "Is", "When", "From", "In", "On", "If")
_REQUESTS = (
    "Tell",
    "Count",
    "Name",
    "Give",
    "Write",
    "Convert",
    "Explain",
    "List",
    "Describe",
    "Make",
    "Show",
    "Say",
    "Find",
    "Think",
    "Let",
    "Begin",
    "Go",
    "Start",
)
_ASKED = (
    "facts",
    "definitions",
    "arithmetic",
    "conversion",
    "kestrel",
    "howto",
    "unknown",
    "identity",
    "ability",
    "memory",
)
_DIRECT = ("greeting", "thanks", "goodbye", "joke", "riddle")
_REQUESTED = ("story", "poem", "lists", "counting", "howto", "facts", "conversion")
_CLAUSE = re.compile(r"^(?:what|where|why|how|which|who)\b")
_NEAR_WHY = re.compile(r"^My |^I wonder")
_CLAUSES = (
    "Tell me {x}.", "Please tell me {x}.", "I wonder {x}.", "Somebody asked me {x}.", "I am curious {x}.",
    "Can you say {x}?", "I forgot {x}.", "I have to find out {x}.", "My son asked me {x}.",
    "Could you tell me {x}?",
    "I am not sure {x}.", "Tell me quickly {x}.", "Can you explain to me {x}?", "I have no idea {x}.",
)  # fmt: skip
_NOUNS = (
    "{X}?", "{X}, please.", "Tell me {x}.", "Please tell me {x}.", "I need {x}.", "Can you give me {x}?",
    "Give me {x}, please.", "I am looking for {x}.", "I have to find out {x}.", "I forgot {x}.",
    "Could you tell me {x}?", "Can you tell me {x}?", "{X} is what I need.", "My son asked me for {x}.",
    "I cannot remember {x}.", "What is {x}, please?",
)  # fmt: skip
_THINGS = (
    "Tell me what {x} is.", "Explain {x}, please.", "{X}?", "{X}: what does it mean?",
    "I wonder what {x} is.",
    "Can you tell me what {x} is?", "I do not know what {x} is.", "What do you know about {x}?",
    "Define {x}.",
    "Somebody asked me what {x} is.", "What exactly is {x}?", "Can you explain {x}?",
    "Give me a short answer: what is {x}?", "Please tell me about {x}.", "Could you tell me what {x} is?",
)  # fmt: skip
_NAMED = ("the capital of", "the opposite of", "the plural of", "the past of", "the colour of",
          "the sound of",
          "the day after", "the day before", "the month after", "the month before",
          "the season after")  # fmt: skip
FRAMED_SHARE, LEAD_SHARE = 0.25, 0.3


def reframe(rng: Random, exchange: Exchange) -> None:
    """Give a training exchange another surface form, or leave it; its answer stays."""
    draw = rng.random()
    if draw < FRAMED_SHARE and (form := _framed_or_indirect(rng, exchange)):
        exchange.question = form
    elif draw < FRAMED_SHARE + LEAD_SHARE:
        exchange.question = _led(rng, exchange)


def _framed_or_indirect(rng: Random, exchange: Exchange) -> str:
    indirect = "" if exchange.family in _DIRECT else ask_indirectly(rng, exchange.question)
    framed = _framed(rng, exchange)
    return rng.choice((framed, indirect)) if framed and indirect else framed or indirect


def _framed(rng: Random, exchange: Exchange) -> str:
    label = exchange.label
    if exchange.asked:
        frames, label = _THINGS, exchange.asked
    elif exchange.family != "facts":
        return ""
    elif _CLAUSE.match(label) and label not in ("which planet it is",):
        frames = _CLAUSES
    elif label.startswith(_NAMED):
        frames = _NOUNS
    else:
        return ""
    if label.startswith("why"):  # the held-out "My child wants to know why" is too near to these
        frames = tuple(frame for frame in frames if not _NEAR_WHY.search(frame))
    return rng.choice(frames).format(x=label, X=capital(label))


def _led(rng: Random, exchange: Exchange) -> str:
    question = exchange.question
    first, _, rest = question.partition(" ")
    if first.rstrip("'s") in _OPEN and exchange.family in _ASKED and question.endswith("?"):
        # no tail of a quiz behind a question about the user
        kind = rng.random() * (0.7 if exchange.family == "memory" else 1)
        if kind < 0.4:
            colons = COLONS
            if exchange.label.startswith("why") or exchange.asked:
                colons = tuple(lead for lead in colons if not _NEAR_WHY.search(lead))
            return f"{rng.choice(colons)}: {question if rng.random() < 0.5 else first.lower() + ' ' + rest}"
        if kind < 0.7:
            return f"{rng.choice(COMMAS)}, {first.lower()} {rest}"
        return f"{question} {rng.choice(TAILS)}"
    if first in _REQUESTS and exchange.family in _REQUESTED and question.count(".") < 2:
        polite = "please" not in question.lower()
        kind = rng.random()
        if kind < 0.5 and polite:
            return f"{rng.choice(_OPENERS)} {first.lower()} {rest}"
        if kind < 0.8 and rest:
            request = f"{rng.choice(('Can', 'Could', 'Would'))} you {first.lower()} {rest}".rstrip(".")
            return request if request.endswith("?") else request + "?"
        return f"{question} {rng.choice(REQUEST_TAILS)}"
    return question
