"""Build the corpus: `python -m kestrel_assets.recipe.corpus --data DATA --out OUT`.

Trains the tokenizer on the training split (or keeps the one of --tokenizer, whose vocabulary a model in
training already has) and writes for each split and group
  {split}-{group}.npy        uint16, the tokens of all documents one after another
  {split}-{group}-loss.npy   uint8, 1 where the assistant (or the story) is to be predicted
  {split}-{group}-docs.npy   int64, where each document starts
  {split}-{group}-bytes.npy  int64, bytes of each document's text without markup
and, last of all, meta.json.
"""

import argparse
import hashlib
import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.render import Renderer
from kestrel_assets.recipe.sources import hash_of, read_documents, text_of
from kestrel_assets.recipe.tokenizer import (
    CONTROL_TOKENS,
    Tokenizer,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)

FORMAT = "kestrel-nano corpus 1"
SPLITS = ("train", "heldout")
GROUPS = ("generated", "dialogue", "assistant", "stories", "story_requests", "fairytale", "definitions")
TOKENIZER_BYTES = {"generated": 6_000_000, "fairytale": 700_000}
TOKENIZER_BYTES_OF_OTHERS = 3_000_000
CUT_SHARE = 0.5
PARTIAL = ".kestrel-partial"
"""Arrays are written in this folder of --out and moved when all are there."""

