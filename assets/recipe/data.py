"""Rows of packed documents from the corpus arrays, in an order fixed by the seed.

A row holds documents of one group, starts at a document's beginning, and numbers its documents so that the
model can keep them apart. The group of every row is drawn from (seed, step) alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kestrel_assets.recipe.errors import RecipeError

PAD_SEGMENT = -1


@dataclass(frozen=True)
class Batch:
    """Rows [B, T]: token ids, the document number of each token (-1 is padding), and the assistant mask."""

    ids: np.ndarray  # int64
    segments: np.ndarray  # int64
    answers: np.ndarray  # bool, true where the token is to be predicted in the assistant-only phase


@dataclass(frozen=True)
class Group:
    """One corpus group: flat token ids, their assistant mask, and document bounds [N + 1]."""

    ids: np.ndarray
    answers: np.ndarray
    bounds: np.ndarray


class Corpus:
    """The arrays that `kestrel_assets.recipe.corpus` writes; RecipeError if they are missing or broken."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        meta = self.folder / "meta.json"
        try:
            self.meta = json.loads(meta.read_text())
        except (OSError, ValueError) as error:
            raise RecipeError(
                f"no corpus in {self.folder} (meta.json is missing or broken); "
                "build it with python -m kestrel_assets.recipe.corpus"
            ) from error
        self.train = self._read("train")
        self.heldout = self._read("heldout")
        if not self.train:
            raise RecipeError(f"the corpus in {self.folder} has no train-*.npy arrays; build it again")

    @property
    def largest_id(self) -> int:
        return max(int(group.ids.max()) for split in (self.train, self.heldout) for group in split.values())

    @property
    def hash(self) -> str:
        digest = hashlib.sha256()
        for name, group in sorted(self.train.items()):
            digest.update(name.encode())
            for array in (group.ids, group.answers, group.bounds):
                digest.update(np.ascontiguousarray(array).data)
        tokenizer = self.folder / "tokenizer" / "tokenizer.json"
        if tokenizer.exists():
            digest.update(tokenizer.read_bytes())
        return digest.hexdigest()

    def _read(self, split: str) -> dict[str, Group]:
        groups = {}
        for docs in sorted(self.folder.glob(f"{split}-*-docs.npy")):
            name = docs.name.removeprefix(f"{split}-").removesuffix("-docs.npy")
            stem = self.folder / f"{split}-{name}"
            try:
                ids = np.load(f"{stem}.npy", mmap_mode="r")
                answers = np.load(f"{stem}-loss.npy", mmap_mode="r")
                starts = np.load(docs)
            except (OSError, ValueError, EOFError) as error:
                raise RecipeError(f"cannot read the arrays {stem}*.npy; build the corpus again") from error
            bounds = starts if len(starts) and starts[-1] == len(ids) else np.append(starts, len(ids))
            if len(ids) != len(answers) or bounds[0] != 0 or np.any(np.diff(bounds) < 0):
                raise RecipeError(f"the arrays {stem}*.npy do not fit together; build the corpus again")
            if not answers.any():  # talk between people has no assistant: all of it counts
                answers = np.ones_like(answers)
            if len(ids):
                groups[name] = Group(ids, answers, bounds)
        return groups


class GroupRows:
    """An endless stream of rows over the shuffled documents of one group.

    A document that does not fit in what is left of a row fills it with its beginning and starts again in the
    next row, so that every document no longer than a row is seen whole, once an epoch. A longer one goes on in
    the next row.
    """

    def __init__(self, group: Group, seed: int):
        self.group = group
        self.seed = seed
        self.epoch, self.index, self.offset = 0, 0, 0
        self._order = self._shuffle()

    def _shuffle(self) -> np.ndarray:
        return np.random.default_rng([self.seed, self.epoch]).permutation(len(self.group.bounds) - 1)

    @property
    def state(self) -> list[int]:
        return [self.epoch, self.index, self.offset]

    @state.setter
    def state(self, value: list[int]) -> None:
        self.epoch, self.index, self.offset = value
        self._order = self._shuffle()

    def next_row(self, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ids, segments, answers, each [length]."""
        row = np.zeros((3, length), dtype=np.int64)
        row[1] = PAD_SEGMENT
        filled = segment = 0
        while filled < length:
            document = self._order[self.index]
            start, end = self.group.bounds[document] + self.offset, self.group.bounds[document + 1]
            taken = min(int(end - start), length - filled)
            span = slice(filled, filled + taken)
            row[0, span] = self.group.ids[start : start + taken]
            row[1, span] = segment
            row[2, span] = self.group.answers[start : start + taken]
            segment += 1
            if start + taken == end:
                self._advance()
            elif filled == 0:  # longer than a row
                self.offset += taken
            filled += taken
        return row[0], row[1], row[2]

    def _advance(self) -> None:
        self.index, self.offset = self.index + 1, 0
        if self.index == len(self._order):
            self.epoch, self.index = self.epoch + 1, 0
            self._order = self._shuffle()


class Rows:
    """Mixes the groups: the batch of a step depends on the seed, the step, and the saved state only."""

    def __init__(self, groups: dict[str, Group], seed: int):
        self.seed = seed
        self.groups = {
            name: GroupRows(group, seed * 1000 + i) for i, (name, group) in enumerate(sorted(groups.items()))
        }

    @property
    def state(self) -> dict[str, list[int]]:
        return {name: rows.state for name, rows in self.groups.items()}

    @state.setter
    def state(self, value: dict[str, list[int]]) -> None:
        for name, rows in self.groups.items():
            rows.state = value[name]

    def batch(self, step: int, rows: int, length: int, mix: dict[str, float]) -> Batch:
        names = [name for name in self.groups if mix.get(name, 0) > 0]
        if not names:
            raise RecipeError(f"the corpus has none of the groups of the mix ({', '.join(mix)}); see --mix")
        weights = np.array([mix[name] for name in names])
        chosen = np.random.default_rng([self.seed, 7, step]).choice(
            len(names), size=rows, p=weights / weights.sum()
        )
        drawn = [self.groups[names[i]].next_row(length) for i in chosen]
        ids, segments, answers = (np.stack(part) for part in zip(*drawn, strict=True))
        return Batch(ids, segments, answers.astype(bool))


def heldout_batch(group: Group, documents: int, length: int) -> Batch:
    """A fixed sample of held-out documents, spread over the group, cut to `length` and packed into rows."""
    count = len(group.bounds) - 1
    rows: list[list[slice]] = []
    room = 0
    for document in np.linspace(0, count - 1, min(documents, count)).astype(int):
        start = int(group.bounds[document])
        span = slice(start, min(int(group.bounds[document + 1]), start + length))
        if span.stop - span.start > room:
            rows.append([])
            room = length
        rows[-1].append(span)
        room -= span.stop - span.start
    ids = np.zeros((len(rows), length), dtype=np.int64)
    segments, answers = np.full_like(ids, PAD_SEGMENT), np.zeros(ids.shape, dtype=bool)
    for row, spans in enumerate(rows):
        filled = 0
        for segment, span in enumerate(spans):
            end = filled + span.stop - span.start
            ids[row, filled:end], answers[row, filled:end] = group.ids[span], group.answers[span]
            segments[row, filled:end] = segment
            filled = end
    return Batch(ids, segments, answers)
