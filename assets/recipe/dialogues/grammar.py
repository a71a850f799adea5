"""A small template language, and topics (questions with their answers) written in it.

A template is text with alternatives in brackets and slots in braces: ``[Hi|Hello], {name}!``.
``{a thing}`` puts the right article in front, ``{Thing}`` is ``{thing}`` with a capital letter.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

TRAIN, HELDOUT = "train", "heldout"

_TOKENS = re.compile(r"\[|\]|\||\{[^{}]*\}|[^\[\]|{}]+")
_SPACES = re.compile(r" {2,}")
_SPACE_BEFORE_STOP = re.compile(r" +([?!.,;:](?:\s|$|\"))")
_SPOKEN_CONSONANT = ("uni", "use", "one", "once", "euro")
_SPOKEN_VOWEL = ("hour", "honest", "8", "11", "18")


def article(noun: str) -> str:
    """Return ``a`` or ``an`` for the sound that ``noun`` starts with."""
    word = noun.lower()
    if word.startswith(_SPOKEN_VOWEL):
        return "an"
    if word.startswith(_SPOKEN_CONSONANT):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"


def capital(text: str) -> str:
    """Return ``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def join_list(items: list[str], last: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


@cache
def _compile(template: str) -> tuple:
    """Parse a template into nested tuples: text, ``("slot", form, name)``, ``("pick", choices)``."""
    tokens = _TOKENS.findall(template)
    position = 0

    def sequence(inside: bool) -> tuple:
        nonlocal position
        choices, current = [], []
        while position < len(tokens):
            token = tokens[position]
            position += 1
            if token == "[":
                current.append(("pick", sequence(True)))
            elif token == "]" and inside:
                break
            elif token == "|" and inside:
                choices.append(tuple(current))
                current = []
            elif token.startswith("{"):
                form, _, name = token[1:-1].rpartition(" ")
                current.append(("slot", form, name))
            else:
                current.append(token)
        choices.append(tuple(current))
        return tuple(choices) if inside else tuple(current)

    return sequence(False)


def _slot(form: str, name: str, slots: Mapping[str, object]) -> str:
    value = str(slots[name]) if name in slots else capital(str(slots[name[0].lower() + name[1:]]))
    if form:
        value = f"{article(value)} {value}"
        return capital(value) if form == "A" else value
    return value


def _render(rng: Random, nodes: tuple, slots: Mapping[str, object], out: list[str]) -> None:
    for node in nodes:
        if isinstance(node, str):
            out.append(node)
        elif node[0] == "slot":
            out.append(_slot(node[1], node[2], slots))
        else:
            _render(rng, node[1][int(rng.random() * len(node[1]))], slots, out)


def expand(rng: Random, template: str, slots: Mapping[str, object] | None = None) -> str:
    """Return one surface form of ``template``, with empty alternatives' spaces closed up."""
    out: list[str] = []
    _render(rng, _compile(template), slots or {}, out)
    text = _SPACES.sub(" ", "".join(out)).strip()
    return _SPACE_BEFORE_STOP.sub(r"\1", text)


@dataclass
class Exchange:
    """One question and its answer, with what a follow-up may ask for."""

    family: str
    question: str
    answer: str
    label: str = ""  # what the question is about, as the assistant would name it
    more: str = ""
    why: str = ""
    short: str = ""
    again: "Callable[[Random], list[Exchange]] | None" = None  # what "another one" gives
    plan: str = ""
    asked: str = ""  # the thing with its article, when the question asks what it is
    sibling: "Callable[[Random], Exchange] | None" = None  # the same asked of another row, in few words


@dataclass(frozen=True)
class Ask:
    """Question templates of one kind, the held-out ones apart from those of training."""

    train: tuple[str, ...]
    heldout: tuple[str, ...]

    def pick(self, rng: Random, split: str, slots: Mapping[str, object] | None = None) -> str:
        return expand(rng, rng.choice(self.train if split == TRAIN else self.heldout), slots)

    def widened(self, train: tuple[str, ...]) -> "Ask":
        """Return the same kind of question with further training templates."""
        return Ask((*self.train, *train), self.heldout)


@dataclass
class Topic:
    """One thing that can be asked about, in one form for every row of its table."""

    family: str
    label: str
    fields: tuple[str, ...] = ()
    ask: list[str] = field(default_factory=list)
    heldout: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    elliptic: list[str] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)

    def exchange(self, rng: Random, split: str, row: Mapping[str, str] | None = None) -> Exchange:
        """Ask about one row (a random one by default) in the phrasings of ``split``."""
        slots = row if row is not None else (rng.choice(self.rows) if self.rows else {})

        def one(templates: list[str]) -> str:
            return expand(rng, rng.choice(templates), slots) if templates else ""

        return Exchange(
            family=self.family,
            question=one(self.ask if split == TRAIN else self.heldout),
            answer=one(self.answers),
            label=expand(rng, self.label, slots),
            more=one(self.more),
            why=one(self.why),
            short=one(self.short),
            asked=slots.get("asked", "") if self.label == "{label}" else "",
            sibling=(lambda other: self.another(other, split, slots))
            if self.elliptic and split == TRAIN
            else None,
        )

    def another(self, rng: Random, split: str, last: Mapping[str, str]) -> Exchange:
        """Ask about another row in the few words of someone who has just asked about ``last``."""
        row = rng.choice([row for row in self.rows if row is not last])
        made = self.exchange(rng, split, row)
        made.question = expand(rng, rng.choice(self.elliptic), row)
        return made


