"""The arithmetic of `kestrel-bench` on made-up figures, and its scripted drafts."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import types

import numpy as np
import pytest

from kestrel_engine.bench import accept, arithmetic, command, compare, machine, starts
from kestrel_engine.bench.contestant import Answered
from kestrel_engine.bench.phases import Clock, phases_ms
from kestrel_engine.bench.scripted import Script
from kestrel_engine.bench.speculate import Log, auto_of_best, summarise
from kestrel_engine.bench.starts import Start
from kestrel_engine.bench.table import table
from kestrel_engine.bench.weightbytes import bytes_of
from kestrel_engine.events import Round, Token
from kestrel_engine.tally import Tally


def tally_of(*rounds: tuple[int, int]) -> Tally:
    """Rounds of (drafted, accepted), each with the model's own token behind."""
    tally = Tally()
    for drafted, accepted in rounds:
        tally.add(accepted + 1, drafted, accepted, accepted < drafted, (1.0, 20.0, 0.5))
    return tally


def test_the_field_reports_log_gives_its_rates():
    """The histogram that the report prints (30, 7, 8, 3) gives the conditional rates that it names."""
    tally = tally_of(*[(3, 0)] * 30, *[(3, 1)] * 7, *[(3, 2)] * 8, *[(3, 3)] * 3)
    assert tally.rounds == 48 and tally.accepted == 32
    assert tally.accepted_histogram == [30, 7, 8, 3]
    assert tally.acceptance_by_position == [18 / 48, 11 / 18, 3 / 11]
    assert tally.tokens_per_round == 80 / 48
    assert (tally.draft_ms, tally.verify_ms, tally.replay_ms) == (48.0, 960.0, 24.0)


def test_e16_reads_as_published():
    alpha = [0.714, 0.364, 0.500, 0.750]
    assert arithmetic.chained(alpha) == pytest.approx([0.714, 0.2599, 0.12995, 0.09746], abs=1e-4)
    assert arithmetic.expected_length(alpha) == pytest.approx(2.20, abs=0.02)


def test_rates_and_counts_agree_on_what_a_round_yields():
    tally = tally_of((3, 3), (3, 1), (3, 0), (3, 2), (3, 2))
    assert arithmetic.expected_length(tally.acceptance_by_position) == pytest.approx(tally.tokens_per_round)


def test_drafts_behind_the_end_of_an_answer_are_not_tested():
    tally = tally_of((2, 1))
    tally.add(2, 3, 1, rejected=False)
    assert tally.acceptance_by_position == [1.0, 0.0]
    assert tally.accepted_histogram == [0, 2, 0, 0]


def test_no_rounds_have_no_rates():
    empty = Tally()
    assert empty.accepted_histogram == empty.acceptance_by_position == []
    assert empty.tokens_per_round == 0.0 and arithmetic.expected_length([]) == 1.0


def test_statistics():
    assert arithmetic.median([5, 1, 9]) == 5.0 and arithmetic.spread([5, 1, 9]) == [1.0, 9.0]
    assert arithmetic.quartiles(range(1, 10)) == [3.0, 7.0] and arithmetic.quartiles([4]) == [4.0, 4.0]
    assert [arithmetic.median_index(values) for values in ([3, 9, 5], [7, 2], [1])] == [2, 1, 0]
    assert arithmetic.slope([(0, 1.0), (10, 2.0), (20, 3.0)]) == pytest.approx(0.1)
    assert arithmetic.slope([(8, 1.0)]) == 0.0


def test_the_bandwidth_share():
    """800 MB in 25 ms are 32 GB/s, 80 % of 40."""
    assert arithmetic.bandwidth_share(800_000_000, 25.0, 40.0) == pytest.approx(0.8)


@pytest.mark.parametrize(
    "wanted", [[0.71, 0.51, 0.36], [0.714, 0.364, 0.5, 0.75], [1.0], [0.0], [0.5, 1.0, 0.0]]
)
def test_a_script_keeps_to_its_conditional_rates(wanted):
    tally, length = Tally(), max(3, len(wanted))
    script = Script(wanted)
    for _ in range(700):
        right = script.right(length)
        tally.add(right + 1, length, right, right < length)
    rates = tally.acceptance_by_position
    tested = [sum(tally.accepted_histogram[place:]) for place in range(length)]
    for place, rate in enumerate(rates):
        assert abs(rate - wanted[min(place, len(wanted) - 1)]) * tested[place] <= 0.5 + 1e-9, (place, rates)


