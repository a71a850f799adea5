"""Samples: one exchange or a chain of them, with a system message, a name and a user's typing style."""

import re
from collections.abc import Callable, Iterator
from random import Random

from kestrel_assets.recipe.dialogues import (
    advice,
    fun,
    greetings,
    howto,
    identity,
    lists,
    memory,
    numbers,
    science,
    smalltalk,
    unknown,
)
from kestrel_assets.recipe.dialogues.facts import FACTS
from kestrel_assets.recipe.dialogues.followups import follow
from kestrel_assets.recipe.dialogues.frames import reframe
from kestrel_assets.recipe.dialogues.grammar import HELDOUT, TRAIN, Exchange, Topic, pick_topic
from kestrel_assets.recipe.dialogues.kestrel import KESTREL
from kestrel_assets.recipe.dialogues.replies import CHANGEABLE, asked_for, change, reply
from kestrel_assets.recipe.dialogues.stories import story

Maker = Callable[[Random, str], Exchange | list[Exchange]]


def _from_topics(found: list[Topic]) -> Maker:
    return lambda rng, split: pick_topic(rng, found).exchange(rng, split)


def _memory(rng: Random, split: str) -> Exchange:
    key = memory.any_key(rng)
    slots = memory.choose(rng, key)
    return rng.choice((memory.tell, memory.not_told, memory.at_once))(rng, split, key, slots)


# family: (weight, maker)
FAMILIES: dict[str, tuple[float, Maker]] = {
    "greeting": (2.5, _from_topics(greetings.GREETING)),
    "smalltalk": (14, _from_topics(smalltalk.SMALLTALK)),
    "identity": (7, _from_topics(identity.IDENTITY)),
    "ability": (2, _from_topics(identity.ABILITY)),
    "kestrel": (7, _from_topics(KESTREL)),
    "story": (6, story),
    "howto": (6, howto.howto),
    "facts": (40, _from_topics(FACTS)),
    "definitions": (11, _from_topics(science.DEFINITIONS)),
    "science": (3.5, _from_topics(science.WHY)),
    "memory": (3, _memory),
    "arithmetic": (28, lambda rng, split: rng.choices(
        (numbers.arithmetic, numbers.word_problem, numbers.number_fact), (10, 2, 2))[0](rng, split)),
    "conversion": (9, numbers.conversion),
    "counting": (7, lists.counting),
    "lists": (9, lambda rng, split: (lists.listing if rng.random() < 0.75 else lists.fixed_list)(rng, split)),
    "poem": (4, fun.poem),
    "joke": (2, fun.joke),
    "riddle": (3, lambda rng, split: (fun.riddle if rng.random() < 0.7 else fun.solve_riddle)(rng, split)),
    "advice": (6, _from_topics(advice.ADVICE)),
    "unknown": (8, _from_topics(unknown.UNKNOWN)),
    "thanks": (1, _from_topics(greetings.THANKS)),
    "goodbye": (1.5, _from_topics(greetings.GOODBYE)),
}  # fmt: skip
_NAMES = tuple(FAMILIES)
_WEIGHTS = tuple(weight for weight, _ in FAMILIES.values())
# families with many phrasings to tell apart come up more often in training
_MORE_IN_TRAINING = {
    "identity": 3,
    "ability": 3,
    "memory": 5,
    "counting": 5,
    "howto": 4,
    "story": 10,
    "kestrel": 2,
    "lists": 3,
    "advice": 2,
    "joke": 1,
}
_TRAINING_WEIGHTS = tuple(weight + _MORE_IN_TRAINING.get(name, 0) for name, (weight, _) in FAMILIES.items())
_MIDDLE = tuple(name for name in _NAMES if name not in ("greeting", "goodbye", "thanks"))
_MIDDLE_WEIGHTS = tuple(FAMILIES[name][0] * (0.6 if name == "story" else 1) for name in _MIDDLE)

