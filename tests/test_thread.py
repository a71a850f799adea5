"""The engine thread: commands in, events out, in order; what fails is an event and leaves a usable engine."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import engines
import pytest
from engines import Running, ids_of

from kestrel_engine.cpu.model import CpuModel
from kestrel_engine.cpu.program import Program
from kestrel_engine.errors import UsageError
from kestrel_engine.events import (
    Cancel,
    Failed,
    Loading,
    Prefill,
    Quit,
    Ready,
    Round,
    SetSpeculation,
    Submit,
    TurnEnded,
    TurnStarted,
)
from kestrel_engine.options import EngineOptions, SamplingOptions, SpeculationOptions
from kestrel_engine.thread import Engine
from kestrel_engine.tokenizer import Tokenizer

SAMPLING = SamplingOptions(temperature=1.0, seed=3)


def ask(text="Tell me a story", length=3, drafter="mtp", max_tokens=24, **more) -> Submit:
    return Submit(
        raw=text,
        sampling=SAMPLING,
        speculation=SpeculationOptions(length, drafter),
        max_tokens=max_tokens,
        **more,
    )


@pytest.fixture(scope="module")
def running(echo_model):
    """One engine for all tests that leave it usable; each starts without a hook and with nothing queued."""
    with Running(echo_model) as engine:
        yield engine


def test_a_collection_in_an_answer_does_not_walk_through_what_was_loaded(echo_model):
    """It would stop the answer for as long as dozens of tokens of a small model take."""
    gc.unfreeze()
    with Running(echo_model):
        assert gc.get_freeze_count() > 10 * len(gc.get_objects())


def test_a_model_goes_with_its_engine(echo_model):
    """At once: gigabytes would stay until Python looks for things that hold themselves."""
    gc.disable()
    try:
        with Running(echo_model) as engine:
            for drafter in ("mtp", "lookup", "auto"):
                engine.ask(ask(drafter=drafter))
            session = engine.session
            for _ in session.preparing():
                pass
            head = session.drafters["mtp"].head
            parts = [session, session.model, session.model.backend, head, *session.state.prepared.values()]
            gone = [weakref.ref(each) for each in parts if hasattr(each, "__weakref__")]
        del session, head, parts
        assert len(gone) > 10
        assert not [each() for each in gone if each() is not None]
    finally:
        gc.enable()


@pytest.fixture(autouse=True)
def unhooked(request):
    yield
    if "running" in request.fixturenames:
        engine = request.getfixturevalue("running")
        engine.hook = lambda event: None
        assert engine.events.empty()


@pytest.fixture(scope="module")
def expected(running):
    """The ids of `ask()`'s answer with speculation off."""
    return ids_of(running.ask(ask(length=0)))


def on_round(number: int, action):
    """A hook that calls `action` at the `number`-th round's event of the first answer, once."""
    seen = []

    def hook(event):
        if isinstance(event, Round):
            seen.append(event)
            if len(seen) == number:
                action()

    return hook


# --- order ------------------------------------------------------------------------------------------------


def test_loading_then_ready(running, echo_model):
    kinds = [type(event) for event in running.loading]
    assert kinds[0] is Loading and kinds[-1] is Ready and set(kinds[:-1]) == {Loading}
    fractions = [e.fraction for e in running.loading[:-1] if e.stage.startswith("packing")]
    assert fractions == sorted(fractions) and fractions[-1] == 1
    ready = running.loading[-1]
    assert (ready.model, ready.format, ready.device, ready.threads) == (echo_model.name, "bf16", "cpu", 1)
    assert (ready.context, ready.speculation_possible) == (256, True) and ready.load_ms > 0
    assert running.engine.defaults == SamplingOptions()


def test_the_events_of_a_turn(running, expected):
    threads = set()
    running.hook = lambda event: threads.add(threading.current_thread())
    events = running.ask(ask())
    kinds = [type(event) for event in events]
    first_round = kinds.index(Round)
    assert kinds[0] is TurnStarted and kinds[-1] is TurnEnded
    assert set(kinds[1:first_round]) == {Prefill} and set(kinds[first_round:-1]) == {Round}
    rounds = events[first_round:-1]
    assert [event.index for event in rounds] == list(range(len(rounds)))
    assert ids_of(events) == expected and events[-1].tokens == len(expected)
    assert events[-1].text == "".join(token.text for event in rounds for token in event.tokens)
    assert events[-1].seed == events[0].seed == SAMPLING.seed
    assert threads == {running.thread}


def test_turns_are_answered_in_order(running):
    for text in ("one", "two", "three"):
        running.engine.send(ask(text, max_tokens=3))
    alone = [running.until(TurnEnded) for _ in range(3)]
    for text, events in zip(("one", "two", "three"), alone, strict=True):
        assert ids_of(events) == ids_of(running.ask(ask(text, max_tokens=3)))