_MARKS = {"?": "ask", "!": "heldout", ">": "answers", "+": "more", "*": "why", "<": "short", "&": "elliptic"}


def topics(family: str, text: str) -> list[Topic]:
    """Read topics from a text block, one line an item, told apart by the first character.

    ``@ label`` or ``@ label : field, field`` opens a topic; ``?`` is a training question, ``!`` a held-out
    question, ``>`` an answer, ``+`` the answer to "tell me more", ``*`` to "why?", ``<`` a shorter answer,
    ``&`` a short question after another row,
    ``-`` a row of the table with its fields between bars. ``\\n`` stands for a line break.
    """
    found: list[Topic] = []
    for line in text.strip().splitlines():
        mark, body = line[:1], line[1:].strip().replace("\\n", "\n")
        if mark == "@":
            label, _, fields = body.partition(" : ")
            names = tuple(name.strip() for name in fields.split(",")) if fields else ()
            found.append(Topic(family, label.strip(), names))
        elif mark == "-":
            values = [value.strip() for value in body.split("|")]
            found[-1].rows.append(dict(zip(found[-1].fields, values, strict=True)))
        elif mark in _MARKS:
            getattr(found[-1], _MARKS[mark]).append(body)
        elif line.strip():
            raise ValueError(f"topic line with unknown mark: {line!r}")
    return found


def widen(found: list[Topic], text: str) -> list[Topic]:
    """Add the training questions of a text block to the topics of the same labels; return ``found``.

    The block has ``@ label`` and ``?`` lines alone. Raises ValueError when a label is not that of one topic.
    """
    for extra in topics("", text):
        named = [topic for topic in found if topic.label == extra.label]
        if len(named) != 1:
            raise ValueError(f"{len(named)} topics are called {extra.label!r}, not one")
        named[0].ask += extra.ask
    return found


def pick_topic(rng: Random, found: list[Topic]) -> Topic:
    """Choose a topic; one with a long table comes up more often than one with a short table."""
    return rng.choices(found, weights=[_weight(topic) for topic in found])[0]


def _weight(topic: Topic) -> float:
    """Every single fact is to come up about equally often; other tables are only variety."""
    return max(1, len(topic.rows)) ** (0.95 if topic.family == "facts" else 0.6)