def test_a_script_is_right_then_wrong_then_free():
    script = Script([1.0, 0.0])
    assert script.drafts([7, 8, 9], vocabulary=10) == [7, 9, 0]
    assert script.drafts([], vocabulary=10) == []


def test_a_summary_takes_counts_of_the_median_repeat_and_ratios_within_repeats():
    def answered(milliseconds: float, accepted: int) -> Answered:
        tokens = tuple(Token(n, "x", "own", n, 0, None, -1.0) for n in range(accepted + 1))
        rejected = tuple(range(900, 900 + 3 - accepted))
        rounds = (Round(0, tokens, 3, accepted, "mtp", rejected, 1.0, 2.0, 0.5, ""),) * 4
        return Answered((1, 2, 3, 4, 5, 6, 7, 8), milliseconds, rounds, ())

    plain = Log("plain", [[answered(80.0, 0)], [answered(160.0, 0)], [answered(88.0, 0)]])
    fast = Log("3", [[answered(40.0, 1)], [answered(64.0, 2)], [answered(48.0, 3)]])
    row = summarise(fast, plain, [Start("story", (1,))])
    assert row["ms_per_token"] == 6.0 and row["ms_per_token_spread"] == [5.0, 8.0]
    assert row["speedup"] == 2.0 and row["speedup_spread"] == [pytest.approx(88 / 48), 2.5]
    assert (row["rounds"], row["accepted"], row["accepted_histogram"]) == (4, 12, [0, 0, 0, 4])
    assert row["round_ms"] == 12.0 and row["round_cost"] == pytest.approx(12.0 / 11.0)
    assert (row["draft_ms"], row["verify_ms"], row["replay_ms"]) == (4.0, 8.0, 2.0)
    assert row["identical"] and row["starts"][0]["speedup"] == 2.0

    fast.answers[1][0] = dataclasses.replace(fast.answers[1][0], ids=(1, 2, 3, 4, 5, 6, 7, 9))
    assert not summarise(fast, plain, [Start("story", (1,))])["identical"]


def test_auto_against_the_best_fixed_length():
    rows = [{"speculate": name, "speedup": value} for name, value in (("1", 1.2), ("3", 1.6), ("auto", 1.52))]
    assert auto_of_best(rows) == pytest.approx(0.95) and auto_of_best(rows[:2]) is None
    slow = [{"speculate": "3", "speedup": 0.7}, {"speculate": "auto", "speedup": 0.98}]
    assert auto_of_best(slow) == pytest.approx(0.98)  # plain is the best there


def test_phases_add_up_and_nested_calls_count_once():
    clock = Clock()
    clock.add_pass(0.030, {"q8_matmul": 0.8, "rms_norm": 0.1, "add": 0.05, "new_kernel": 0.05})
    clock.timed("sampling", lambda: clock.add_pass(9.0, {"q8_matmul": 1.0}))()
    assert 0 < clock.seconds.pop("sampling") < 1.0
    assert clock.seconds == pytest.approx({"matrix": 0.024, "norms": 0.0045, "new_kernel": 0.0015})
    found = phases_ms(clock, 0.040, 2)
    assert found == pytest.approx({"matrix": 12.0, "norms": 2.25, "new_kernel": 0.75, "python": 5.0})
    clock.own_seconds = 0.004
    assert phases_ms(clock, 0.040, 2) == pytest.approx(found | {"python": 3.0})


def test_without_a_counter_kernels_are_one_phase():
    clock = Clock()
    clock.add_pass(0.01, {})
    assert clock.seconds == {"kernels": 0.01}


def test_bytes_of_weights():
    @dataclasses.dataclass
    class Packed:
        bytes: int

    @dataclasses.dataclass
    class Layer:
        norm: np.ndarray
        matrix: Packed
        note: str = "not a weight"

    layer = Layer(np.zeros(8, np.float32), Packed(100))
    assert bytes_of((layer, layer)) == 2 * (32 + 100)


def test_a_table():
    assert (
        table(("k", "ms"), [("1", 2.5), ("auto", True), ("x", False)])
        == "k       ms\n1     2.50\nauto   yes\nx       NO"
    )


@pytest.mark.parametrize(
    ("text", "lengths"),
    [("3", [3]), ("1..3,auto", [1, 2, 3, "auto"]), ("auto,2,2", ["auto", 2]), ("8", [8])],
)
def test_draft_lengths(text, lengths):
    assert command.draft_lengths(text) == lengths