def test_kinds_and_drafts_of_tokens(running):
    events = running.ask(ask(length=4, max_tokens=40))
    for event in events:
        if not isinstance(event, Round):
            continue
        *drafted, own = event.tokens
        assert (own.kind, own.draft_index) == ("own", None) or event is events[-2]
        kind = "accepted" if event.accepted == event.drafted else "replayed"
        assert {token.kind for token in drafted} <= {kind}
        assert [token.draft_index for token in drafted] == list(range(len(drafted)))
        assert len(event.rejected) == event.drafted - event.accepted
        assert (event.rejected_logprob is not None) == bool(event.rejected)


# --- cancelling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 4])
def test_cancel_takes_effect_before_the_next_round(running, expected, number):
    running.hook = on_round(number, lambda: running.engine.send(Cancel()))
    events = running.ask(ask())
    assert events[-1].finish_reason == "cancelled"
    assert sum(isinstance(event, Round) for event in events) == number
    kept = ids_of(events)
    assert kept == expected[: len(kept)] and events[-1].tokens == len(kept)
    assert ids_of(running.ask(ask())) == expected


def test_cancel_while_the_prompt_is_read(running, expected):
    def hook(event):
        if isinstance(event, Prefill):
            running.engine.send(Cancel())

    running.hook = hook
    events = running.ask(ask("a longer prompt " * 8))
    assert (events[-1].finish_reason, events[-1].tokens) == ("cancelled", 0)
    assert sum(isinstance(event, Prefill) for event in events) == 1
    running.hook = lambda event: None
    assert ids_of(running.ask(ask())) == expected


@pytest.mark.parametrize("text", ["a long text", "far too long for the context " * 100])
def test_cancel_while_a_text_becomes_tokens(running, expected, monkeypatch, text):
    running.ask(ask())
    loaded, encode = running.engine._loaded, Tokenizer.encode
    held = list(loaded.session.state.tokens)

    def slow(self, text: str) -> list[int]:
        running.engine.send(Cancel())
        return encode(self, text)

    with monkeypatch.context() as patch:
        patch.setattr(Tokenizer, "encode", slow)
        events = running.ask(ask(text))
    assert [type(event) for event in events] == [TurnStarted, TurnEnded]
    assert (events[-1].finish_reason, events[-1].tokens) == ("cancelled", 0)
    assert events[-1].prompt_tokens == len(encode(loaded.tokenizer, text))
    assert loaded.session.state.tokens == held, "what the state holds is of use to the next turn"
    assert ids_of(running.ask(ask())) == expected


def test_cancel_reaches_queued_turns_and_no_later_ones(running, expected):
    def act():
        running.engine.send(ask("queued"))
        running.engine.send(ask("queued too"))
        running.engine.send(Cancel())
        running.engine.send(ask())

    running.hook = on_round(2, act)
    answers = [running.ask(ask("running")), *(running.until(TurnEnded) for _ in range(3))]
    assert [events[-1].finish_reason for events in answers] == ["cancelled"] * 3 + ["length"]
    assert [events[-1].tokens for events in answers[1:3]] == [0, 0]
    assert ids_of(answers[3]) == expected


def test_cancel_when_nothing_runs_is_nothing(running, expected):
    running.engine.send(Cancel())
    assert ids_of(running.ask(ask())) == expected


# --- speculation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "then"), [(3, 0), (0, 8), (2, 5), (8, "auto"), ("auto", 0)])
def test_speculation_changes_in_mid_answer(running, expected, start, then):
    running.hook = on_round(2, lambda: running.engine.send(SetSpeculation(then)))
    events = running.ask(ask(length=start))
    assert ids_of(events) == expected
    drafted = [event.drafted for event in events if isinstance(event, Round)]
    if start != "auto":
        assert drafted[:2] == [start, start]
    if then != "auto":
        assert drafted[2] == then and max(drafted[2:]) == then


def test_a_submit_brings_its_own_length(running, expected):
    running.engine.send(SetSpeculation(8))
    events = running.ask(ask(length=0))
    assert {event.drafted for event in events if isinstance(event, Round)} == {0}
    assert ids_of(events) == expected


def test_set_for_a_turn_that_waits(running):
    """It came after that turn's Submit, so it is newer."""

    def act():
        running.engine.send(ask("next", length=8))
        running.engine.send(SetSpeculation(0))

    running.hook = on_round(1, act)
    first, second = running.ask(ask(length=5)), running.until(TurnEnded)
    drafted = [event.drafted for event in first if isinstance(event, Round)]
    assert drafted[0] == 5 and set(drafted[1:]) == {0}
    assert {event.drafted for event in second if isinstance(event, Round)} == {0}


def test_an_impossible_length_is_refused_at_once(running, expected):
    for length in (-1, 9, "fast", None):
        with pytest.raises(UsageError, match="use auto, off, or 1 to 8"):
            running.engine.send(SetSpeculation(length))
    assert ids_of(running.ask(ask())) == expected


# --- failures ---------------------------------------------------------------------------------------------


