"""Something breaks, or the user stops, at any point of a turn: the next turn equals a fresh run."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import models
import numpy as np
import pytest
import rounds
from rounds import ROLLBACKS

from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Prefill, Released, Round
from kestrel_engine.options import SamplingOptions
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer

SAMPLING = SamplingOptions(temperature=1.0, top_k=50, seed=4)
"""Without penalties, so that a continued answer goes on as the whole one does."""
MAX_TOKENS = 8
CHUNK = 5
NEW = (301, 302, 303)
"""What a user adds."""


class Kernel(RuntimeError):
    """What breaks in these tests."""


class Watched:
    """A backend that tells `watch` the number of every operation, before and after it."""

    def __init__(self, backend, watch: Callable[[int, str], None]):
        self.backend, self.watch, self.count = backend, watch, 0

    def __getattr__(self, name):
        operation = getattr(self.backend, name)
        if not callable(operation):
            return operation

        def watched(*arguments):
            number, self.count = self.count, self.count + 1
            self.watch(number, "before")
            result = operation(*arguments)
            self.watch(number, "after")
            return result

        return watched


class BusyDrafter:
    """Asks the MTP head, and then drafts 3 tokens of which 2, 3, 0, 2, … are right."""

    name = "busy"

    def __init__(self, model, stream):
        self.mtp = MtpDrafter(model, make_draft_head(model, "all", ()))
        self.knowing = rounds.KnowingDrafter(stream, model.config.vocab_size, lambda n: (2, 3, 0)[n % 3])

    def reset(self):
        self.knowing.rounds = 0

    def draft(self, state, next_token, count, sampler):
        self.mtp.draft(state, next_token, count, sampler)
        return self.knowing.draft(state, next_token, count, sampler)


class Stage:
    """Two prompts with their plain answers, and a model whose operations can be watched."""

    def __init__(self, folder):
        self.model, self.tokenizer = models.load(folder), Tokenizer(folder)
        self.backend = self.model.backend
        whole = models.random_tokens(self.model, 11)
        self.prompts = [whole, whole[:6] + models.random_tokens(self.model, 6, 1)]
        self.answers = [rounds.plain_ids(self.model, p, SAMPLING, 2 * MAX_TOKENS) for p in self.prompts]
        self.twins = [rounds.Twin(self.model) for _ in self.prompts]
        for twin, prompt, ids in zip(self.twins, self.prompts, self.answers, strict=True):
            twin.at([*prompt, *ids])
        self.checks = itertools.cycle(
            [self._continue, self._again, self._longer, self._another, self._other_end]
        )

    def session(self, rollback="cursor"):
        session = rounds.make_session(self.model, self.tokenizer, rollback=rollback, prefill_chunk=CHUNK)
        session.drafters["busy"] = BusyDrafter(self.model, [*self.prompts[0], *self.answers[0]])
        return session

    def turn(self, prompt=None):
        prompt = self.prompts[0] if prompt is None else prompt
        return Turn(prompt, SAMPLING, MAX_TOKENS, drafter="busy", boundary=8)

    def watched(self, watch):
        self.model.backend = Watched(self.backend, watch)
        return self.model.backend

    def check_next_turn(self, session, kept):
        """A turn after `kept` emitted tokens: the chat goes on, or is asked again, or is edited."""
        self.model.backend = self.backend
        next(self.checks)(session, kept)

    def _continue(self, session, kept):
        prompt, ids = [*self.prompts[0], *self.answers[0][:kept]], self.answers[0][kept:]
        self._answers(session, prompt, ids, self.twins[0])

    def _again(self, session, kept):
        self._answers(session, self.prompts[0], self.answers[0], self.twins[0])

    def _another(self, session, kept):
        self._answers(session, self.prompts[1], self.answers[1], self.twins[1])

    def _longer(self, session, kept):
        """The state may stand at the last kept token, or behind it."""
        self._new(session, (*self.prompts[0], *self.answers[0][:kept], *NEW))

    def _other_end(self, session, kept):
        """Another token follows where the head may have guessed with the last kept one."""
        self._new(session, ((*self.prompts[0], *self.answers[0][:kept])[:-1] + NEW))

    def _new(self, session, prompt):
        self._answers(session, prompt, *self._plain(prompt))

    @functools.cache  # noqa: B019 - one stage a module
    def _plain(self, prompt):
        ids = rounds.plain_ids(self.model, prompt, SAMPLING, MAX_TOKENS)
        return ids, rounds.Twin(self.model)

    def _answers(self, session, prompt, ids, twin):
        ended, emitted, _ = rounds.answer(session, self.turn(prompt))
        assert emitted == ids[:MAX_TOKENS] and ended.finish_reason == "length"
        rounds.assert_same_state(self.model, session.state, twin.at([*prompt, *emitted[:-1]]))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return Stage(rounds.write_small(tmp_path_factory.mktemp("small")))


@pytest.fixture
def stage(small):
    yield small
    small.model.backend = small.backend


def operations(stage, rollback) -> int:
    """How many operations a whole turn has."""
    session = stage.session(rollback)  # a draft head is packed here, outside the turn
    counted = stage.watched(lambda number, moment: None)
    rounds.answer(session, stage.turn())
    stage.model.backend = stage.backend
    return counted.count


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("rollback", ROLLBACKS)
def test_an_exception_in_any_operation(stage, rollback, moment):
    """After: the kernel has written, the cursors have not moved."""
    count = operations(stage, rollback)
    assert count > 200
    step = 1 if rollback == "cursor" else 5
    for broken in range(0, count, step):
        session = stage.session(rollback)
        emitted = []

        def watch(number, now, broken=broken):
            if (number, now) == (broken, moment):
                raise Kernel(f"operation {number}")

        def keep(event, emitted=emitted):
            if isinstance(event, Round):
                emitted += [token.id for token in event.tokens]

        stage.watched(watch)
        with pytest.raises(Kernel, match=f"operation {broken}$"):
            session.answer(stage.turn(), keep, lambda: False)
        assert emitted == stage.answers[0][: len(emitted)]
        stage.check_next_turn(session, len(emitted))


@pytest.mark.parametrize("rollback", ROLLBACKS)
def test_cancelled_during_any_operation(stage, rollback):
    """No round and no chunk begins after it."""
    count = operations(stage, rollback)
    for moment in range(0, count, 3 if rollback == "cursor" else 11):
        session = stage.session(rollback)
        cancelled, seen = [], []

        def watch(number, now, moment=moment, cancelled=cancelled):
            if number == moment:
                cancelled.append(True)

        def note(event, seen=seen, cancelled=cancelled):
            if cancelled and isinstance(event, Round | Prefill):
                seen.append(event)

        stage.watched(watch)
        ended, ids, _ = rounds.answer(
            session, stage.turn(), note, lambda cancelled=cancelled: bool(cancelled)
        )
        assert ids == stage.answers[0][: len(ids)] and ended.tokens == len(ids)
        assert ended.finish_reason == ("cancelled" if len(ids) < MAX_TOKENS else "length")
        assert len(seen) <= 1
        stage.check_next_turn(session, len(ids))


@pytest.mark.parametrize("length", [0, 3])
def test_cancelled_whenever_it_is_looked_for(stage, length):
    """The n-th question whether to stop is answered yes, from before the first chunk on."""
    for stop in itertools.count():
        session = stage.session()
        session.draft_length = length
        asked = itertools.count()
        ended, ids, _ = rounds.answer(
            session, stage.turn(), cancelled=lambda asked=asked, stop=stop: next(asked) >= stop
        )
        assert ids == stage.answers[0][: len(ids)]
        if ended.finish_reason != "cancelled":
            break
        consumed = session.state.tokens
        assert consumed == [*stage.prompts[0], *ids][: len(consumed)]
        rounds.assert_same_state(stage.model, session.state, stage.twins[0].at(consumed))
        stage.check_next_turn(session, len(ids))
    assert stop > 5


def test_cancelling_shows_what_a_stop_string_held_back(stage):
    session = stage.session()
    whole, _, _ = rounds.answer(session, stage.turn())
    assert whole.text
    asked = itertools.count()
    turn = Turn(stage.prompts[0], SAMPLING, 99, stop=[whole.text + "\0never"])
    ended, ids, events = rounds.answer(session, turn, cancelled=lambda: next(asked) > 5)
    tokens = [token for event in events if isinstance(event, Round | Released) for token in event.tokens]
    assert ended.finish_reason == "cancelled" and ended.tokens == len(ids) > 0
    assert ended.text == "".join(token.text for token in tokens) == whole.text[: len(ended.text)]


def test_a_listener_that_raises(stage):
    """Whatever event it raises at."""
    for bad in range(8):
        session, seen = stage.session(), []

        def listen(event, seen=seen, bad=bad):
            seen.append(event)
            if len(seen) == bad + 1:
                raise Kernel("listener")

        with pytest.raises(Kernel):
            session.answer(stage.turn(), listen, lambda: False)
        kept = sum(len(event.tokens) for event in seen if isinstance(event, Round | Released))
        stage.check_next_turn(session, kept)


def test_a_failed_round_after_a_failed_round(stage, monkeypatch):
    """Operation by operation: a pass that was recorded in a failed turn would run whole in the next."""
    monkeypatch.setattr(stage, "model", models.stepwise(stage.model))
    session = stage.session()
    for broken in (40, 120, 200, 201, 202, 120, 5):

        def watch(number, now, broken=broken):
            if number == broken:
                raise Kernel

        stage.watched(watch)
        with pytest.raises(Kernel):
            rounds.answer(session, stage.turn())
    stage.check_next_turn(session, 0)


@pytest.mark.parametrize("length", [0, 3])
@pytest.mark.parametrize("sampling", [SamplingOptions(), SAMPLING], ids=["greedy", "sampled"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_output_that_is_no_number(stage, length, sampling, value):
    """Damaged weights: one line instead of one token for ever."""
    norm = stage.model.weights.norm
    original = norm.copy()
    session = stage.session()
    session.draft_length = length
    norm[:] = value
    try:
        with pytest.raises(KestrelError, match="not finite"):
            rounds.answer(session, Turn(stage.prompts[0], sampling))
    finally:
        norm[:] = original
    stage.check_next_turn(session, 0)
