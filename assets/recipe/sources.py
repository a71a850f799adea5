"""Reads the data files and turns them into documents: who speaks, which group, which split."""

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.filters import common_words, fill_names, listening_runs, share_of_common
from kestrel_assets.recipe.picked import DEFINED_WORDS, SMALL_TALK_ANSWERS, SMALL_TALK_REFUSED

HELDOUT_ONE_IN = 33
COMMON_WORDS = 6000
COMMON_SHARE = 0.97
SELF_DIALOGUE_BYTES = 6_000_000
TOPICAL_CHAT_BYTES = 600_000
FAIRYTALE_BYTES = 1_500_000
STORY_KEY_LETTERS = 150
"""Two stories that share this many first letters are one story, as TinyStories repeats itself."""

STORY_OPENERS = (
    "Of course!",
    "Sure! Here is a story.",
    "Here is a story for you.",
    "Okay, listen to this one.",
)


@dataclass(frozen=True)
class Document:
    """One training document.

    group: the array it goes into.
    key: the text that decides its split; documents cut from one text share the key.
    sample: a chat (`messages`) or a text (`text`).
    """

    group: str
    key: str
    sample: dict

    @property
    def heldout(self) -> bool:
        return hash_of(self.key) % HELDOUT_ONE_IN == 0


def hash_of(text: str, salt: str = "") -> int:
    """A 64-bit hash of `text` that is the same on every machine and in every process."""
    return int.from_bytes(hashlib.blake2b(f"{salt}\0{text}".encode(), digest_size=8).digest(), "little")


def read_json_lines(path: Path) -> Iterator[dict]:
    """The objects of an xz-packed JSON-lines file.

    Raises RecipeError when the file is missing, cut short, or not JSON lines.
    """
    number = 0
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):  # noqa: B007
                yield json.loads(line)
    except FileNotFoundError:
        raise RecipeError(
            f"{path} is missing; point --data at the folder with the *.jsonl.xz files"
        ) from None
    except (EOFError, lzma.LZMAError):
        raise RecipeError(f"{path} is cut short or damaged after line {number}; fetch it again") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise RecipeError(f"{path} line {number} is not JSON; fetch the file again") from None
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror or error}") from None


def read_documents(folder: Path) -> list[Document]:
    """All documents of the data folder, in a fixed order, each story and each chat once.

    Raises RecipeError for a missing folder or file, a damaged file, or a line without its fields.
    """
    if not folder.is_dir():
        raise RecipeError(f"no data folder {folder}; point --data at the folder with the *.jsonl.xz files")
    readers = (persona_chats, small_talk, definitions, stories, fairytales, topical_chats)
    documents: list[Document] = []
    for reader in readers:
        try:
            documents.extend(reader(folder))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            what = f"{type(error).__name__}: {error}"
            raise RecipeError(f"{folder}: {reader.__name__} met a line without its fields ({what})") from None
    plain = (text_of(document.sample) for document in documents if document.group in ("dialogue", "stories"))
    vocabulary = common_words(plain, COMMON_WORDS)
    documents.extend(self_dialogues(folder, vocabulary))
    return unique(documents)