def is_one_line(event: Failed) -> bool:
    return "\n" not in event.message and ": " in event.message and len(event.message) < 400


@pytest.mark.parametrize(
    "owner, operation",
    [(Program, "run"), (CpuModel, "program"), (CpuModel, "_end_pass")],
)
@pytest.mark.parametrize("calls", [1, 4])
def test_an_exception_in_a_kernel(running, expected, monkeypatch, caplog, owner, operation, calls):
    original, left = getattr(owner, operation), [calls]

    def breaks(self, *arguments, **more):
        left[0] -= 1
        if left[0] == 0:
            raise SystemError("the kernel\nbroke")
        return original(self, *arguments, **more)

    monkeypatch.setattr(owner, operation, breaks)
    with caplog.at_level(logging.ERROR, "kestrel.engine"):
        events = running.ask(ask())
    failed = events[-1]
    assert isinstance(failed, Failed) and not failed.fatal and failed.exit_status == 1
    assert is_one_line(failed) and "the kernel broke" in failed.message
    assert caplog.records and caplog.records[-1].exc_info
    kept = ids_of(events)
    assert kept == expected[: len(kept)]
    assert ids_of(running.ask(ask())) == expected


def test_memory_that_runs_out(running, expected, monkeypatch):
    def none_left(self, *arguments):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(CpuModel, "_trunk", none_left)
        failed = running.ask(ask())[-1]
    assert isinstance(failed, Failed) and "out of memory: use --quant q4" in failed.message
    assert ids_of(running.ask(ask())) == expected


@pytest.mark.parametrize(
    ("submit", "named"),
    [
        (ask("word " * 300), "context holds 256"),
        (ask(""), "prompt is empty"),
        (Submit(messages=()), "No messages provided"),
        (Submit(messages=({"role": "poet", "content": "x"},)), "Unexpected message role"),
    ],
    ids=["too long", "empty", "no messages", "a role the template refuses"],
)
def test_refused_turns(running, expected, submit, named):
    events = running.ask(submit)
    failed = events[-1]
    assert [type(event) for event in events] == [Failed]
    assert named in failed.message and is_one_line(failed) and not failed.fatal
    assert ids_of(running.ask(ask())) == expected


# --- the end ----------------------------------------------------------------------------------------------


def test_quit_during_a_turn_ends_the_thread(echo_model):
    with Running(echo_model) as running:
        running.hook = on_round(2, lambda: running.engine.send(Quit()))
        running.engine.send(ask(max_tokens=200))
        running.engine.send(ask("never answered"))
        events = running.until(TurnEnded)
        assert events[-1].finish_reason == "cancelled"
        running.engine.join(engines.PATIENCE)
        assert not running.thread.is_alive() and running.events.empty()


def test_quit_while_loading(echo_model):
    running = Running(echo_model)
    running.engine.send(ask())
    running.engine.send(Quit())
    with running:
        running.engine.join(engines.PATIENCE)
        assert not running.thread.is_alive()
        assert isinstance(running.loading[-1], Ready) and running.events.empty()


def test_two_engines_at_once(tiny_model, echo_model):
    """Their turns overlap; each answers as it would alone."""
    with Running(tiny_model, quant="q8") as one, Running(echo_model, rollback="snapshot") as two:
        submits = [ask(f"question {n}", max_tokens=16) for n in range(6)]
        alone = [[ids_of(engine.ask(submit)) for submit in submits] for engine in (one, two)]
        for submit in submits:
            one.engine.send(submit)
            two.engine.send(submit)
        together = [[ids_of(engine.until(TurnEnded)) for _ in submits] for engine in (one, two)]
        assert together == alone
        assert alone[0] != alone[1]


TWO_ENGINES_WITH_THREADS = """
import sys
from pathlib import Path
from kestrel_engine.cpu import runtime
runtime.prepare()
from kestrel_engine.cpu import program
program.PARALLEL_BYTES = 0
from engines import Running, ids_of
from test_thread import TurnEnded, ask
with Running(Path(sys.argv[1]), threads=2) as one, Running(Path(sys.argv[1]), threads=2) as two:
    expected = ids_of(one.ask(ask()))
    for engine in (one, two):
        for _ in range(5):
            engine.engine.send(ask())
    answers = [ids_of(engine.until(TurnEnded)) for engine in (one, two) for _ in range(5)]
    print("same" if answers == [expected] * 10 else answers)
"""


def test_two_engines_with_two_threads_each(echo_model):
    """Both want the one team of helpers; in a process of its own, as one that hangs or dies is told best there."""
    completed = subprocess.run(
        [sys.executable, "-c", TWO_ENGINES_WITH_THREADS, str(echo_model)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        timeout=120,
    )
    assert (completed.returncode, completed.stdout.strip()) == (0, "same"), completed.stderr


def test_an_engine_that_never_starts_can_be_told_things():
    engine = Engine(EngineOptions("nowhere"), emit=print)
    for command in (ask(), Cancel(), SetSpeculation(3), Quit()):
        engine.send(command)
