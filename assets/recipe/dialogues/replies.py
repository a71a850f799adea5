"""What a user says when the assistant has asked or offered something, and what follows."""

import re
from collections.abc import Callable
from random import Random

from kestrel_assets.recipe.dialogues import fun, memory, smalltalk
from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, expand
from kestrel_assets.recipe.dialogues.stories import story

YES = Ask(
    ("Yes[, please|][.|!]", "Yes.", "Sure[.|!]", "Okay[.|]", "Oh yes[, please|]!", "Yes, I would like that.",
     "That would be nice.", "Yes, that would be great[.|!]", "Please do.", "Ok, please.", "Yes, gladly."),
    ("Why not!", "Go ahead.", "That sounds good to me.", "I would love that."),
)  # fmt: skip
NO = Ask(
    ("No, thank you.", "No[.|, thanks.]", "Not now[.|, thank you.]", "No, maybe later.", "Not today.",
     "No, not really."),
    ("I would rather not.", "Better not.", "Another time, perhaps."),
)  # fmt: skip
NOTHING_ELSE = Ask(
    ("No, that is all.", "No, thank you.", "That is all, thanks.", "No.", "Nothing else.", "No, I am fine."),
    ("I have all I need.", "There is nothing more, thanks."),
)
_AFTER_NO = (
    "[All right.|Okay.|No problem.] [What would you like to do?|What else can I do for you?|Just tell "
    "me what you like.|"
    "Maybe another time.]"
)
_AFTER_ALL = (
    "[All right.|Okay.|Good.] [Have a nice day!|It was nice to talk with you.|Come back when you need me.]"
)
_MOODS = tuple(topic for topic in smalltalk.SMALLTALK if topic.label in ("your day", "your bad day"))


def _accept(
    make: Callable[[Random, str], Exchange | list[Exchange]],
) -> Callable[[Random, str], list[Exchange]]:
    """Say yes to an offer, or now and then no; ``make`` gives what was offered."""

    def accept(rng: Random, split: str) -> list[Exchange]:
        if rng.random() < 0.15:
            return [Exchange("reply", NO.pick(rng, split), expand(rng, _AFTER_NO))]
        made = make(rng, split)
        made = made if isinstance(made, list) else [made]
        made[0].question = YES.pick(rng, split)
        return made

    return accept


def _mood(rng: Random, split: str) -> list[Exchange]:
    return [rng.choice(_MOODS).exchange(rng, split)]


def _nothing_else(rng: Random, split: str) -> list[Exchange]:
    return [Exchange("reply", NOTHING_ELSE.pick(rng, split), expand(rng, _AFTER_ALL))]


# the end of the assistant's words: what the user may answer
_OFFERS: tuple[tuple[re.Pattern, Callable[[Random, str], list[Exchange]]], ...] = (
    (re.compile(r"\b(?:a|short) story[^.?!]*\?$"), _accept(story)),
    (re.compile(r"\briddle[^.?!]*\?$"), _accept(fun.riddle)),
    (re.compile(r"\bpoem[^.?!]*\?$"), _accept(fun.poem)),
    (re.compile(r"(?:[Hh]ow are you[a-z ]*|And you|How (?:is|was) your day|How do you feel today)\?$"),
     _mood),
    (re.compile(r"(?:Is there anything else|Do you need anything else)\?$"), _nothing_else),
)  # fmt: skip
_ASKED_FOR = (
    (re.compile(r"What is your name\?$"), "name"),
    (re.compile(r"favourite animal\?$"), "animal"),
    (re.compile(r"Do you have a pet\?$"), "pet"),
    (re.compile(r"How old are you\?$"), "age"),
)


def asked_for(answer: str) -> str:
    """Return the key of the detail that the assistant asks for at the end of ``answer``, or ""."""
    return next((key for pattern, key in _ASKED_FOR if pattern.search(answer)), "")


def reply(rng: Random, split: str, answer: str) -> list[Exchange]:
    """Return the user's reaction to an offer or a question at the end of ``answer``, or nothing."""
    for pattern, react in _OFFERS:
        if pattern.search(answer):
            return react(rng, split)
    return []


_CHANGE = Ask(
    ("Actually, {lower}", "No, sorry. {told}", "Oh, I made a mistake. {told}", "Wait. {told}",
     "I changed my mind. {told}"),
    ("Let me correct that. {told}", "It is different now. {told}"),
)  # fmt: skip
_NOTED = (
    "[All right|Okay|Good|Thank you]. {sentence}",
    "[Thank you for telling me.|I see.|No problem.] {sentence}",
    "[All right|Okay], I will remember that.",
)
CHANGEABLE = ("colour", "food", "animal", "hobby", "town", "likes")


def change(rng: Random, split: str, key: str, slots: dict[str, str]) -> Exchange:
    """The user replaces a detail told before."""
    told = memory.DETAILS[key].tell.pick(rng, split, slots)
    lower = told if told.startswith(("I ", "I'")) or key == "town" else told[0].lower() + told[1:]
    question = _CHANGE.pick(rng, split, {"told": told, "lower": lower})
    sentence = expand(rng, memory.SENTENCES[key], slots)
    return Exchange(
        "memory", question, expand(rng, rng.choice(_NOTED), {"sentence": sentence}), label=slots["label"]
    )
