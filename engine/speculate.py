"""One round: draft, verify, accept, commit (docs/design.md §3). Plain decoding is a round with no drafts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kestrel_engine.backend import WholeRound
from kestrel_engine.drafter import FirstHit
from kestrel_engine.model import Model
from kestrel_engine.rollback import CursorRollback, Rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.state import State

Stop = Callable[[int], bool]
"""Told each emitted token in order; True when the answer ends with it."""


class EmittedToken(NamedTuple):
    id: int
    draft_index: int | None
    logprob: float


@dataclass(slots=True)
class RoundResult:
    """`tokens` were emitted; the last of them is certain and not yet consumed. Times in milliseconds."""

    tokens: list[EmittedToken]
    drafts: list[int]
    accepted: int
    """Drafts that were right and emitted."""
    rejected: tuple[int, ...]
    """Drafts from the first wrong one on; none when the answer ended before it: those were not needed."""
    rejected_logprob: float | None
    """Natural log of the model's probability of the first of `rejected`; None without one."""
    drafter: str
    stopped: bool
    draft_ms: float
    verify_ms: float
    replay_ms: float


def run_round(
    model: Model,
    state: State,
    next_token: int,
    draft_length: int,
    drafter: FirstHit,
    rollback: Rollback,
    sampler: Sampler,
    stop: Stop,
) -> RoundResult:
    """Consume `next_token`, verify up to `draft_length` drafts behind it, and emit what the model says.

    `state` ends where plain decoding of the same emitted tokens would have left it: everything emitted before
    the last token is consumed. When something raises, the state is unusable.
    """
    try:
        return _round(model, state, next_token, draft_length, drafter, rollback, sampler, stop)
    except BaseException:
        state.usable = False
        raise


def _round(model, state, next_token, draft_length, drafter, rollback, sampler, stop) -> RoundResult:
    start = time.perf_counter()
    rollback.seconds = 0.0
    whole = None
    if isinstance(rollback, CursorRollback):
        model.replay_seconds = 0.0
        whole = model.whole_round(state, next_token, draft_length, drafter, sampler)
        rollback.seconds = model.replay_seconds
    if whole is None:
        whole = _step_by_step(model, state, next_token, draft_length, drafter, rollback, sampler)
    drafts, right = whole.drafts, len(whole.chosen) - 1

    tokens, stopped = [], False
    for index, token in enumerate(whole.chosen):
        draft_index = index if index < right else None
        tokens.append(EmittedToken(token, draft_index, whole.logprobs[index]))
        sampler.emit(token)
        if stop(token):
            stopped = True
            break
    rollback.settle(model, state, len(tokens) - 1)
    whole_ms = 1e3 * (time.perf_counter() - start)
    draft_ms, replay_ms = 1e3 * whole.draft_seconds, 1e3 * rollback.seconds
    needed = len(tokens) > right  # the model's own token was emitted
    return RoundResult(
        tokens=tokens,
        drafts=drafts,
        accepted=min(len(tokens), right),
        rejected=tuple(drafts[right:]) if needed else (),
        rejected_logprob=whole.rejected_logprob if needed else None,
        drafter=drafter.last if drafts else "none",
        stopped=stopped,
        draft_ms=draft_ms,
        verify_ms=whole_ms - draft_ms - replay_ms,
        replay_ms=replay_ms,
    )


def _step_by_step(model, state, next_token, draft_length, drafter, rollback, sampler) -> WholeRound:
    start = time.perf_counter()
    drafts = drafter.draft(state, next_token, draft_length, sampler) if draft_length else []
    drafted = time.perf_counter()

    position = state.length  # of next_token
    hidden = rollback.verify(model, state, [next_token, *drafts])
    logits = model.logits(hidden)  # [1 + len(drafts), V]
    chosen = [sampler.sample(logits[0], position + 1)]
    while len(chosen) <= len(drafts) and chosen[-1] == drafts[len(chosen) - 1]:
        chosen.append(sampler.sample(logits[len(chosen)], position + 1 + len(chosen), chosen))
    right = len(chosen) - 1

    logprobs = [sampler.logprobs(logits[m], [chosen[m]])[0] for m in range(right)]
    own, *refused = sampler.logprobs(logits[right], [chosen[right], *drafts[right : right + 1]])
    return WholeRound(drafts, chosen, [*logprobs, own], refused[0] if refused else None, drafted - start)
