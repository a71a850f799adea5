"""What of the human chats may be learned, and by which side."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kestrel_assets.recipe.picked import FIRST_NAMES

WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
FIRST_PERSON = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself|we|we're|we've|we'll|us|our|ours|let's)\b", re.IGNORECASE
)
# First person that claims no life: reactions a listener of any kind may have.
REACTION = re.compile(
    r"\bI'm (?:so |very |really )?(?:glad|happy|sorry) (?:to hear|for you|that you|you|about)|"
    r"\bI (?:think|see|understand|agree|hope|bet)\b(?! I| we| my| me)|\bI'm sure (?:you|it|they|that)|"
    r"\bI can (?:see|imagine|tell)\b|\b(?:tell|remind) me\b|\bI wish you\b",
    re.IGNORECASE,
)
MEETING = re.compile(
    r"\b(?:too|same here|likewise|together|meet|see you|join|sometime|invite|your place|call you|text you|"
    r"coffee|date|nice talking|same)\b",
    re.IGNORECASE,
)
SELF_STATEMENT = re.compile(
    r"\b(?:I'm|I am|I've|I have|I like|I love|I enjoy|I want|I work|I play|I live|I just|I also|I was|I went|"
    r"I got|I can't|I don't|my)\b",
    re.IGNORECASE,
)
# A first turn that points back at something not in the sample.
POINTS_BACK = re.compile(
    r"^(?:yes|yeah|yep|no|nope|not|it|it's|they|they're|that|that's|this|he|she|him|her|we|and|but|so|well|oh|"
    r"exactly|definitely|sure|of course|thanks|thank|me|same|really|wow|true|okay|ok|right|absolutely|cool|"
    r"i agree|i know|i do|i did|i am|i think|i'm sure|i bet|i hope|i see|i will|i'll|i would|i'd|i can|"
    r"i have)\b",
    re.IGNORECASE,
)
NEEDS_CONTEXT = re.compile(
    r"\b(?:it|it's|that|that's|those|these|this|they|they're|them|he|he's|she|she's|him|you|you're|your|too|there|"
    r"either|both|one|heard|same|also|glad|sure)\b",
    re.IGNORECASE,
)
ASKS_YOU = re.compile(r"\byou\b[^.!?]*\?|\byour\b[^.!?]*\?|\bhow about\b|\bwhat about\b", re.IGNORECASE)
NAMED_PLACEHOLDER = re.compile(r"[\[(]?\buser ?([12])(?:'s)?(?: name)?\b[\])]?", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Lower-case words of `text`; digits and punctuation are no words."""
    return [word.lower() for word in WORD.findall(text)]


def fill_names(turns: Sequence[str], number: int) -> list[str] | None:
    """Put first names for the placeholders "[user 1's name]" and "User 2". None when others are left.

    `number` picks the two names, so that one chat always gets the same.
    """
    first = number % len(FIRST_NAMES)
    second = (first + 1 + number // len(FIRST_NAMES) % (len(FIRST_NAMES) - 1)) % len(FIRST_NAMES)
    names = {"1": FIRST_NAMES[first], "2": FIRST_NAMES[second]}
    filled = [NAMED_PLACEHOLDER.sub(lambda match: names[match[1]], turn).strip() for turn in turns]
    if any(re.search(r"[\[\]()_{}<>|]", turn) or not turn for turn in filled):
        return None
    return filled


def is_listening(question: str, answer: str) -> bool:
    """Whether `answer` reacts to the other's statement and says nothing of the speaker's own life."""
    if len(words(answer)) < 2 or len(answer) > 300 or ASKS_YOU.search(question):
        return False
    return not (FIRST_PERSON.search(REACTION.sub(" ", answer)) or MEETING.search(answer))


def opens_alone(turn: str) -> bool:
    """Whether `turn` is a statement about the speaker that can open a chat."""
    refers = POINTS_BACK.search(turn) or NEEDS_CONTEXT.search(turn) or ASKS_YOU.search(turn)
    return bool(SELF_STATEMENT.search(turn)) and not refers


def listening_runs(turns: Sequence[str], longest: int = 8) -> Iterable[list[str]]:
    """The stretches of a chat in which every second turn only listens, as user, assistant, user, … turns.

    They do not overlap; each starts with a turn that stands alone and ends with an answer.
    """
    start = 0
    while start + 1 < len(turns):
        if not opens_alone(turns[start]):
            start += 1
            continue
        end = start
        while end + 1 < len(turns) and end - start < longest and is_listening(turns[end], turns[end + 1]):
            end += 2
        if end > start:
            yield list(turns[start:end])
        start = max(end, start + 1)


def common_words(texts: Iterable[str], size: int) -> frozenset[str]:
    """The `size` commonest words of `texts`; ties go to the first in the alphabet."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words(text))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return frozenset(ranked[:size])


def share_of_common(text: str, vocabulary: frozenset[str]) -> float:
    """The share of the words of `text` that are in `vocabulary`; 0 for a text without words."""
    found = words(text)
    return sum(word in vocabulary for word in found) / len(found) if found else 0.0