Corpus = dict[str, dict[str, list[dict]]]
"""split → group → samples."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="corpus", description="Build tokenizer and token arrays of kestrel-nano."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the *.jsonl.xz files")
    parser.add_argument("--out", type=Path, required=True, help="folder to write, new or empty")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generated", type=int, default=105_000, help="generated dialogues to train on")
    parser.add_argument("--generated-heldout", type=int, default=1_500)
    parser.add_argument(
        "--tokenizer", type=Path, help="folder of a tokenizer to keep instead of training one"
    )
    parser.add_argument("--replace", action="store_true", help="replace the corpus that stands in --out")
    options = parser.parse_args(arguments)
    return run_command(lambda: build(options))


def build(options: argparse.Namespace) -> None:
    kept = load_kept(options.tokenizer) if options.tokenizer else None
    check_out(options.out, options.replace)
    corpus = read_corpus(options.data)
    add_generated(corpus, options.seed, options.generated, options.generated_heldout)
    for split in SPLITS:
        for group in GROUPS:
            random.Random(f"{options.seed} {split} {group}").shuffle(corpus[split][group])
    tokenizer = kept or train_tokenizer(balanced_texts(corpus["train"]))
    partial = options.out / PARTIAL
    try:
        partial.mkdir(parents=True)
        save_tokenizer(tokenizer, partial / "tokenizer")
        meta = {
            "format": FORMAT,
            "seed": options.seed,
            "tokenizer_sha256": hashlib.sha256(
                (partial / "tokenizer/tokenizer.json").read_bytes()
            ).hexdigest(),
            "splits": write_arrays(corpus, Renderer(tokenizer), partial),
        }
        move_in(partial, options.out)
        (options.out / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise RecipeError(f"cannot write {options.out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    print(summary(meta))


def load_kept(folder: Path) -> Tokenizer:
    """The tokenizer of `folder`, whose control tokens must stand where training puts them."""
    if not (folder / "tokenizer.json").is_file():
        raise RecipeError(f"no tokenizer.json in {folder}; name the tokenizer folder of a corpus")
    tokenizer = load_tokenizer(folder)
    top = tokenizer.get_vocab_size() - len(CONTROL_TOKENS)
    if [tokenizer.token_to_id(token) for token in CONTROL_TOKENS] != list(
        range(top, top + len(CONTROL_TOKENS))
    ):
        raise RecipeError(
            f"{folder} is not a tokenizer of this recipe; name the tokenizer folder of a corpus"
        )
    return tokenizer


def check_out(out: Path, replace: bool) -> None:
    """Refuse a folder that holds anything but an earlier corpus of this command that may be replaced."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(out / PARTIAL, ignore_errors=True)
        (out / PARTIAL).mkdir()
        (out / PARTIAL).rmdir()
        present = list(out.iterdir())
    except OSError as error:
        raise RecipeError(f"cannot write {out}: {error.strerror or error}") from None
    if not present:
        return
    try:
        ours = json.loads((out / "meta.json").read_text("utf-8"))["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise RecipeError(f"{out} holds something that is not a corpus; name a new folder")
    if not replace:
        raise RecipeError(
            f"{out} holds a corpus already; add --replace to build it again, or name a new folder"
        )


def read_corpus(data: Path) -> Corpus:
    corpus: Corpus = {split: {group: [] for group in GROUPS} for split in SPLITS}
    for document in read_documents(data):
        corpus["heldout" if document.heldout else "train"][document.group].append(document.sample)
    return corpus


def add_generated(corpus: Corpus, seed: int, count: int, heldout: int) -> None:
    """Add the generated dialogues; held-out ones that occur in training word for word are dropped."""
    from kestrel_assets.recipe.dialogues import generate

    seen: set[str] = set()
    for split, wanted in (("train", count), ("heldout", heldout)):
        for sample in generate(split, seed, wanted):
            sample = cut_short(sample) if split == "train" else sample
            mark = text_of(sample)
            if mark not in seen:
                seen.add(mark)
                corpus[split]["generated"].append(sample)
        if wanted and not corpus[split]["generated"]:
            raise RecipeError(f"the dialogue generator made nothing for the {split} split; mend it first")


def cut_short(sample: dict) -> dict:
    """End about half of the longer chats at an earlier answer.

    Only the last answer carries the (empty) thinking block that every answer has when the model is used,
    so answers from the middle of chats must stand last as well.
    """
    messages = sample["messages"]
    answers = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
    number = hash_of(text_of(sample), "cut")
    if len(answers) < 2 or number % 1000 >= 1000 * CUT_SHARE:
        return sample
    end = answers[number // 1000 % (len(answers) - 1)]
    return {**sample, "messages": messages[: end + 1]}


def balanced_texts(groups: dict[str, list[dict]]) -> Iterator[str]:
    """Training text of the tokenizer: no group may drown the others."""
    for group, samples in groups.items():
        left = TOKENIZER_BYTES.get(group, TOKENIZER_BYTES_OF_OTHERS)
        for sample in samples:
            text = text_of(sample)
            left -= len(text)
            if left < 0:
                break
            yield from (text,) if "text" in sample else (message["content"] for message in sample["messages"])


def write_arrays(corpus: Corpus, renderer: Renderer, folder: Path) -> dict:
    """Write all arrays; returns split → group → counts."""
    counts: dict[str, dict[str, dict]] = {}
    for split in SPLITS:
        counts[split] = {}
        for group in GROUPS:
            counts[split][group] = write_group(corpus[split][group], renderer, folder / f"{split}-{group}")
    return counts


def write_group(samples: Iterable[dict], renderer: Renderer, stem: Path) -> dict:
    ids: list[np.ndarray] = []
    loss: list[np.ndarray] = []
    sizes: list[int] = []
    sources: Counter[str] = Counter()
    for sample in samples:
        rendered = renderer.render(sample)
        ids.append(np.array(rendered.ids, np.uint16))
        loss.append(np.array(rendered.loss, np.uint8))
        sizes.append(rendered.content_bytes)
        sources[sample["source"]] += 1
    tokens = np.concatenate(ids) if ids else np.zeros(0, np.uint16)
    learned = np.concatenate(loss) if loss else np.zeros(0, np.uint8)
    lengths = np.array([len(piece) for piece in ids], np.int64)
    np.save(f"{stem}.npy", tokens)
    np.save(f"{stem}-loss.npy", learned)
    np.save(f"{stem}-docs.npy", np.cumsum(lengths) - lengths)
    np.save(f"{stem}-bytes.npy", np.array(sizes, np.int64))
    return {
        "documents": len(ids),
        "tokens": int(tokens.size),
        "learned_tokens": int(learned.sum()),
        "bytes": sum(sizes),
        "sources": dict(sorted(sources.items())),
    }


def move_in(partial: Path, out: Path) -> None:
    (out / "meta.json").unlink(missing_ok=True)
    for path in sorted(partial.iterdir()):
        target = out / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.replace(target)


def summary(meta: dict) -> str:
    lines = [f"{'split':8} {'group':15} {'documents':>9} {'tokens':>10} {'bytes':>10} {'bytes/token':>11}"]
    for split, groups in meta["splits"].items():
        for group, count in groups.items():
            each = count["bytes"] / count["tokens"] if count["tokens"] else 0.0
            row = f"{split:8} {group:15} {count['documents']:9} {count['tokens']:10}"
            lines.append(f"{row} {count['bytes']:10} {each:11.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
