"""The launches that choose tokens, for each way of choosing (settings.sampling_mode)."""

from __future__ import annotations

import numpy as np

from kestrel_cuda import ordered, sampling, sorting
from kestrel_cuda.arrays import Candidates, Settings, Vocabulary
from kestrel_cuda.memory import DeviceArray, Memory
from kestrel_cuda.target import SIMULATOR

CHUNKS = 2 if SIMULATOR else 128
"""Parts of the vocabulary whose best entries are found at once."""
TILE = 64 if SIMULATOR else 4096
"""Entries that a block sorts: a multiple of 32 for each of its warps."""


class Choice:
    """All that chooses, on one device memory."""

    def __init__(self, memory: Memory, warps: int):
        self.memory, self.threads = memory, 32 * warps
        self.most_threads = self.threads if SIMULATOR else 1024

    def candidates(self, most_rows: int, size: int) -> Candidates:
        """Scratch for rows of `size` logits."""

        def empty(dtype, *shape: int) -> DeviceArray:
            return self.memory.empty((most_rows, *shape), dtype)

        few = (CHUNKS, sampling.MOST_TOP_K)
        return Candidates(
            empty(np.float32, CHUNKS, 1),
            empty(np.float32, *few),
            empty(np.int32, *few),
            empty(np.int64, size),
            empty(np.int64, size),
            empty(np.int32, -(-size // TILE), sorting.DIGITS),
        )

    def every_id(self) -> Vocabulary:
        """Of rows whose logits stand at their tokens."""
        nothing = self.memory.zeros((1,), np.int32)
        return Vocabulary(nothing, nothing)

    def choose(
        self,
        logits: DeviceArray,
        vocabulary: Vocabulary,
        count: int,
        first_step: int,
        is_draft: bool,
        mode: int,
        settings: Settings,
        candidates: Candidates,
        outcome: tuple,
    ) -> None:
        """The token of each of `count` rows of logits, row m being step first_step + m of the round.

        outcome: (chosen int32, its logits float32, logits of the judged drafts float32, damaged int32), addressed
        by step.
        """
        rows = (logits, vocabulary.ids, vocabulary.places)
        draws = (settings.cursor, settings.integers, settings.reals)
        seen = (*rows, settings.flags, settings.tokens, first_step)
        steps = (*rows, settings.tokens, first_step, int(is_draft))
        last = (outcome, settings.stamps)
        if mode == sampling.ORDERED:
            grid = (-(-logits.shape[1] // self.threads), count)
            arguments = (*seen, settings.reals, candidates.entries, outcome[-1])
            self.memory.launch(ordered.make_entries, grid, self.threads, *arguments)
            self.sort(candidates, count)
            arguments = (*steps, *draws, candidates.entries, *last)
            threads = self.most_threads
            self.memory.launch(ordered.choose_ordered, count, threads, *arguments, shared=4 * threads)
            return
        if mode == sampling.ABOVE:
            largest = (candidates.largest, candidates.places)
            self._find(seen, sampling.GREEDY, draws, count, candidates, largest, outcome[-1])
        found = (candidates.found, candidates.places)
        chunks = self._find(seen, mode, draws, count, candidates, found, outcome[-1])
        self.memory.launch(
            sampling.choose_tokens,
            count,
            self.threads,
            *(*steps, mode, *draws, chunks, *found, *last),
            shared=4 * CHUNKS * sampling.MOST_TOP_K,
        )

    def _find(self, seen, mode: int, draws, count: int, candidates, found, damaged) -> int:
        """-> the number of chunks."""
        size = seen[0].shape[1]
        chunk = -(-size // CHUNKS)
        chunks = -(-size // chunk)
        arguments = (*seen, mode, *draws, chunk, candidates.largest, *found, damaged)
        launch = self.memory.launch
        launch(sampling.find_candidates, (chunks, count), self.threads, *arguments, shared=4 * chunk)
        return chunks

    def sort(self, candidates: Candidates, count: int) -> None:
        """The first `count` rows of entries by their keys."""
        entries, moved, launch = candidates.entries, candidates.moved, self.memory.launch
        grid = (-(-entries.shape[1] // TILE), count)
        shared = 4 * sorting.DIGITS * (self.threads // 32)
        for shift in sorting.SHIFTS:
            arguments = (shift, TILE, candidates.counts)
            launch(sorting.count_digits, grid, self.threads, entries, *arguments)
            launch(sorting.move_entries, grid, self.threads, entries, moved, *arguments, shared=shared)
            entries, moved = moved, entries

    def log_sum_exp(self, logits: DeviceArray, count: int, out: DeviceArray) -> None:
        threads = self.most_threads
        self.memory.launch(sampling.log_sum_exp, count, threads, logits, out, shared=4 * threads)
