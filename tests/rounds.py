"""Yardsticks for rounds: plain decoding as a loop of its own, drafters that know or never know, and states
laid out so that they can be compared bit for bit."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import checkpoints
import numpy as np

from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import Drafter, FirstHit, LookupDrafter, MtpDrafter
from kestrel_engine.events import Event, Released, Round
from kestrel_engine.model import Model
from kestrel_engine.options import SamplingOptions
from kestrel_engine.rollback import make_rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.session import Session, Turn
from kestrel_engine.speculate import RoundResult, run_round
from kestrel_engine.state import CONV_HISTORY, State
from kestrel_engine.tokenizer import Tokenizer

GREEDY = SamplingOptions()
SAMPLED = SamplingOptions(temperature=1.0, seed=7)
SAMPLINGS = {
    "greedy": GREEDY,
    "temperature": SAMPLED,
    "filters": SamplingOptions(temperature=0.8, top_k=40, top_p=0.9, min_p=0.02, seed=3),
    "penalties": SamplingOptions(
        temperature=0.7, top_k=20, presence_penalty=1.5, repetition_penalty=1.2, seed=5
    ),
    "greedy with penalties": SamplingOptions(presence_penalty=0.5, repetition_penalty=1.3),
}
ROLLBACKS = ("cursor", "snapshot", "rerun")
FORMATS = ("bf16", "q8", "q4")


def write_small(folder: Path, **options) -> Path:
    """A checkpoint with one recurrent and one attention layer: few operations in a pass."""
    return checkpoints.write_checkpoint(
        folder, **({"num_hidden_layers": 2, "full_attention_interval": 2, "hidden_size": 32} | options)
    )


# --- plain decoding ---------------------------------------------------------------------------------------


def plain_ids(model: Model, prompt: Sequence[int], sampling: SamplingOptions, count: int) -> list[int]:
    """`count` tokens after `prompt`, one row a pass, without rounds."""
    state, sampler = model.new_state(), Sampler(sampling, model.backend, prompt)
    for token in prompt[:-1]:
        model.forward(state, [token], 1)
    ids, token = [], prompt[-1]
    for _ in range(count):
        hidden = model.forward(state, [token], 1)
        token = sampler.sample(model.logits(hidden)[0], state.length)
        sampler.emit(token)
        ids.append(token)
    return ids


def fresh_state(model: Model) -> State:
    """An empty state whose unwritten cache rows are NaN: whoever reads them shows it."""
    state = model.new_state()
    for cache in [*state.caches, *([state.mtp] if state.mtp else [])]:
        cache.keys.fill(np.nan)
        cache.values.fill(np.nan)
    return state


# --- states -----------------------------------------------------------------------------------------------


def settled(model: Model, state: State) -> dict[str, np.ndarray]:
    """All that `state` remembers of its tokens, with the log applied and the MTP head caught up."""
    state.check()
    state = copy.deepcopy(state)
    if state.mtp is not None:
        model.fill_mtp(state)
    found = {"tokens": np.array(state.tokens, np.int64)}
    window = [position % 16 for position in range(max(0, state.length - CONV_HISTORY), state.length)]
    for n, layer in enumerate(state.delta_layers):
        model.backend.delta_replay(layer)
        found[f"recurrent state {n}"] = layer.state
        found[f"convolution window {n}"] = layer.ring[window]
    for n, cache in enumerate(state.caches):
        found[f"keys {n}"] = cache.key_rows(state.length)
        found[f"values {n}"] = cache.values[:, : state.length]
    if state.mtp is not None and state.length:
        assert state.mtp.length in (state.length - 1, state.length)
        found["MTP keys"] = state.mtp.key_rows(state.length - 1)
        found["MTP values"] = state.mtp.values[:, : state.length - 1]
        found["newest hidden row"] = state.hidden_tail[-1]
    return found


def assert_same_state(model: Model, state: State, expected: dict[str, np.ndarray]) -> None:
    """`state` has the bits of `expected` (from `settled`)."""
    ours = settled(model, state)
    assert ours.keys() == expected.keys()
    for name, values in ours.items():
        assert values.shape == expected[name].shape, name
        assert np.array_equal(_bits(values), _bits(expected[name])), name


def _bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.int32)


class Twin:
    """A plain run that consumes what it is told, one token a pass, and remembers how it looked at every length."""

    def __init__(self, model: Model):
        self.model, self.state = model, model.new_state()
        self.looks = [settled(model, self.state)]

    def at(self, tokens: Sequence[int]) -> dict[str, np.ndarray]:
        """The settled state after exactly `tokens`, which must go on with what was told before, or begin it."""
        known = min(len(tokens), self.state.length)
        assert list(tokens[:known]) == self.state.tokens[:known]
        for token in tokens[known:]:
            self.model.forward(self.state, [token], 1)
            self.looks.append(settled(self.model, self.state))
        return self.looks[len(tokens)]


# --- drafters ---------------------------------------------------------------------------------------------


class KnowingDrafter:
    """Knows the stream that plain decoding gives; `right(round)` says how many drafts of a round to get right."""

    name = "knowing"

    def __init__(self, stream: Sequence[int], vocabulary: int, right: Callable[[int], int]):
        self.stream, self.vocabulary, self.right = list(stream), vocabulary, right
        self.rounds = 0

    def reset(self) -> None:
        pass

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        right, self.rounds = self.right(self.rounds), self.rounds + 1
        truth = self.stream[state.length + 1 : state.length + 1 + count]
        return [token if n < right else (token + 1) % self.vocabulary for n, token in enumerate(truth)]


class RandomDrafter:
    """Any ids at all."""

    name = "random"

    def __init__(self, vocabulary: int):
        self.vocabulary, self.generator = vocabulary, random.Random(5)

    def reset(self) -> None:
        pass

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        return [self.generator.randrange(self.vocabulary) for _ in range(count)]


DRAFTERS = ("mtp", "lookup", "right", "wrong", "random", "right until")


def make_drafter(kind: str, model: Model, stream: Sequence[int]) -> Drafter:
    """kind: one of DRAFTERS. `stream`: prompt and plain continuation."""
    vocabulary = model.config.vocab_size
    if kind == "mtp":
        return MtpDrafter(model, make_draft_head(model, "all", ()))
    if kind == "lookup":
        return LookupDrafter()
    if kind == "random":
        return RandomDrafter(vocabulary)
    until = {"right": lambda n: 99, "wrong": lambda n: 0, "right until": lambda n: (5 * n + 1) % 9}[kind]
    return KnowingDrafter(stream, vocabulary, until)


# --- running ----------------------------------------------------------------------------------------------


def prefill(model: Model, state: State, tokens: Sequence[int], chunk: int) -> None:
    for start in range(0, len(tokens), chunk):
        part = list(tokens[start : start + chunk])
        model.forward(state, part, len(part))


def rounds(
    model: Model,
    state: State,
    prompt: Sequence[int],
    sampling: SamplingOptions,
    lengths: Iterator[int],
    drafter: Drafter,
    rollback: str = "cursor",
) -> Iterator[RoundResult]:
    """Rounds without end on a state that has consumed prompt[:-1]."""
    sampler, scheme, token = Sampler(sampling, model.backend, prompt), make_rollback(rollback), prompt[-1]
    for length in lengths:
        result = run_round(
            model, state, token, length, FirstHit([drafter]), scheme, sampler, stop=lambda token: False
        )
        yield result
        token = result.tokens[-1].id


def make_session(model: Model, tokenizer: Tokenizer | None = None, **options) -> Session:
    """A session with every draft row, speculating by 3."""
    head = make_draft_head(model, "all", ()) if model.config.has_mtp else None
    session = Session(model, tokenizer, head, **options)
    session.draft_length = 3
    return session


def answer(
    session: Session, turn: Turn, emit: Callable[[Event], None] = lambda event: None, cancelled=lambda: False
):
    """Answer a turn -> its TurnEnded, the ids of the released tokens, all events."""
    events: list[Event] = []

    def both(event: Event) -> None:
        events.append(event)
        emit(event)

    ended = session.answer(turn, both, cancelled)
    ids = [token.id for event in events if isinstance(event, Round | Released) for token in event.tokens]
    return ended, ids, events
