"""The speed-up that the screen shows: only when enough is known, of this process's rounds, of warm ones."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
from live import Driver, Puppet, drive, round_of

from kestrel_engine.events import Round
from kestrel_tui.chats import read_chat
from kestrel_tui.live.panel import Panel
from kestrel_tui.live.speedup import Speedup


def timed(index: int, milliseconds: float, drafted: int = 0, accepted: int = 0) -> Round:
    wrong = ("no ",) * (drafted - accepted)
    event = round_of(index, ["x "] * (accepted + 1), rejected=wrong)
    return dataclasses.replace(event, draft_ms=0.0, verify_ms=milliseconds, replay_ms=0.0)


def measured(plain: int, drafted: int) -> Speedup:
    """From so many rounds of 2 ms, and so many of 4 ms that yield 4 tokens."""
    speedup = Speedup()
    for index in range(plain):
        speedup.add(timed(index + 1, 2.0))
    for index in range(drafted):
        speedup.add(timed(index + 1 + plain, 4.0, drafted=3, accepted=3))
    return speedup


def test_it_is_known_when_both_kinds_had_enough_rounds() -> None:
    assert measured(100, 40).ratio is None and measured(100, 40).plain == 2.0
    assert measured(17, 100).ratio is None and measured(17, 100).plain is None
    assert measured(18, 48).ratio == pytest.approx(2.0)


def test_it_hardly_moves_once_it_is_shown() -> None:
    chance, seen = random.Random(3), []
    for _ in range(40):
        speedup = Speedup()
        for index in range(1, 200):
            length = 0 if index < 20 else chance.choice((2, 5))
            right = next((n for n in range(length) if chance.random() > 0.8), length)
            speedup.add(timed(index, (1 + 0.1 * length) * chance.uniform(0.95, 1.1), length, right))
            if speedup.ratio is not None:
                seen.append(speedup.ratio)
                break
        else:
            raise AssertionError("it is never shown")
    assert max(seen) / min(seen) < 1.6, "the first figure that is shown is near those of other runs"


def test_rounds_that_something_else_held_up_do_not_decide() -> None:
    speedup = measured(20, 60)
    for index in range(8):
        speedup.add(timed(90 + index, 400.0, drafted=3, accepted=3))
    assert speedup.ratio == pytest.approx(2.0)


def test_plain_rounds_between_drafted_ones_are_slow_at_first_and_do_not_count() -> None:
    speedup = measured(0, 60)
    for start in range(0, 100, 5):
        speedup.add(timed(start + 1, 4.0, drafted=3, accepted=3))
        for index, milliseconds in enumerate((9.0, 7.0, 2.0, 2.0)):
            speedup.add(timed(start + 2 + index, milliseconds))
    assert speedup.plain == 2.0
    only_cold = measured(0, 60)
    for answer in range(20):
        for index in range(3):
            only_cold.add(timed(index, 9.0 + answer))
    assert only_cold.plain is None, "what follows the prompt is not warm either"


async def answer_of_both_kinds(chat: Driver) -> None:
    """20 plain rounds of 2 ms, then 60 of 4 ms that yield 4 tokens each."""
    engine = await chat.asked()
    for index in range(20):
        engine.emit(timed(index, 2.0))
    for index in range(20, 80):
        engine.emit(timed(index, 4.0, drafted=3, accepted=3))
    engine.end()
    await chat.until(lambda: not chat.conversation.is_answering)


def test_only_rounds_of_this_process_count(tmp_path: Path) -> None:
    seen: list[tuple] = []

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        if not seen:
            await answer_of_both_kinds(chat)
        chat.screen.show()
        figures, panel = chat.conversation.figures, chat.screen.query_one(Panel)
        words = "\n".join(panel.render_line(y).text for y in range(panel.size.height))
        known = figures.speedup.ratio, figures.median, figures.totals.tally.rounds
        seen.append((*known, "speed-up 2.0×" in words, "accepted 100%" in words))

    drive(scenario, folder=tmp_path, engine=Puppet, size=(110, 40))
    [path] = tmp_path.glob("*.jsonl")
    drive(scenario, folder=tmp_path, engine=Puppet, size=(110, 40), chat=read_chat(path))
    assert seen[0] == (pytest.approx(2.0), 1.0, 80, True, True)
    assert seen[1] == (None, None, 80, False, True), "what was accepted is the chat's, the times are not"


def test_a_new_chat_keeps_the_comparison_and_undo_keeps_the_times() -> None:
    async def scenario(chat: Driver) -> None:
        await answer_of_both_kinds(chat)
        figures = chat.conversation.figures
        for command, median, columns in (("/undo", 1.0, 79), ("/new", None, 0)):
            chat.conversation.enter(command)
            assert figures.totals.tally.rounds == 0 and figures.speedup.ratio == pytest.approx(2.0)
            assert (figures.median, len(figures.speeds)) == (median, columns)

    drive(scenario, engine=Puppet)
