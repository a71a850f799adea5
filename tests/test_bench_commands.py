"""`kestrel-bench decode`, `speculate`, `accept` and `compare`: they run, and say what the contract says.

No figure that depends on the clock is judged here.
"""

from __future__ import annotations

import pytest
from bench_runs import SHORT, bench

from kestrel_engine.bench import decode, longcontext, speculate
from kestrel_engine.bench.cli import main
from kestrel_engine.bench.contestant import Contestant, new_session
from kestrel_engine.bench.starts import PROMPTS, starts
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.loader import load
from kestrel_engine.options import EngineOptions, SamplingOptions


def test_decode_reports_every_figure(tiny_model, capsys):
    argv = ("--tokens", "4", "--prefill-tokens", "8", "--context-lengths", "16,64,256")
    status, report = bench(capsys, "decode", tiny_model, *SHORT, *argv)
    assert status == 0 and report["format"] == "q8"
    assert [row["rows"] for row in report["rows"]] == list(range(1, 9))
    assert report["rows"][0]["cost"] == 1.0 and all(row["ms"] > 0 for row in report["rows"])
    for name in ("read_bandwidth_gbps", "bandwidth_share", "ms_per_token", "prefill_tokens_per_second"):
        assert report[name] > 0
    assert {"matrix", "norms", "delta", "attention", "sampling", "python"} <= report["phases_ms"].keys()
    assert all(value > 0 for value in report["phases_ms"].values())
    contexts = report["contexts"]
    assert [row["context"] for row in contexts] == [16, 64, 256]
    assert {row["fill"] for row in contexts} == {"synthetic"}
    assert all({"matrix", "attention", "delta", "python"} <= row["phases_ms"].keys() for row in contexts)
    for share, size, doubt in (
        (0.9, 1e9, None),
        (1.1, 1e7, "may stay in the cache"),
        (1.1, 1e9, "try again"),
    ):
        lines = decode.text(report | {"bandwidth_share": share, "weight_bytes": size}).splitlines()
        floor = next(line for line in lines if line.startswith("floor"))
        assert floor.endswith("of the bandwidth") if doubt is None else doubt in floor
    assert decode.outside_matrices({"matrix": 3.0, "delta": 0.5, "attention": 0.5}) == 0.25
    # Two caches (one attention layer, the MTP head), 2 heads of 32, keys and values, float32.
    assert [row["kv_bytes"] for row in contexts] == [n * 2 * 2 * 2 * 32 * 4 for n in (16, 64, 256)]
    assert len({row["recurrent_bytes"] for row in contexts}) == 1


def test_decode_counts_the_weights_of_a_step(tiny_model, capsys):
    """A weight takes 16, 8.5 and 4.5 bits; what is the same in every format drops out of the differences."""
    sizes = {}
    for quant in ("bf16", "q8", "q4"):
        argv = ("--quant", quant, "--threads", "1", "--repeat", "1", "--tokens", "2", "--prefill-tokens", "2")
        sizes[quant] = bench(capsys, "decode", tiny_model, *argv)[1]["weight_bytes"]
    assert (sizes["bf16"] - sizes["q8"]) * 4.0 == (sizes["q8"] - sizes["q4"]) * 7.5
    # 512 x 64 output weights; 64 x 96 x 3 in each of four feed-forwards, and more in the layers.
    assert sizes["bf16"] > 2 * (512 * 64 + 4 * 3 * 64 * 96)


def test_decode_as_text(tiny_model, capsys):
    argv = ("--tokens", "3", "--prefill-tokens", "4", "--context-lengths", "16,32")
    assert main(["decode", str(tiny_model), *SHORT, *argv]) == 0
    out = capsys.readouterr().out
    assert out.startswith("kestrel-bench decode · tiny · q8 · ")
    for words in ("plain step", "GB/s, measured in this run", "x one row", "matrix", "synthetic keys"):
        assert words in out


def test_a_synthetic_state_decodes_as_a_real_one(tiny_model):
    model = load(
        EngineOptions(str(tiny_model), quant="q8", threads=1, context=256), lambda event: None
    ).session.model
    real, made = longcontext.prefilled_state(model, 77, 16), longcontext.synthetic_state(model, 77)
    assert real.length == made.length == 77
    assert longcontext.state_bytes(real, 77) == longcontext.state_bytes(made, 77)
    for state in (real, made):
        logits = model.logits(model.forward(state, [5, 6, 7], commit=1))
        state.accept(1)
        assert (logits == logits).all(), "unwritten keys were read"


@pytest.fixture
def echo(echo_model):
    return load(EngineOptions(str(echo_model), quant="q8", threads=1, context=256), lambda event: None)


