"""Whole passes on the CPU: recorded once per state and number of rows, then run in one native call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kestrel_engine.backend import WholeRound
from kestrel_engine.cpu.program import Program
from kestrel_engine.cpu.round import Rounds
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import State

KEPT_PROGRAMS = 64
"""Programs kept for one state; the longest unused is recorded again when it is wanted."""


MOST_INPUT_ROWS = 64
"""A power of two: rows that the MTP head takes together when it has missed many."""


class CpuModel(Model):
    """`Model` with its passes recorded. Their order of operations is that of `Model`, which records them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rounds = Rounds(self)

    def whole_round(self, state, next_token, draft_length, drafter, sampler) -> WholeRound | None:
        return self.rounds.run(state, next_token, draft_length, drafter, sampler)

    def preparing(self, state, head) -> Iterator[None]:
        return self.rounds.preparing(state, head)

    def draft(self, state, next_token, count, head, sampler) -> list[int]:
        drafts = self.rounds.draft(state, next_token, count, head, sampler)
        return super().draft(state, next_token, count, head, sampler) if drafts is None else drafts

    def _trunk(self, state: State, tokens: list[int], commit: int, slots) -> np.ndarray:
        key = ("trunk", len(tokens), id(slots[0]) if slots else None)
        program = self.program(
            state,
            key,
            len(tokens),
            lambda program: super(CpuModel, self)._trunk(state, tokens, commit, slots),
            slots or (),
        )
        log = state.log_length
        seconds = program.execute(state.length, commit, log, tokens)
        if log:
            self.replay_seconds += seconds * program.share("delta_replay")
        return program.output.copy()

    def _mtp_layer(self, state: State, tokens: list[int], hidden: np.ndarray) -> np.ndarray:
        missed = len(tokens) - 1 if len(tokens) > MAX_DRAFT + 1 else 0
        self._mtp_input(state, tokens[:missed], hidden[:missed])
        last = self._mtp_pass("mtp", super()._mtp_layer, state, tokens[missed:], hidden[missed:])
        return last.output.copy()

    def _mtp_input(self, state: State, tokens: list[int], hidden: np.ndarray) -> None:
        """In parts of a few sizes: a program for every number of rows would be recorded more than run."""
        start = 0
        while start < len(tokens):
            end = start + min(MOST_INPUT_ROWS, 1 << (len(tokens) - start).bit_length() - 1)
            self._mtp_pass("mtp input", super()._mtp_input, state, tokens[start:end], hidden[start:end])
            state.mtp.length += end - start
            start = end

    def _mtp_pass(self, name: str, record: Callable, state: State, tokens: list[int], hidden) -> Program:
        def operations(program: Program):
            program.input = np.empty((len(tokens), self.config.hidden_size), np.float32)
            return record(state, tokens, program.input)

        program = self.program(state, (name, len(tokens)), len(tokens), operations)
        program.input[...] = hidden
        program.execute(state.mtp.length, tokens=tokens)
        return program

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        return super().logits(np.ascontiguousarray(hidden))

    def program(self, state: State, key: tuple, rows: int, record: Callable, kept=()) -> Program:
        """The program for `key`, recorded if this state has none. A state keeps its arrays as long as it lives."""
        key = (*key, self.backend.threads)
        program = state.prepared.pop(key, None)
        if program is None:
            replay_seconds = self.replay_seconds
            with self.backend.recording(rows) as program:
                output = record(program)
            program.seal(output)
            program.keep(kept, state.layers, state.mtp)
            self.replay_seconds = replay_seconds
            self.prepared += 1
            while len(state.prepared) >= KEPT_PROGRAMS:
                del state.prepared[next(iter(state.prepared))]
        state.prepared[key] = program  # the newest at the end
        return program