@pytest.mark.parametrize("text", ["0", "9", "1..9", "", "x", "3..1", "-1", "1..", "1..999999999999"])
def test_bad_draft_lengths(text):
    with pytest.raises(argparse.ArgumentTypeError):
        command.draft_lengths(text)


@pytest.mark.parametrize("text", ["1.5", "-0.1", "many", "0.5,,0.5", "nan"])
def test_bad_hit_rates(text):
    with pytest.raises(argparse.ArgumentTypeError):
        command.hit_rates(text)
    assert command.hit_rates("0.71,0,1") == [0.71, 0.0, 1.0]


def test_one_of_something_is_not_called_many():
    machine = {"cpu": "a CPU", "cores": 1, "threads": 1, "python": "3", "system": "Linux"}
    run = {
        "engine": "kestrel",
        "format": "q8",
        "ms_per_token": 2.0,
        "ms_per_token_spread": (1.0, 3.0),
        "ratio": 1.0,
    }
    report = {
        "command": "compare", "machine": machine, "model": "m", "format": "q8", "positions": 1, "alpha": [0.5],
        "p": [0.5], "expected_length": 1.5, "peer": "p", "peer_version": "0", "starts": ["s"], "tokens": 1, "repeat": 1,
        "same_leading_tokens": 1, "compared_tokens": 1, "runs": [run],
    }  # fmt: skip
    shown = "\n".join([command.header(report), accept.text(report), compare.text(report)])
    for words in (
        "1 core, 1 thread",
        "over 1 position\n",
        "1 start of 1 token, 1 repeat\n",
        "1 of 1 token (",
    ):
        assert words in shown
    assert not re.search(r"\b1 [a-z]+s\b", shown)


def test_answers_that_end_early_are_not_said_to_be_whole():
    report = {"starts": ["a", "b"], "tokens": 64, "repeat": 3}
    assert starts.extent_text(report) == starts.extent_text(report, 128) == "2 starts of 64 tokens, 3 repeats"
    assert starts.extent_text(report, 95) == "2 starts of at most 64 tokens (95 in all), 3 repeats"


def test_a_count_that_is_asked_for_twice_is_measured_once():
    """One length of context alone has no slope."""
    assert command.counts("64,8,64,8") == [64, 8]


def test_other_work_is_what_all_cores_did_without_us():
    """(time, busy time of all cores, own time) at the beginning and at the end."""
    assert machine.between((10.0, 500.0, 7.0), (14.0, 509.0, 14.0)) == 0.5
    assert machine.between((10.0, 500.0, 7.0), (14.0, 506.9, 14.0)) == 0.0, (
        "hundredths are rounded, never negative"
    )
    assert machine.between((10.0, 500.0, 7.0), (10.2, 501.0, 7.2)) is None, "too short to tell"


def test_much_other_work_is_told_beside_the_figures(capsys):
    """Once they are there, and only much of it."""
    facts = machine.machine_facts(2)
    report = {"command": "decode", "machine": facts, "model": "m", "format": "q8"}
    assert command.header(report).count("\n") == 0, "nothing is measured yet"
    for cores, told in ((machine.MUCH, False), (0.8, True), (None, False)):
        facts["other_work"] = types.SimpleNamespace(cores=lambda cores=cores: cores)
        command.show(report, "text", lambda report: "figures")
        shown = capsys.readouterr().out
        assert ("other work meanwhile, 0.80 of a core" in shown) is told and "figures" in shown
        facts["other_work"] = types.SimpleNamespace(cores=lambda cores=cores: cores)
        command.show(report, "json", lambda report: "figures")
        assert json.loads(capsys.readouterr().out)["machine"]["other_work"] == cores


def test_other_work_is_told_in_cores_and_beside_times_alone():
    facts = machine.machine_facts(2) | {"other_work": 1.9}
    report = {"machine": facts, "model": "m", "format": "q8"}
    warned = {
        name for name in command.TIMED if ", 1.90 cores: " in command.header(report | {"command": name})
    }
    assert warned == {"decode", "speculate", "schemes", "compare"}
    for name in ("exact", "accept", "perplexity"):
        assert command.header(report | {"command": name}).count("\n") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_the_clocks_of_other_work_go_on():
    before = machine._seconds()
    sum(range(3_000_000))
    after = machine._seconds()
    assert all(ours > 0 for ours in before) and after[0] > before[0]
    assert after[1] >= before[1] and after[2] > before[2], "our own work is among that of all cores"