def test_speculate_with_natural_acceptance(echo_model, capsys):
    argv = ("--speculate", "1,3,auto", "--tokens", "12", "--starts", "2")
    status, report = bench(capsys, "speculate", echo_model, *SHORT, *argv)
    assert status == 0 and report["acceptance"] == "natural" and report["plain_ms_per_token"] > 0
    assert [run["speculate"] for run in report["runs"]] == ["1", "3", "auto"]
    for run in report["runs"]:
        assert run["identical"] is True and run["tokens"] == 24
        assert sum(run["accepted_histogram"]) == run["rounds"]
        assert sum(n * count for n, count in enumerate(run["accepted_histogram"])) == run["accepted"]
        assert run["tokens_per_round"] == pytest.approx(run["tokens"] / run["rounds"])
        for name in ("ms_per_token", "speedup", "verify_ms", "round_cost"):
            assert run[name] > 0
        assert [start["start"] for start in run["starts"]] == report["starts"]
        assert run["speedups"] == [run["speedup"]]
    three = report["runs"][1]
    assert three["acceptance_by_position"][0] > 0.9 and three["accepted_histogram"][3] >= 4
    auto = report["auto_against_best"]
    assert auto["best"].keys() <= {"plain", "1", "3"} and auto["ratio"] == auto["first"] > 0
    times = [report["plain_ms_per_token"], *(run["ms_per_token"] for run in report["runs"])]
    assert auto["ratio"] == pytest.approx(min(times[:-1]) / times[-1])


def test_speculate_without_auto_compares_it_with_nothing(tiny_model, capsys):
    argv = ("--speculate", "2", "--tokens", "4", "--starts", "1")
    status, report = bench(capsys, "speculate", tiny_model, *SHORT, *argv)
    assert status == 0 and report["auto_of_best"] is report["auto_against_best"] is None
    assert "auto" not in speculate.text(report)
    assert report["emitted"] == 4 and "; 1 start of 4 tokens, 1 repeat\n" in speculate.text(report)
    ended = speculate.text(report | {"emitted": 3})
    assert "; 1 start of at most 4 tokens (3 in all), 1 repeat\n" in ended


def test_what_is_said_of_auto():
    found = {"ratio": 0.968, "interval": [0.953, 0.991], "first": 0.801, "best": {"3": 20, "plain": 10}}
    assert speculate.auto_text(found) == (
        "auto has 0.97 of the speed of the best (0.95 to 0.99 with 95 % confidence): of k = 3 or plain, the best in "
        "one half of the repeats, measured in the other\nin the first repeat, when it had yet to learn, 0.80"
    )
    assert "confidence" not in speculate.auto_text(found | {"interval": None})
    assert speculate.auto_text({"ratio": 1.02, "interval": None, "first": 1.02, "best": {"4": 1}}) == (
        "auto has 1.02 of the speed of the best: of k = 4 in this one repeat, in which the best is so partly by chance"
    )


def test_speculate_with_scripted_acceptance(tiny_model, capsys):
    argv = ("--speculate", "3", "--tokens", "60", "--starts", "6", "--accept", "0.71,0.51,0.36")
    status, report = bench(capsys, "speculate", tiny_model, *SHORT, *argv)
    (run,) = report["runs"]
    assert status == 0 and run["identical"]
    assert report["acceptance"] == report["drafter"] == "scripted" and report["draft_cost_paid"]
    assert run["acceptance_by_position"] == pytest.approx([0.71, 0.51, 0.36], abs=0.03)
    assert run["tokens_per_round"] == pytest.approx(1 + 0.71 + 0.71 * 0.51 + 0.71 * 0.51 * 0.36, abs=0.1)
    assert run["draft_ms"] > 0


def test_a_scripted_run_pays_for_the_mtp_head_and_is_labelled(tiny_model, capsys, monkeypatch):
    asked = []
    real = MtpDrafter.draft

    def spy(self, state, next_token, count, sampler):
        asked.append(count)
        return real(self, state, next_token, count, sampler)

    monkeypatch.setattr(MtpDrafter, "draft", spy)
    argv = ("--speculate", "2", "--tokens", "6", "--starts", "1", "--accept", "1")
    assert main(["speculate", str(tiny_model), *SHORT, *argv]) == 0
    # Warm-up of 8 tokens in rounds of 3, then the 6 tokens.
    assert asked == [2, 2, 1, 2, 2]
    assert "acceptance SCRIPTED: 1 (at the real draft cost)" in capsys.readouterr().out


def test_a_changed_text_is_found_out(echo_model, capsys, monkeypatch):
    """A draft that is accepted without being right."""
    monkeypatch.setattr(Contestant, "answer", _lying(Contestant.answer))
    argv = ("--speculate", "3", "--tokens", "12", "--starts", "1")
    status, report = bench(capsys, "speculate", echo_model, *SHORT, *argv)
    assert status == 1 and report["runs"][0]["identical"] is False


def _lying(real):
    import dataclasses

    def answer(self, *arguments):
        found = real(self, *arguments)
        wrong = (*found.ids[:-1], found.ids[-1] + 1)
        return dataclasses.replace(found, ids=wrong) if self.session.draft_length else found

    return answer


