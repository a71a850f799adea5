"""Held-out figures: `python -m kestrel_assets.recipe.evaluate --corpus CORPUS --checkpoint DIR`.

Bits per byte. For each group the bits of every held-out token but the first of its document, over the UTF-8
bytes of the text (of the messages' contents; markup costs bits but counts no bytes). The n-gram beside it
predicts exactly the same tokens; of the n-gram of all training text and that of the group's own training
text the better one is shown. A document longer than 1,024 tokens is read in windows that overlap by
half, and each token is scored once, in the first window that reaches it; the n-gram needs no windows.

Draft acceptance, greedy and teacher-forced. A round stands after token p of a held-out document and takes
the text's token p+1 for the trunk's certain one. The draft head then chains k = 3 drafts from (embedding of
token p+1, hidden state p), feeding back its own normed output and its own drafts; its attention sees the
trunk's hidden states up to p and the chain itself, as in the engine. Draft j is right when it equals the
trunk's greedy choice after token p+j. Draft j+1 can be judged only where draft j was right and is also the
text's token, for elsewhere the text leaves the path that the engine would follow. So alpha_j is the share of
right drafts among those judged, given that all before were right, and tokens per round is
1 + a1 + a1 a2 + a1 a2 a3, with rounds cut by the end of an answer left out. Only tokens of assistant answers
count (in human chats, which have none: all tokens).
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from kestrel_assets.recipe.data import Corpus, Group
from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.model import Model, load_checkpoint
from kestrel_assets.recipe.ngram import KneserNey
from kestrel_assets.recipe.tokenizer import END_OF_TEXT, load_tokenizer

DEPTH = 3
WINDOW = 1024
BATCH_TOKENS = 8192
ASSISTANT_GROUPS = ("generated", "assistant", "story_requests", "definitions")


@dataclass(frozen=True)
class Window:
    """A stretch of one document, and from which of its tokens on the score counts."""

    ids: np.ndarray
    answers: np.ndarray
    scored_from: int


@dataclass
class Acceptance:
    """Drafts judged and drafts right at each depth, int64 [DEPTH]."""

    judged: np.ndarray
    right: np.ndarray

    @property
    def alphas(self) -> list[float]:
        return [float(r / j) if j else 0.0 for r, j in zip(self.right, self.judged, strict=True)]

    @property
    def tokens_per_round(self) -> float:
        return 1.0 + float(np.cumprod(self.alphas).sum())

    def __add__(self, other: "Acceptance") -> "Acceptance":
        return Acceptance(self.judged + other.judged, self.right + other.right)

    def to_dict(self) -> dict:
        judged = [int(count) for count in self.judged]
        return {"alphas": self.alphas, "tokens_per_round": self.tokens_per_round, "judged": judged}


def no_acceptance() -> Acceptance:
    return Acceptance(np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evaluate", description="Held-out figures beside the n-gram's.")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder with config.json and weights")
    parser.add_argument("--documents", type=int, default=400, help="at most so many documents of a group")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    options = parser.parse_args(arguments)
    return run_command(lambda: evaluate(options))


def evaluate(options: argparse.Namespace) -> None:
    corpus = Corpus(options.corpus)
    check_tokenizer(options.corpus, options.checkpoint)
    model = load_checkpoint(options.checkpoint)
    everything = fit_ngram(corpus, list(corpus.train))
    lengths = token_bytes(options.corpus / "tokenizer")
    groups, total = {}, no_acceptance()
    for name, whole in corpus.heldout.items():
        group, sizes = first_documents(whole, read_sizes(options.corpus, name), options.documents)
        (bits, answer_bits), acceptance = score(model, group)
        ngrams = [everything, fit_ngram(corpus, [name])] if name in corpus.train else [everything]
        starts = group.bounds[:-1]
        size = int(sizes.sum() - lengths[group.ids[starts]].sum())
        answer_size = int(lengths[group.ids[answered(group)]].sum())
        groups[name] = {
            "documents": len(starts),
            "tokens": len(group.ids) - len(starts),
            "bytes": size,
            "bits_per_byte": bits / size,
            "ngram_bits_per_byte": min(ngram_bits(ngram, group)[0] for ngram in ngrams) / size,
            "answer_bits_per_byte": answer_bits / answer_size,
            "ngram_answer_bits_per_byte": min(ngram_bits(ngram, group)[1] for ngram in ngrams) / answer_size,
            "acceptance": acceptance.to_dict(),
        }
        total += acceptance if name in ASSISTANT_GROUPS else no_acceptance()
    figures = {"groups": groups, "assistant_acceptance": total.to_dict()}
    print(json.dumps(figures, indent=2) if options.output == "json" else table(figures))


def check_tokenizer(corpus: Path, checkpoint: Path) -> None:
    """Refuse a checkpoint that reads other tokens than the corpus holds."""
    own, theirs = (path / "tokenizer.json" for path in (checkpoint, corpus / "tokenizer"))
    if own.is_file() and theirs.is_file() and own.read_bytes() != theirs.read_bytes():
        raise RecipeError(
            f"{checkpoint} has another tokenizer than {corpus}; evaluate on the corpus it was trained on"
        )


def fit_ngram(corpus: Corpus, names: list[str]) -> KneserNey:
    """The n-gram of the training text of the groups `names`."""
    groups = [corpus.train[name] for name in names]
    ids = np.concatenate([group.ids for group in groups])
    offsets = np.cumsum([0] + [len(group.ids) for group in groups[:-1]])
    starts = [group.bounds[:-1] + offset for group, offset in zip(groups, offsets, strict=True)]
    tokenizer = load_tokenizer(corpus.folder / "tokenizer")
    ngram = KneserNey(tokenizer.get_vocab_size(), tokenizer.token_to_id(END_OF_TEXT))
    return ngram.fit(ids, np.concatenate(starts))


def answered(group: Group) -> np.ndarray:
    """Which tokens are an assistant's, bool [tokens]: all of a text without one, but a document's first."""
    mask = group.answers.astype(bool) if group.answers.any() else np.ones(len(group.ids), bool)
    mask[group.bounds[:-1]] = False
    return mask


def ngram_bits(ngram: KneserNey, group: Group) -> tuple[float, float]:
    """Bits of every token of `group` but the first of each document, and of those of the assistant."""
    starts = group.bounds[:-1]
    bits = -np.log2(ngram.probabilities(group.ids, starts))
    return float(bits.sum() - bits[starts].sum()), float(bits[answered(group)].sum())


def token_bytes(tokenizer_folder: Path) -> np.ndarray:
    """How many bytes of text each token stands for, int64 [V]; control tokens for none."""
    tokenizer = load_tokenizer(tokenizer_folder)
    control = tokenizer.get_added_tokens_decoder()
    size = tokenizer.get_vocab_size()
    return np.array([0 if i in control else len(tokenizer.id_to_token(i)) for i in range(size)])


def read_sizes(corpus: Path, name: str) -> np.ndarray:
    path = corpus / f"heldout-{name}-bytes.npy"
    try:
        return np.load(path)
    except (OSError, ValueError) as error:
        raise RecipeError(f"cannot read {path}; build the corpus again") from error


def first_documents(group: Group, sizes: np.ndarray, limit: int) -> tuple[Group, np.ndarray]:
    """The first `limit` documents; the builder has shuffled them."""
    bounds = group.bounds[: limit + 1]
    return Group(group.ids[: bounds[-1]], group.answers[: bounds[-1]], bounds), sizes[:limit]


def windows_of(group: Group, length: int = WINDOW) -> Iterator[Window]:
    """Windows of at most `length` tokens; each token but a document's first is scored in exactly one."""
    answers = group.answers if group.answers.any() else np.ones_like(group.answers)
    for start, end in zip(group.bounds[:-1], group.bounds[1:], strict=True):
        scored = start + 1
        while scored < end:
            first = start if scored == start + 1 else scored - length // 2
            last = min(first + length, end)
            yield Window(group.ids[first:last], answers[first:last], int(scored - first))
            scored = last


