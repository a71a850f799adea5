"""The stats of an answer: the contract's object and the line for people."""

from __future__ import annotations

import dataclasses

from kestrel_engine.events import Round, Token, TurnEnded
from kestrel_tui.stats import TurnStats, milliseconds


def a_round(drafted: int, accepted: int) -> Round:
    tokens = tuple(Token(place, "x", "own", place, 0, None, -1.0) for place in range(accepted + 1))
    rejected = tuple(range(900, 900 + drafted - accepted))
    return Round(0, tokens, drafted, accepted, "mtp", rejected, 0.0, 0.0, 0.0, "")


def stats_of(*rounds: tuple[int, int]) -> TurnStats:
    stats = TurnStats(load_ms=7.0)
    for drafted, accepted in rounds:
        stats.add(a_round(drafted, accepted))
    return stats


def test_a_draft_counts_as_tested_only_behind_right_ones() -> None:
    stats = stats_of((3, 3), (3, 1), (3, 0), (1, 1), (0, 0))
    # Position 0 was tested in four rounds and right in three; position 1 in two; position 2 in one.
    assert stats.tally.acceptance_by_position == [3 / 4, 1 / 2, 1.0]


def test_positions_that_were_never_tested_are_left_out() -> None:
    assert stats_of((4, 0), (4, 1)).tally.acceptance_by_position == [1 / 2, 0.0]


def test_drafts_behind_the_end_of_the_answer_are_not_tested() -> None:
    stats = stats_of((2, 1))
    stats.add(dataclasses.replace(a_round(3, 1), rejected=()))
    assert stats.tally.acceptance_by_position == [1.0, 0.0]
    assert stats.as_dict()["acceptance_rate"] == 2 / 3


def test_the_histogram_has_a_place_for_every_possible_count() -> None:
    stats = stats_of((3, 1), (3, 1), (2, 2), (0, 0))
    assert stats.as_dict()["accepted_histogram"] == [1, 2, 1, 0]


def test_totals() -> None:
    stats = stats_of((3, 3), (3, 0))
    stats.finish(TurnEnded("stop", "xxxxx", 5, 11, 3.0, 20.0, 42))
    assert stats.as_dict() == {
        "load_ms": 7.0,
        "prefill_ms": 3.0,
        "decode_ms": 20.0,
        "ms_per_token": 4.0,
        "rounds": 2,
        "drafted": 6,
        "accepted": 3,
        "acceptance_rate": 0.75,  # of the four that were tested
        "tokens_per_round": 2.5,
        "acceptance_by_position": [0.5, 1.0, 1.0],
        "accepted_histogram": [1, 0, 0, 1],
    }


def test_an_answer_without_rounds_divides_by_nothing() -> None:
    stats = stats_of()
    stats.finish(TurnEnded("cancelled", "", 0, 5, 1.0, 0.0, 3))
    values = stats.as_dict()
    assert values["ms_per_token"] == values["acceptance_rate"] == values["tokens_per_round"] == 0
    assert values["acceptance_by_position"] == values["accepted_histogram"] == []
    assert stats.line() == "[0 tokens, prompt 5 tokens, seed 3]"


def test_the_line_names_speed_acceptance_and_seed() -> None:
    stats = stats_of((3, 3), (3, 0))
    stats.finish(TurnEnded("stop", "xxxxx", 5, 1, 3.0, 20.0, 42))
    assert stats.line() == (
        "[5 tokens, 4.0 ms each, 2.50 a round, 3 of 4 tested drafts accepted (by position 0.50 1.00 1.00), "
        "prompt 1 token in 3 ms, seed 42]"
    )


def test_a_time_below_a_millisecond_has_two_digits() -> None:
    assert [milliseconds(each) for each in (0.0, 0.263, 1.0, 3.44, 99.9, 120.4)] == [
        "0.00", "0.26", "1.0", "3.4", "99.9", "120",
    ]  # fmt: skip
    stats = stats_of((3, 3))
    stats.finish(TurnEnded("stop", "xxxx", 4, 1, 3.0, 1.0, 42))
    assert "0.25 ms each" in stats.line() and "0.25 ms each" in next(stats.lines())


def test_the_report_accounts_for_every_draft() -> None:
    stats = stats_of((3, 3), (4, 1), (0, 0))
    stats.finish(TurnEnded("stop", "xxxxxxx", 7, 11, 3.0, 28.0, 42))
    assert list(stats.lines()) == [
        "answer: 7 tokens in 28 ms, 4.0 ms each",
        "prompt: 11 tokens in 3 ms",
        "seed: 42",
        "model: loaded in 7 ms",
        "rounds: 3, 2.33 tokens in each",
        "drafts: 7, of which 4 accepted, 1 wrong, and 2 not tested (behind a wrong one, or behind the end)",
        "accepted: 80% (4 of 5 tested)",
        "right at position 1: 100%, 2: 50%, 3: 100%",
        "1 round accepted 0, 1 round accepted 1, 1 round accepted 3",
    ]
    assert "drafts: none" in list(stats_of((0, 0)).lines())
    assert next(TurnStats().lines()) == "answer: 0 tokens"