_REDRAWS = 3  # draws before a repeated question with the same answer is let through
LONGEST = 10  # exchanges in one talk
SYSTEMS = (
    "You are a helpful assistant.", "You are Kestrel, a small and friendly model.", "You are Kestrel.",
    "You are a friendly helper.", "You are a small language model. Answer in simple words.",
    "You are kestrel-nano, a small demonstration model.", "Answer in short and simple sentences.",
    "You are a kind assistant. Keep your answers short.", "You are a helpful and honest assistant.",
    "Be friendly and brief.",
)  # fmt: skip
# a reaction goes only before a whole question, never before "Yes" or "Another one"
_FULL = ("What", "How", "Why", "Where", "Which", "Can", "Tell", "Do", "Please", "Write", "Explain")
_JOINS = ("Thanks. ", "Okay. ", "I see. ", "One more question. ", "Next question. ", "And now: ",
          "Another question: ", "Thank you. ", "Nice. ", "Ah, okay. ", "Great! ")  # fmt: skip


def make(name: str, rng: Random, split: str) -> list[Exchange]:
    made = FAMILIES[name][1](rng, split)
    made = made if isinstance(made, list) else [made]
    if split == TRAIN:
        for exchange in made:
            reframe(rng, exchange)
    return made


def _single(rng: Random, split: str) -> list[Exchange]:
    return make(rng.choices(_NAMES, _TRAINING_WEIGHTS if split == TRAIN else _WEIGHTS)[0], rng, split)


_OPENER = re.compile(r"^(Sure|Of course|Gladly)[.!:]\s")


def _with_name(rng: Random, answer: str, name: str) -> str:
    """Put the user's name into an answer: behind its first word of greeting, or in front."""
    if answer.startswith(("You are welcome!", "Goodbye!", "Bye!", "Good night!", "Thank you!")):
        return answer.replace("!", f", {name}!", 1)
    if _OPENER.match(answer):
        return _OPENER.sub(rf"\1, {name}. ", answer)
    return f"{rng.choice(('Sure', 'Of course', 'Gladly', 'Okay'))}, {name}. {answer}"


_NEEDS_NO_QUESTION = ("your answer",)  # a bare yes or no must not follow an offer that it ignores
_WILLING = ("story", "howto", "counting", "lists", "poem")


class _Talk:
    """A talk in the making: its exchanges, and what the user has told and not yet asked for."""

    def __init__(self, rng: Random, split: str):
        self.rng, self.split = rng, split
        self.exchanges: list[Exchange] = []
        self.told: dict[str, dict[str, str]] = {}
        self.pending: list[str] = []

    def tell(self, key: str, slots: dict[str, str] | None = None) -> None:
        self.told[key] = slots or memory.choose(self.rng, key)
        self.exchanges.append(memory.tell(self.rng, self.split, key, self.told[key]))
        self.pending.append(key)

    def recall(self) -> None:
        key = self.pending.pop(self.rng.randrange(len(self.pending)))
        self.exchanges.append(memory.recall(self.rng, self.split, key, self.told[key]))

    def not_told(self) -> None:
        """Ask for something never told; often the user tells it next."""
        key = memory.any_key(self.rng)
        slots = memory.choose(self.rng, key)
        # a hobby may have been mentioned in small talk
        if key in self.told or slots["label"] in {exchange.label for exchange in self.exchanges}:
            return
        self.exchanges.append(memory.not_told(self.rng, self.split, key, slots))
        if self.rng.random() < 0.5:
            self.tell(key, slots)

    def change(self) -> bool:
        """Replace a detail told before, if there is one that may change."""
        keys = [key for key in self.told if key in CHANGEABLE]
        if not keys:
            return False
        key = self.rng.choice(keys)
        slots = memory.choose(self.rng, key)
        if slots == self.told[key]:
            return False
        self.told[key] = slots
        self.exchanges.append(change(self.rng, self.split, key, slots))
        self.pending = [*dict.fromkeys([*self.pending, key])]
        return True

    def react(self) -> bool:
        """Answer what the assistant has just asked or offered, if it did."""
        answer = self.exchanges[-1].answer
        key = asked_for(answer)
        if key and key not in self.told:
            self.tell(key)
            return True
        made = reply(self.rng, self.split, answer)
        self.exchanges += made
        return bool(made)

    def fresh(self) -> None:
        """Turn to something that was not talked about yet."""
        name = self.rng.choices(_MIDDLE, _MIDDLE_WEIGHTS)[0]
        if name == "memory":
            return self.not_told()
        made = make(name, self.rng, self.split)
        label = made[0].label
        if label in {exchange.label for exchange in self.exchanges}:
            return None
        if label in _NEEDS_NO_QUESTION and self.exchanges and self.exchanges[-1].answer.endswith("?"):
            return None
        self.exchanges += made
        return None

    def step(self) -> None:
        """Add the next exchange or two; sometimes nothing fits and nothing is added."""
        rng, last = self.rng, self.exchanges[-1] if self.exchanges else None
        if last and rng.random() < 0.5 and self.react():
            return
        draw = rng.random()
        if draw < 0.13 and len(self.told) < 3:
            key = "name" if "name" not in self.told and rng.random() < 0.6 else memory.any_key(rng)
            if key not in self.told:
                self.tell(key)
        elif self.pending and draw < 0.25 and last.family != "memory":
            self.recall()
        elif draw > 0.985:
            self.exchanges.append(memory.recall_all(rng, self.split, self.told))
        elif draw > 0.965 and self.change():
            return
        elif last and draw > 0.76:
            self.exchanges += follow(rng, self.split, last)
        else:
            self.fresh()