def batches_of(windows: list[Window], tokens: int = BATCH_TOKENS) -> Iterator[list[Window]]:
    """Windows of similar length together, at most `tokens` of padded tokens a batch."""
    batch: list[Window] = []
    for window in sorted(windows, key=lambda window: -len(window.ids)):
        if batch and len(batch[0].ids) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


@torch.inference_mode()
def score(model: Model, group: Group) -> tuple[tuple[float, float], Acceptance]:
    """Bits of all tokens but the first of each document and of the assistant's, and the acceptance of drafts."""
    bits, answer_bits, acceptance = 0.0, 0.0, no_acceptance()
    for batch in batches_of(list(windows_of(group))):
        ids = torch.zeros(len(batch), len(batch[0].ids), dtype=torch.long)
        scored = torch.zeros_like(ids, dtype=torch.bool)
        answers = torch.zeros_like(scored)
        for row, window in enumerate(batch):
            size = len(window.ids)
            ids[row, :size] = torch.from_numpy(window.ids.astype(np.int64))
            scored[row, window.scored_from : size] = True
            answers[row, :size] = torch.from_numpy(window.answers.astype(bool))
        logits, hidden = model.trunk(ids)
        loss = torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
        ).view(len(batch), -1)
        bits += float((loss.double() * scored[:, 1:]).sum()) / np.log(2)
        answer_bits += float((loss.double() * (answers & scored)[:, 1:]).sum()) / np.log(2)
        drafts = [logits_j.argmax(-1) for logits_j in model.mtp_logits(hidden, ids, DEPTH)]
        acceptance += judge(ids, logits.argmax(-1), drafts, answers & scored)
    return (bits, answer_bits), acceptance


