"""Short questions that only make sense after an answer: more, another one, shorter, why, what did I ask."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, expand

MORE = Ask(
    ("Tell me more[, please|].", "More, please.", "Can you tell me more?", "Tell me more about it.",
     "What else?",
     "And what else do you know?", "I want to know more.", "Interesting. Tell me more.", "Say more[, please|].",
     "Do you know more[ about it|]?", "[Could|Would] you tell me more?",
     "And? What else?", "I would like to hear more.",
     "Can you say a bit more?", "That is interesting. What else?", "Continue[, please|].", "Keep going."),
    ("Go on, please.", "Is there more to say about it?"),
)  # fmt: skip
NO_MORE = (
    "That is all I know[ about it|]. I am [only|] a small model.",
    "I do not know more about that[, I am sorry|]. [A good book can tell you more.|]",
    "[Sorry, that|That] is all I can say about it. [Do you have another question?|]",
)
AGAIN = Ask(
    ("Another one[, please|].", "One more[, please|].", "Again[, please|].", "Can I have another one?",
     "And another one?",
     "Do you have one more?", "Please give me another one.", "Give me one more.",
     "[Could|Would] you give me another[, please|]?", "I want another one.", "[Next|The next] one[, please|].",
     "More of that[, please|].", "[Nice|Good|Great]! Another one[, please|].", "A different one[, please|].",
     "Do you know another one?", "And now another one."),
    ("Do it once more.", "I would like a second one."),
)  # fmt: skip
SHORTER = Ask(
    ("Shorter, please.", "Can you make it shorter?", "That is too long.", "Make it shorter[, please|].",
     "Please say it in fewer words.", "Can you say it shorter?", "In short, please.",
     "Too long. Say it in a few words.", "[Could|Would] you make it shorter?", "Only the main thing, please.",
     "Can I have it shorter?", "Short, please.", "Not so long, please.", "Make it brief[, please|]."),
    ("I need a shorter version.", "Cut it down a bit, please."),
)  # fmt: skip
WHY = Ask(
    (
        "Why?",
        "Why is that?",
        "Why is it so?",
        "But why?",
        "Can you tell me why?",
        "And why?",
        "Why so?",
        "Tell me why[, please|].",
        "Do you know why?",
        "For what reason?",
        "Can you explain why?",
        "But why is that?",
    ),
    ("What is the reason?", "How come?"),
)
NO_WHY = (
    "I do not know why. I am [only|] a small model.",
    "I am not sure why. [It is a good question.|]",
    "I cannot explain it[, I am sorry|]. [A teacher or a book may know.|]",
)
ASKED = Ask(
    ("What did I just ask[ you|]?", "What was my [last|] question?", "What did I ask?",
     "What did I ask you before?",
     "Do you know what I just asked?", "I forgot my question. What was it?", "What was it that I asked?",
     "Tell me what I asked you[, please|].", "Do you remember my question?", "What did I want to know?",
     "Say my last question again.", "About what did I ask you?"),
    ("Can you repeat my last question?", "Which question did I ask a moment ago?"),
)  # fmt: skip
ASKED_ANSWERS = (
    "You asked me about {label}.",
    "Your last question was about {label}.",
    'You asked: "{question}"',
    "It was about {label}.",
)
_REQUESTS = ("story", "poem", "howto", "lists", "counting", "joke", "facts", "kestrel")


def _quotable(exchange: Exchange) -> bool:
    return bool(exchange.label) and (exchange.question.endswith("?") or exchange.family in _REQUESTS)


def follow(rng: Random, split: str, last: Exchange) -> list[Exchange]:
    """Return a follow-up that fits the last exchange, or nothing when none does."""
    choices = ["asked"] * _quotable(last)
    choices += ["more"] * (4 if last.more and last.more[:25] not in last.answer else 0)
    choices += ["why"] * (4 if last.why else 0)
    choices += ["sibling"] * (6 if last.sibling else 0)
    choices += ["again"] * (4 if last.again else 0)
    choices += ["short"] * (4 if last.short and len(last.answer) > len(last.short) + 20 else 0)
    if last.family == "facts":
        choices += ["no more"] * (not last.more) + ["no why"] * (not last.why and "hy " not in last.question)
    if not choices:
        return []
    kind = rng.choice(choices)
    if kind == "sibling":
        return [last.sibling(rng)]
    if kind == "again":
        return _another(rng, split, last)
    if kind == "asked":
        answer = expand(rng, rng.choice(ASKED_ANSWERS), {"label": last.label, "question": last.question})
        return [Exchange("followup", ASKED.pick(rng, split), answer)]
    ask, answer = {
        "more": (MORE, last.more),
        "no more": (MORE, rng.choice(NO_MORE)),
        "why": (WHY, last.why),
        "no why": (WHY, rng.choice(NO_WHY)),
        "short": (SHORTER, last.short),
    }[kind]
    if kind.startswith("no"):
        answer = expand(rng, answer)
    return [Exchange("followup", ask.pick(rng, split), answer, label=last.label)]


def _another(rng: Random, split: str, last: Exchange) -> list[Exchange]:
    """Return the answer to "another one", which differs from the last answer."""
    made = last.again(rng)
    while made[0].answer == last.answer:
        made = last.again(rng)
    made[0].question = AGAIN.pick(rng, split)
    return made