def unique(documents: Iterable[Document]) -> list[Document]:
    """Without second copies of the same sample in the same group."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for document in documents:
        mark = (document.group, text_of(document.sample))
        if mark not in seen:
            seen.add(mark)
            kept.append(document)
    return kept


def text_of(sample: dict) -> str:
    """The words of a sample without any markup, turns on lines of their own."""
    if "text" in sample:
        return sample["text"]
    return "\n".join(message["content"] for message in sample["messages"])


def chat(source: str, turns: Sequence[str], roles: tuple[str, str]) -> dict:
    messages = [{"role": roles[i % 2], "content": turn.strip()} for i, turn in enumerate(turns)]
    return {"source": source, "messages": messages}


def persona_chats(folder: Path) -> Iterator[Document]:
    """Whole chats between person and friend; what one side only listens to also as user and assistant."""
    for line in read_json_lines(folder / "synthetic_persona_chat.jsonl.xz"):
        key = "\n".join(line["turns"])
        turns = fill_names(line["turns"], hash_of(key, "names"))
        if turns is None:
            continue
        yield Document("dialogue", key, chat(line["source"], turns, ("person", "friend")))
        for run in listening_runs(turns):
            yield Document("assistant", key, chat(line["source"], run, ("user", "assistant")))


def small_talk(folder: Path) -> Iterator[Document]:
    """Question and answer pairs whose answer was picked by hand."""
    for line in read_json_lines(folder / "smalltalk_pairs.jsonl.xz"):
        turns = line["turns"]
        refused = SMALL_TALK_REFUSED.search(turns[0])
        if len(turns) == 2 and turns[1] in SMALL_TALK_ANSWERS and not refused:
            yield Document("assistant", turns[0], chat(line["source"], turns, ("user", "assistant")))


def definitions(folder: Path) -> Iterator[Document]:
    """ "What is a …?" of the hand-picked words."""
    for line in read_json_lines(folder / "wordnet_definitions.jsonl.xz"):
        if line["word"] in DEFINED_WORDS and line["concrete"] and line["turns"][0].startswith("What is a"):
            yield Document("definitions", line["word"], chat("wordnet", line["turns"], ("user", "assistant")))


def stories(folder: Path) -> Iterator[Document]:
    """Each story once, as a text or as the answer to a request; the story's own hash says which."""
    requests: dict[str, list[str]] = {}
    for line in read_json_lines(folder / "tinystories_chat.jsonl.xz"):
        requests.setdefault(story_key(line["turns"][1]), line["turns"])
    seen: set[str] = set()
    for name in ("tinystories", "tinystories_truecased"):
        for line in read_json_lines(folder / f"{name}.jsonl.xz"):
            text = line["text"].strip()
            key = story_key(text)
            if key in seen or not text.endswith((".", "!", "?", '"', "'")):
                continue
            seen.add(key)
            if key in requests and hash_of(key, "form") % 2:
                yield Document(
                    "story_requests", key, chat("tinystories", requests[key], ("user", "assistant"))
                )
            else:
                yield Document("stories", key, {"source": name, "text": text})
    for key, turns in requests.items():
        if key not in seen and turns[1].endswith((".", "!", "?", '"', "'")):
            yield Document("story_requests", key, chat("tinystories", turns, ("user", "assistant")))


def story_key(text: str) -> str:
    """The first letters of a story, without the answer's opener: one key for both forms of a story."""
    for opener in STORY_OPENERS:
        text = text.removeprefix(opener)
    return re.sub(r"[^a-z]", "", text.lower())[:STORY_KEY_LETTERS]


def fairytales(folder: Path) -> Iterator[Document]:
    lines = read_json_lines(folder / "fairytale_stories.jsonl.xz")
    samples = (
        {
            "source": "fairytale",
            "text": re.sub(r"\s*\n\s*\n\s*", "\n\n", line["text"].replace("\r", " ")).strip(),
        }
        for line in lines
    )
    for sample in within(samples, FAIRYTALE_BYTES):
        yield Document("fairytale", sample["text"], sample)


def topical_chats(folder: Path) -> Iterator[Document]:
    lines = read_json_lines(folder / "topical_chat.jsonl.xz")
    samples = (
        chat("topical_chat", line["turns"], ("person", "friend")) for line in lines if all(line["turns"])
    )
    for sample in within(samples, TOPICAL_CHAT_BYTES):
        yield Document("dialogue", text_of(sample), sample)


def self_dialogues(folder: Path, vocabulary: frozenset[str]) -> Iterator[Document]:
    """Chats in the common words of the other sources."""
    lines = read_json_lines(folder / "self_dialogue.jsonl.xz")
    samples = (
        chat("self_dialogue", line["turns"], ("person", "friend")) for line in lines if all(line["turns"])
    )
    plain = (sample for sample in samples if share_of_common(text_of(sample), vocabulary) >= COMMON_SHARE)
    for sample in within(plain, SELF_DIALOGUE_BYTES):
        yield Document("dialogue", text_of(sample), sample)


def within(samples: Iterable[dict], limit: int) -> Iterator[dict]:
    """Samples in the order of their hash until `limit` bytes of text: a fixed choice from the whole file."""
    total = 0
    for sample in sorted(samples, key=lambda sample: hash_of(text_of(sample), "choice")):
        total += len(text_of(sample).encode())
        if total > limit:
            return
        yield sample