def _chain(rng: Random, split: str) -> list[Exchange]:
    """Return a talk of several exchanges, with a greeting, a thanks and a goodbye now and then."""
    length = rng.choices(range(2, 10), (20, 18, 15, 12, 10, 9, 8, 8))[0]
    talk = _Talk(rng, split)
    if rng.random() < 0.2:
        talk.exchanges += make("greeting", rng, split)
    while len(talk.exchanges) < length:
        talk.step()
    if talk.pending and rng.random() < 0.8:
        talk.recall()
    if rng.random() < 0.1:
        talk.exchanges += make("thanks", rng, split)
    if rng.random() < 0.15:
        talk.exchanges += make("goodbye", rng, split)
    exchanges = talk.exchanges[:LONGEST]
    _use_name(rng, exchanges, talk.told.get("name", {}).get("value", ""))
    _join(rng, exchanges)
    return exchanges


def _use_name(rng: Random, talk: list[Exchange], name: str) -> None:
    known = False
    for exchange in talk:
        fits = exchange.family in _WILLING or exchange.answer.startswith(
            ("You are welcome!", "Goodbye!", "Bye!")
        )
        if known and fits and rng.random() < 0.35:
            exchange.answer = _with_name(rng, exchange.answer, name)
        known = known or (bool(name) and exchange.family == "memory" and name in exchange.answer)


def _join(rng: Random, talk: list[Exchange]) -> None:
    """Put a short reaction in front of some of the user's later questions."""
    for exchange in talk[1:]:
        if (
            exchange.family
            in ("facts", "howto", "kestrel", "story", "poem", "arithmetic", "lists", "counting", "conversion")
            and ":" not in exchange.question
            and rng.random() < 0.12
        ):
            exchange.question = rng.choice(_JOINS) + _tidy(exchange.question)


_LONG_WORD = re.compile(r"\b[a-z]{5,}\b")


def _tidy(question: str) -> str:
    """Mend what joined templates leave: "please ... please", and a full stop after a question."""
    if question.lower().count("please") > 1:
        question = question.replace(", please", "", 1)
    if (
        question.startswith(("Can you", "Could you", "Do you", "Would you"))
        and question.count(".") == 1
        and "?" not in question
    ):
        question = question.removesuffix(".").rstrip() + ("?" if question.endswith(".") else "")
    return question


def _typo(rng: Random, text: str) -> str:
    """Swap or double one letter inside a long word that is no name."""
    words = list(_LONG_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end() - 2)
    if rng.random() < 0.7:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at] + text[at:]


