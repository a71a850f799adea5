"""Indirect forms of a direct question: "Where do owls live?" becomes "Let me know where owls live."."""

import re
from random import Random

from kestrel_assets.recipe.dialogues.grammar import expand

_WORD = r"(What|Where|When|Who|Why|How(?: much| many \w+| old| long| big)?|Which \w+|What \w+)"
_IS = re.compile(r"^(What|Where|When|Who) (is|are|was|were) ([^,.:?]+)\?$")
_CAN = re.compile(rf"^{_WORD} (can|should|must|would|could|will) (I|you|we|people|they) ([^,.:?]+)\?$")
_DO = re.compile(rf"^{_WORD} do (I|you|we|people|they|[a-z]+s) ([^,.:?]+)\?$")
# no frame here is that of a held-out template
CLAUSES = (
    "Let me know {x}.", "I would like to hear {x}.", "[Could|Can|Would] you say {x}?", "Please say {x}.",
    "[Could|Would] you let me know {x}?", "I want to hear {x}[, please|].", "I wonder {x}.",
    "[Could|Can|Would] you tell me {x}[, please|]?", "Please tell me {x}.", "Have you any idea {x}?",
    "I am asking {x}.", "My question is {x}.", "I would be glad to hear {x}.", "I need to find out {x}.",
    "Help me to find out {x}.", "I am trying to find out {x}.", "It would be nice to hear {x}.",
    "[Hi|Hello|Hey], [can|could] you tell me {x}?", "May I ask {x}?", "Can I ask you {x}?",
    "Do you have an idea {x}?", "Would you be so kind and tell me {x}?", "First I want to hear {x}.",
    "I forgot {x}. Help me.", "Maybe you can tell me {x}.", "You can surely tell me {x}.",
    "I do not know {x}. Do you?", "[Say|Tell me] quickly {x}.", "One thing I want to hear is {x}.",
)  # fmt: skip
# how a clause starts: the words of a frame with which it would come too near to a held-out template
_NEAR = {"how many parameters": "ell me", "why": "wonder"}


def clause_of(question: str) -> str:
    """Return the question as a clause ("where owls live"), or "" when its form is not one of the plain ones."""
    if found := _IS.match(question):
        word, verb, rest = found.groups()
        # the verb goes to the end, so the rest must be a name and no more
        if re.match(r"(?:a|an|the|your|my|our) [\w' -]+$|[A-Z]\w+$", rest) and not re.search(
            r"\b(?:that|who|which|for|called|used|made|like|when|if|doing|good|spoken|from|in)\b", rest
        ):
            return f"{word[0].lower()}{word[1:]} {rest} {verb}"
        return ""
    if found := _CAN.match(question):
        word, verb, who, rest = found.groups()
        return f"{word[0].lower()}{word[1:]} {who} {verb} {rest}".replace("can not", "cannot")
    if found := _DO.match(question):
        word, who, rest = found.groups()
        return f"{word[0].lower()}{word[1:]} {who} {rest}"
    return ""


def ask_indirectly(rng: Random, question: str) -> str:
    """Return an indirect form of ``question``, or ""."""
    clause = clause_of(question)
    near = next((near for start, near in _NEAR.items() if clause.startswith(start)), "")
    frames = [frame for frame in CLAUSES if not near or near not in frame]
    return expand(rng, rng.choice(frames), {"x": clause}) if clause else ""
