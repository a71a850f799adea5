"""One way of decoding, answering in turn with others in the same run, so that noise hits all alike."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kestrel_engine.bench.scripted import ScriptedDrafter
from kestrel_engine.events import Event, Released, Round
from kestrel_engine.loader import LoadedModel
from kestrel_engine.options import DraftLength, SamplingOptions
from kestrel_engine.session import Session, Turn
from kestrel_engine.tally import Tally


def new_session(loaded: LoadedModel, rollback: str = "cursor", chunk: int | None = None) -> Session:
    """A session of its own on the loaded model."""
    shared = loaded.session
    mtp = shared.drafters.get("mtp")
    head = mtp.head if mtp else None
    return Session(shared.model, loaded.tokenizer, head, rollback, chunk or shared.prefill_chunk)


@dataclass(frozen=True, slots=True)
class Answered:
    ids: tuple[int, ...]
    decode_ms: float
    rounds: tuple[Round, ...]
    gaps_ms: tuple[float, ...]
    """Wall time from each round to the next: all that a round costs, Python included."""

    def count(self, tally: Tally) -> None:
        for event in self.rounds:
            times = (event.draft_ms, event.verify_ms, event.replay_ms)
            tally.add(len(event.tokens), event.drafted, event.accepted, bool(event.rejected), times)


class Contestant:
    """Answers through a session, as the chat does. The session is kept, so that the governor learns as there,
    and so is its state, emptied: what the backend prepares once for a state is not counted."""

    def __init__(
        self,
        loaded: LoadedModel,
        draft_length: DraftLength,
        drafter: str = "mtp",
        accept: Sequence[float] | None = None,
    ):
        """draft_length 0 is plain decoding. accept: hit rates of scripted drafts (None: natural acceptance)."""
        self.session = new_session(loaded)
        self.session.draft_length = draft_length
        self.drafter = drafter
        for _ in self.session.preparing():
            pass
        self._empty = self.session.state.snapshot()
        self._scripted = None
        if accept is not None:
            mtp = self.session.drafters.get("mtp")
            self._scripted = ScriptedDrafter(mtp, loaded.config.vocab_size, accept)
            self.session.drafters["scripted"] = self._scripted
            self.drafter = "scripted"

    def restart(self) -> None:
        """Begin the script anew: a repeat has the rounds of the one before."""
        if self._scripted is not None:
            self._scripted.restart()

    def answer(
        self, prompt: Sequence[int], tokens: int, sampling: SamplingOptions, plain_ids: Sequence[int] = ()
    ) -> Answered:
        """plain_ids: what plain decoding said; needed for scripted drafts alone."""
        if self._scripted is not None:
            self._scripted.stream = [*prompt, *plain_ids]
        self.session.state.restore(self._empty)
        rounds: list[Round] = []
        ids: list[int] = []
        stamps: list[float] = []

        def emit(event: Event) -> None:
            if isinstance(event, Round | Released):
                ids.extend(token.id for token in event.tokens)
            if isinstance(event, Round):
                rounds.append(event)
                stamps.append(time.perf_counter())

        # A plain run never drafts, but it must not ask for a head that the model lacks either.
        drafter = "lookup" if self.session.draft_length == 0 else self.drafter
        turn = Turn(prompt, sampling, tokens, drafter=drafter)
        ended = self.session.answer(turn, emit, lambda: False)
        gaps = [1e3 * (after - before) for before, after in itertools.pairwise(stamps)]
        return Answered(tuple(ids), ended.decode_ms, tuple(rounds), tuple(gaps))