def test_contestants_answer_in_turn(echo, monkeypatch):
    order = []
    monkeypatch.setattr(
        Contestant, "answer", lambda self, prompt, *rest: order.append(self.name) or _nothing_said()
    )
    contestants = {name: Contestant(echo, length) for name, length in (("plain", 0), ("3", 3))}
    for name, contestant in contestants.items():
        contestant.name = name
    speculate.compete(
        contestants, starts(echo, 2), 4, ["once", "again"], SamplingOptions(), lambda text: None
    )
    assert order[3:] == ["plain", "3"] * 4  # behind the warm-up: two starts, two repeats


def _nothing_said():
    from kestrel_engine.bench.contestant import Answered

    return Answered((), 1.0, (), ())


def test_a_new_session_keeps_its_hands_off_the_loaded_one(echo):
    session = new_session(echo, "snapshot", 3)
    assert session is not echo.session and session.model is echo.session.model
    assert session.prefill_chunk == 3 and session.drafters["mtp"] is not echo.session.drafters["mtp"]


def test_a_contestant_keeps_its_state_and_answers_from_an_empty_one(echo):
    contestant, other = Contestant(echo, 3), Contestant(echo, 0)
    state = contestant.session.state
    for start in starts(echo, 2):
        ids = contestant.answer(start.prompt, 6, SamplingOptions()).ids
        assert contestant.session.state is state and state.tokens[: len(start.prompt)] == list(start.prompt)
        assert ids == other.answer(start.prompt, 6, SamplingOptions()).ids


def test_the_starts_are_stories_and_chat_in_turn(echo):
    found = starts(echo, 6)
    assert sorted(start.name for start in found) == sorted(PROMPTS)
    assert [start.name.split(":")[0] for start in found] == ["story", "chat"] * 3
    assert all(len(start.prompt) > 5 for start in found)


def test_accept_over_a_text(echo_model, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("The kestrel hangs in the wind above the field. " * 8)
    argv = ("--text", str(text), "--speculate", "3", "--tokens", "40", "--quant", "q8", "--threads", "1")
    status, report = bench(capsys, "accept", echo_model, *argv)
    assert status == 0 and report["positions"] == 40 == sum(report["accepted_histogram"])
    assert len(report["alpha"]) == len(report["p"]) == 3
    assert report["p"][1] == pytest.approx(report["alpha"][0] * report["alpha"][1])
    assert report["expected_length"] == pytest.approx(1 + sum(report["p"]))
    assert report["alpha"][0] > 0.9  # this model repeats, and its head knows
    assert main(["accept", str(echo_model), *argv]) == 0
    assert "teacher-forced over 40 positions" in capsys.readouterr().out


def test_accept_counts_what_rounds_would_accept(tiny_model, tmp_path, capsys):
    """On the model's own greedy text, teacher forcing sees what rounds see at the places where they begin."""
    loaded = load(EngineOptions(str(tiny_model), quant="q8", threads=1, context=256), lambda event: None)
    from kestrel_engine.bench.accept import count_window
    from kestrel_engine.tally import Tally

    start, plain = starts(loaded, 1)[0], Contestant(loaded, 0)
    ids = plain.answer(start.prompt, 20, SamplingOptions()).ids
    stream, tally = [*start.prompt, *ids], Tally()

    class Knowing:
        """Right in every first draft, wrong in every second."""

        def reset(self):
            pass

        def draft(self, state, next_token, count, sampler):
            truth = [*stream[state.length + 1 : state.length + 3], 0, 0]
            return [truth[0], (truth[1] + 1) % loaded.config.vocab_size]

    count_window(loaded.session.model, Knowing(), stream, 2, tally)
    inside = len(ids) - 1  # positions whose next token is the model's own
    assert tally.rounds == len(stream) - 1
    assert tally.accepted_histogram[1] >= inside and tally.accepted_histogram[2] <= 1


@pytest.mark.parametrize("name", ["picture.png", "picture.svg"])
@pytest.mark.parametrize(
    "argv",
    [
        ("decode", "--tokens", "3", "--prefill-tokens", "3", "--context-lengths", "8,16"),
        ("speculate", "--speculate", "1,auto", "--tokens", "5", "--starts", "1"),
        ("schemes", "--speculate", "2", "--tokens", "5", "--starts", "1"),
    ],
    ids=lambda argv: argv[0],
)
def test_pictures(tiny_model, tmp_path, capsys, argv, name):
    pytest.importorskip("matplotlib")
    command, *rest = argv
    assert main([command, str(tiny_model), *SHORT, *rest, "--plot", str(tmp_path / name)]) == 0
    head = (tmp_path / name).read_bytes()[:60]
    assert head.startswith(b"\x89PNG") if name.endswith("png") else b"<?xml" in head
