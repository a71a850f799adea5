"""A chat's model state across turns, and the answering of one turn.

The state is reused as far as the new prompt repeats the tokens it has consumed. A recurrent state cannot be
cut, so snapshots are taken where the next turn's prompt will probably part from this one; they are always of
consumed tokens only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kestrel_engine.answer import Answer
from kestrel_engine.draft_head import DraftHead
from kestrel_engine.drafter import Drafter, FirstHit, LookupDrafter, MtpDrafter
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import (
    SPECULATION_OFF,
    Event,
    FinishReason,
    Notice,
    Prefill,
    Released,
    Round,
    TurnEnded,
    TurnStarted,
)
from kestrel_engine.governor import Governor
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT, DraftLength, SamplingOptions
from kestrel_engine.rollback import make_rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import RoundResult, run_round
from kestrel_engine.state import Snapshot, State
from kestrel_engine.tokenizer import Tokenizer

SNAPSHOT_LIMIT = 16
SNAPSHOT_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Turn:
    """What to answer. `boundary`: tokens of the prompt that a later turn will probably repeat."""

    prompt: Sequence[int]
    sampling: SamplingOptions
    max_tokens: int = 1024
    stop: Sequence[str] = ()
    drafter: str = "auto"
    boundary: int = 0
    reasoning: bool = False
    """The prompt ends inside an open `<think>`."""


class Session:
    """`draft_length` may be changed at any time, from any thread; the next round follows it."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        draft_head: DraftHead | None,
        rollback: str = "cursor",
        prefill_chunk: int = 64,
        largest_context: int | None = None,
    ):
        """largest_context: tokens that `--context` could have asked for; None if no more than there are."""
        self.model, self.tokenizer, self.prefill_chunk = model, tokenizer, prefill_chunk
        self._largest_context = largest_context or 0
        self.state: State = model.new_state()
        self.draft_length: DraftLength = "auto"
        self.governor = Governor()
        """Of the newest answer. Each way of sampling has its own: it changes what a row costs and what is accepted."""
        self._governors: dict[SamplingOptions, Governor] = {}
        self.rollback = make_rollback(rollback)
        self.drafters: dict[str, Drafter] = {"lookup": LookupDrafter()}
        if draft_head is not None:
            self.drafters["mtp"] = MtpDrafter(model, draft_head)
        self._snapshots: list[Snapshot] = []

    def preparing(self) -> Iterator[None]:
        """Make beforehand what rounds will need, a piece before each yield; a turn may begin between two."""
        mtp = self.drafters.get("mtp")
        return self.model.preparing(self.state, mtp.head if isinstance(mtp, MtpDrafter) else None)

    def answer(self, turn: Turn, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> TurnEnded:
        """Consume the prompt and generate; events go to `emit`, the end of the turn is returned.

        Raises KestrelError when the prompt is empty or does not fit into the context, and when the MTP head
        should draft but the model has none. Whatever is raised, the session can take another turn.
        """
        prompt = [int(token) for token in turn.prompt]
        answer = Answer(self.tokenizer, self.model.config.eos_token_ids, turn.stop, turn.max_tokens)
        if cancelled():  # while the text became tokens, or before: the state stays as it is
            emit(TurnStarted(len(prompt), 0, turn.sampling.seed, turn.reasoning))
            answer.end("cancelled")
            return _ended(turn, answer)
        self._check_prompt(prompt)
        drafter = self._drafter(turn.drafter)
        start = time.perf_counter()
        reused = self._reuse(prompt[:-1])
        emit(TurnStarted(len(prompt), reused, turn.sampling.seed, turn.reasoning))
        finished = self._prefill(prompt[:-1], turn.boundary, emit, cancelled)
        prefilled = time.perf_counter()
        if finished:
            self._generate(turn, prompt, answer, drafter, emit, cancelled)
        else:
            answer.end("cancelled")
        return _ended(turn, answer, prefilled - start, time.perf_counter() - prefilled)

    # --- the prompt ----------------------------------------------------------------------------------------

    def _check_prompt(self, prompt: Sequence[int]) -> None:
        if not prompt:
            raise KestrelError("the prompt is empty: type something")
        limit = self.state.capacity
        if len(prompt) >= limit:
            advice = f"shorten it or start a new chat{self._more_context()}"
            raise KestrelError(f"the prompt has {len(prompt)} tokens and the context holds {limit}: {advice}")
        outside = next((t for t in prompt if not 0 <= t < self.model.config.vocab_size), None)
        if outside is not None:
            raise KestrelError(
                f"token {outside} is not in the model's vocabulary: the tokenizer is another model's"
            )

    def _more_context(self) -> str:
        """Advice that goes on after another, where more could have been asked for."""
        if self._largest_context <= self.state.capacity:
            return ""
        return f", or raise --context (to {self._largest_context} at most)"

    def _reuse(self, wanted: list[int]) -> int:
        """Bring the state to the longest prefix of `wanted` that it can have; returns its length."""
        held = self.state.tokens
        common = next((n for n, (a, b) in enumerate(zip(held, wanted, strict=False)) if a != b), None)
        common = min(len(held), len(wanted)) if common is None else common
        if not (self.state.usable and common == len(held)):
            self._snapshots = [s for s in self._snapshots if s.length <= common]
            if self._snapshots:
                self.state.restore(self._snapshots[-1])
            else:
                self.state.clear()
        for drafter in self.drafters.values():
            drafter.reset()
        return self.state.length

    def _prefill(self, wanted: list[int], boundary: int, emit, cancelled) -> bool:
        """Consume the rest of `wanted` in chunks, with a snapshot at the boundary; False when cancelled."""
        reused = self.state.length
        boundary = min(boundary, len(wanted))
        emit(Prefill(reused, len(wanted), reused))
        self._snapshot_at(boundary)
        while self.state.length < len(wanted):
            if cancelled():
                return False
            start = self.state.length
            end = min(start + self.prefill_chunk, len(wanted))
            if start < boundary < end:
                end = boundary
            self.model.forward(self.state, wanted[start:end], end - start)
            self._snapshot_at(boundary)
            emit(Prefill(end, len(wanted), reused))
        return not cancelled()

    def _snapshot_at(self, boundary: int) -> None:
        if self.state.length != boundary or boundary == 0:
            return
        snapshot = self.state.snapshot()
        self._snapshots = [s for s in self._snapshots if s.length < snapshot.length] + [snapshot]
        budget = max(1, min(SNAPSHOT_LIMIT, SNAPSHOT_BYTES // max(snapshot.bytes, 1)))
        del self._snapshots[:-budget]

    # --- the answer ----------------------------------------------------------------------------------------

    def _generate(
        self, turn: Turn, prompt: list[int], answer: Answer, drafter: FirstHit, emit, cancelled
    ) -> None:
        sampler = Sampler(turn.sampling, self.model.backend, prompt)
        self.governor = self._governors.setdefault(replace(turn.sampling, seed=0), Governor())
        next_token, index = prompt[-1], 0
        while answer.finish_reason is None:
            if cancelled():
                self._end(answer, "cancelled", emit)
                return
            room = self.state.capacity - self.state.length - 1
            if room < 0:
                advice = f"start a new chat{self._more_context()}"
                emit(Notice(f"the context of {self.state.capacity} tokens is full: {advice}"))
                self._end(answer, "length", emit)
                return
            proposer = drafter.proposer(self.state, next_token)
            pairs = self._pairs_for_mtp()
            length, reason = self._choose_length(min(room, answer.remaining - 1), proposer)
            prepared = self.model.prepared
            result = run_round(
                self.model, self.state, next_token, length, drafter, self.rollback, sampler, answer.stops_at
            )
            if self.draft_length == "auto" and not result.stopped:
                # The last round may end before its drafts and says nothing. The first one, and one after many
                # without drafts, also give the MTP head all the tokens it has missed.
                usual = index > 0 and prepared == self.model.prepared
                self.governor.record(
                    proposer,
                    len(result.drafts),
                    result.accepted,
                    result.draft_ms if usual and pairs <= MAX_DRAFT + 1 else None,
                    result.verify_ms + result.replay_ms if usual else None,
                )
            self._emit_round(index, result, reason, answer, emit)
            next_token, index = result.tokens[-1].id, index + 1

    def _drafter(self, name: str) -> FirstHit:
        if name == "auto":
            chosen = [self.drafters[key] for key in ("lookup", "mtp") if key in self.drafters]
        elif name in self.drafters:
            chosen = [self.drafters[name]]
        else:
            raise KestrelError("this model has no MTP head: use --drafter lookup")
        return FirstHit(chosen)

    def _pairs_for_mtp(self) -> int:
        """Tokens that the MTP head would take before it drafts."""
        return self.state.length - self.state.mtp.length if self.state.mtp is not None else 0

    def _choose_length(self, limit: int, proposer: str | None) -> tuple[int, str]:
        wanted = self.draft_length
        limit = max(0, min(limit, MAX_DRAFT))
        if wanted == "auto":
            return self.governor.choose(limit, proposer)
        if wanted == 0:
            return 0, SPECULATION_OFF
        if limit < wanted:
            return limit, "the answer or the context ends soon"
        return wanted, "fixed"

    def _emit_round(self, index: int, result: RoundResult, reason: str, answer: Answer, emit) -> None:
        first = self.state.length - (len(result.tokens) - 1)
        drafted_kind = "replayed" if result.rejected else "accepted"
        answer.describe(
            [
                (id, "own" if draft_index is None else drafted_kind, position, index, draft_index, logprob)
                for position, (id, draft_index, logprob) in enumerate(result.tokens, first)
            ]
        )
        emit(
            Round(
                index=index,
                tokens=answer.release(),
                drafted=len(result.drafts),
                accepted=result.accepted,
                drafter=result.drafter,
                rejected=result.rejected,
                draft_ms=result.draft_ms,
                verify_ms=result.verify_ms,
                replay_ms=result.replay_ms,
                reason=reason,
                rejected_texts=tuple(self.tokenizer.decode([id]) for id in result.rejected),
                rejected_logprob=result.rejected_logprob,
            )
        )

    def _end(self, answer: Answer, reason: FinishReason, emit) -> None:
        """End the answer between rounds, and show what was held back."""
        tokens = answer.end(reason)
        if tokens:
            emit(Released(tokens))


def _ended(
    turn: Turn, answer: Answer, prefill_seconds: float = 0.0, decode_seconds: float = 0.0
) -> TurnEnded:
    return TurnEnded(
        finish_reason=answer.finish_reason,
        text=answer.text,
        tokens=answer.count,
        prompt_tokens=len(turn.prompt),
        prefill_ms=1e3 * prefill_seconds,
        decode_ms=1e3 * decode_seconds,
        seed=turn.sampling.seed,
    )