def judge(
    ids: torch.Tensor, greedy: torch.Tensor, drafts: list[torch.Tensor], counted: torch.Tensor
) -> Acceptance:
    """Count right drafts.

    ids, greedy, counted: [B, T], the text, the trunk's choice after each token, and which tokens may be
    drafted or stand first in a round. drafts[j-1]: [B, T-j], the guess at token p+j+1, made with the text's
    tokens up to p+j as input; where all drafts before are right and in the text, those are the head's own.
    """
    acceptance = no_acceptance()
    alive = counted[:, 1:]
    for j, draft in enumerate(drafts, 1):
        chains = ids.shape[1] - j - 1
        if chains < 1:
            break
        alive = alive[:, :chains] & counted[:, j + 1 :]
        draft = draft[:, :chains]
        right = alive & (draft == greedy[:, j : j + chains])
        acceptance.judged[j - 1] = int(alive.sum())
        acceptance.right[j - 1] = int(right.sum())
        alive = right & (draft == ids[:, j + 1 :])
    return acceptance


def table(figures: dict) -> str:
    lines = [
        f"{'group':15} {'documents':>9} {'bytes':>9} {'bits/byte':>9} {'n-gram':>7}"
        f" {'answers':>7} {'n-gram':>7}"
        f" {'a1':>6} {'a2':>6} {'a3':>6} {'tokens/round':>12}"
    ]
    for name, each in figures["groups"].items():
        lines.append(
            f"{name:15} {each['documents']:9} {each['bytes']:9} {each['bits_per_byte']:9.3f}"
            f" {each['ngram_bits_per_byte']:7.3f} {each['answer_bits_per_byte']:7.3f}"
            f" {each['ngram_answer_bits_per_byte']:7.3f} {_acceptance_row(each['acceptance'])}"
        )
    lines.append(f"{'assistant text':69} {_acceptance_row(figures['assistant_acceptance'])}")
    return "\n".join(lines)


def _acceptance_row(acceptance: dict) -> str:
    alphas = " ".join(f"{alpha:6.3f}" for alpha in acceptance["alphas"])
    return f"{alphas} {acceptance['tokens_per_round']:12.2f}"


if __name__ == "__main__":
    sys.exit(main())