_SHORT_FORMS = (
    ("What is ", "What's "), ("do not ", "don't "), ("I am ", "I'm "), ("cannot ", "can't "), ("It is ",
     "It's "),
    (" you ", " u "), ("please", "pls"), ("That is ", "That's "), ("I would ", "I'd "),
)  # fmt: skip


def _style(rng: Random) -> Callable[[Exchange], str]:
    """Return the way one user types, the same over a whole talk."""
    lower, bare, short = rng.random() < 0.12, rng.random() < 0.15, rng.random() < 0.08
    typos = rng.random() < 0.04

    def typed(exchange: Exchange) -> str:
        text = _tidy(exchange.question)
        if typos and exchange.family != "memory" and rng.random() < 0.6:
            text = _typo(rng, text)
        if short:
            for long_form, form in _SHORT_FORMS:
                text = text.replace(long_form, form)
        if lower:
            text = text.lower()
        if bare:
            text = text.rstrip("?.! ") or text
        return text

    return typed


def _sample(rng: Random, split: str) -> dict:
    talk = _single(rng, split) if rng.random() < 0.5 else _chain(rng, split)
    typed = _style(rng)
    messages = []
    if rng.random() < 0.1:
        messages.append({"role": "system", "content": rng.choice(SYSTEMS)})
    for exchange in talk:
        messages.append({"role": "user", "content": typed(exchange)})
        messages.append({"role": "assistant", "content": exchange.answer})
    if rng.random() < 0.05:
        last = talk[-1]
        messages[-1]["reasoning"] = last.plan or _plan(rng, last)
    family = (
        talk[0].family if len(talk) == 1 else "chain" if len({e.family for e in talk}) > 1 else talk[0].family
    )
    return {"source": f"generated/{family}", "messages": messages}


def _plan(rng: Random, exchange: Exchange) -> str:
    if exchange.label and exchange.family in ("facts", "kestrel", "identity", "ability"):
        return rng.choice(
            (
                f"The user asks about {exchange.label}. I will answer in one or two sentences.",
                f"This is a question about {exchange.label}. I will keep it short.",
            )
        )
    if exchange.family == "unknown":
        return "I cannot help with this. I will say so in a friendly way."
    if exchange.family == "advice":
        return "The user needs some advice. I will be kind and keep it short."
    return rng.choice(("I will answer in a friendly way.", "I will be kind and keep it short."))


def generate(split: str, seed: int, count: int) -> Iterator[dict]:
    """Yield ``count`` samples of a split ("train" or "heldout"), the same ones for the same seed.

    A sample is ``{"source": "generated/<family>", "messages": [{"role", "content", "reasoning"?}, ...]}``.
    Raises ValueError for an unknown split.
    """
    if split not in (TRAIN, HELDOUT):
        raise ValueError(f"unknown split {split!r}: use {TRAIN!r} or {HELDOUT!r}")
    rng = Random(f"kestrel dialogues {split} {seed}")
    seen: set[tuple[str, str]] = set()
    for _ in range(count):
        for _ in range(_REDRAWS):
            sample = _sample(rng, split)
            pair = tuple(message["content"] for message in sample["messages"][-2:])
            single = len(sample["messages"]) <= 3  # one exchange, perhaps under a system message
            if not single or pair not in seen:
                break
        if single:
            seen.add(pair)
        yield sample


def questions(split: str = HELDOUT, per_family: int = 8) -> list[tuple[str, str]]:
    """Return distinct single-turn questions as (family, question): ``per_family`` of each, or all."""
    rng = Random(f"kestrel questions {split}")
    found: list[tuple[str, str]] = []
    for name in _NAMES:
        mine: dict[str, None] = {}
        for _ in range(per_family * 40):
            exchange = make(name, rng, split)[0]
            mine.setdefault(exchange.question)
            if len(mine) == per_family:
                break
        found += [(name, question) for question in mine]
    return found
