"""Settings: precedence, warnings about what is not understood, one line for what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kestrel_engine.errors import UsageError
from kestrel_engine.options import SamplingOptions
from kestrel_tui import arguments
from kestrel_tui.settings import NAMES, Settings, resolve


def from_file(tmp_path: Path, text: str | bytes) -> tuple[Settings, list[str]]:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return resolve({}, {}, path)


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("top-k = 1\nmax-tokens = 1\nseed = 1\n")
    environ = {"KESTREL_TOP_K": "2", "KESTREL_MAX_TOKENS": "2"}
    settings, warnings = resolve({"top_k": "3"}, environ, path)
    assert (settings.top_k, settings.max_tokens, settings.seed, settings.context) == (3, 2, 1, None)
    assert warnings == []


def test_no_file_is_no_error(tmp_path: Path) -> None:
    assert resolve({}, {}, tmp_path / "none.toml") == (Settings(), [])


def test_every_kind_of_value_can_stand_in_the_file(tmp_path: Path) -> None:
    settings, warnings = from_file(
        tmp_path,
        'model = "m"\nthink = false\ntemperature = 1\ntop_p = 0.5\nstop = ["a", "b"]\nspeculate = 3\n'
        'draft-vocab = "all"\nplain = true\nquant = "q8"\n',
    )
    assert not warnings
    assert (settings.model, settings.think, settings.temperature, settings.top_p) == ("m", False, 1.0, 0.5)
    assert (settings.stop, settings.speculate, settings.draft_vocab) == (("a", "b"), 3, "all")
    assert (settings.plain, settings.quant) == (True, "q8")


def test_unknown_keys_warn_with_file_line_and_a_guess(tmp_path: Path) -> None:
    settings, warnings = from_file(tmp_path, "# mine\nseed = 4\ntemprature = 1\n[colours]\nx = 1\n")
    assert settings.seed == 4
    place = tmp_path / "config.toml"
    assert warnings[0] == f"{place}:3: unknown key 'temprature': did you mean temperature?"
    assert warnings[1].startswith(f"{place}:4: unknown key 'colours'")


def test_a_variable_that_looks_like_a_slip_warns_and_others_do_not(tmp_path: Path) -> None:
    environ = {"KESTREL_TEMPRATURE": "1", "KESTREL_HOUSE": "of birds", "KESTREL_SEED": ""}
    settings, warnings = resolve({}, environ, tmp_path / "none")
    assert settings == Settings()
    assert len(warnings) == 1 and "KESTREL_TEMPERATURE" in warnings[0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("seed = ", "not valid TOML"),
        ("seed 4", "not valid TOML"),
        ("seed = 1\nseed = 2", "not valid TOML"),
        (b"model = '\xff'", "not UTF-8"),
        ('top-k = "many"', ":1: top-k many: use a whole number"),
        ("top-k = 1.5", ":1: top-k 1.5: use a whole number"),
        ("top-k = true", "use a whole number"),
        ("\n\ntemperature = -1", ":3: temperature -1.0: use a number from 0 to 100"),
        ("temperature = nan", "use a number from 0 to 100"),
        ("temperature = 2026-11-30", "use a number"),
        ("model = 3", "use text in quotes"),
        ("system = ['a']", "use text in quotes"),
        ("stop = ['']", "use text that is not empty"),
        ("stop = [1]", "use text that is not empty"),
        ("think = 'perhaps'", "use true or false"),
        ("speculate = 9", "use auto, off, or 1 to 8"),
        ("speculate = true", "use auto, off, or 1 to 8"),
        ("draft_vocab = 0", "use all or a positive whole number"),
        ("quant = 'q5'", "use auto, bf16, q8 or q4"),
        ("[threads]\nx = 1", "use a whole number"),
        ("max-tokens = 0", "use 1 or more"),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("seed = " + "9" * 5000, "not valid TOML"),
        ("seed = 0x" + "f" * 5000, ":1: seed …: use a smaller number"),
        ("temperature = 0x" + "f" * 5000, ":1: temperature …: use a number"),
        ("system = [0x" + "f" * 5000 + "]", ":1: system …: use text in quotes"),
    ],
)
def test_a_broken_file_is_one_line_that_names_it(tmp_path: Path, text: str | bytes, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_file(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "config.toml")) and complaint in message
    assert "\n" not in message and caught.value.exit_status == 2


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Is a directory"):
        resolve({}, {}, tmp_path)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"temperature": "hot"}, "--temperature hot: use a number"),
        ({"top_p": "0"}, "--top-p 0.0: use a number above 0, up to 1 (off)"),
        ({"seed": "-1"}, "--seed -1: use a whole number from 0 to 2^63-1"),
        ({"speculate": "0"}, None),
        ({"context": "3"}, "--context 3: use 16 or more"),
        ({"drafter": "me"}, "--drafter me: use auto, mtp or lookup"),
        ({"stop": ["a", ""]}, "--stop"),
        ({"stop": [""]}, "--stop '': use text that is not empty"),
        ({"model": "HTTP://host/v1"}, "talking to a server is not built yet"),
        ({"model": ""}, "name a folder"),
    ],
)
def test_a_bad_flag_is_named(tmp_path: Path, flags: dict, message: str | None) -> None:
    if message is None:
        assert resolve(flags, {}, tmp_path / "none")[0].speculate == 0
        return
    with pytest.raises(UsageError) as caught:
        resolve(flags, {}, tmp_path / "none")
    assert message in str(caught.value)


@pytest.mark.parametrize("line", ["[keys]\n{}b = 1", "seed.{}b = 1", "{}b = 1"])
def test_tables_without_end_are_one_line(tmp_path: Path, line: str) -> None:
    """Dotted keys nest deeper than Python can go, and TOML's reader does not mind."""
    path = tmp_path / "config.toml"
    path.write_text(line.format("a." * 3000))
    with pytest.raises(UsageError, match="nested more than 8 deep"):
        resolve({}, {}, path)


def complaint(tmp_path: Path, name: str, value: str) -> str:
    with pytest.raises(UsageError) as caught:
        resolve({name: value}, {}, tmp_path / "none")
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("threads", "0"),
        ("prefill_chunk", "0"),
        ("max_tokens", "0"),
        ("context", "15"),
        ("top_k", "-1"),
        ("seed", "-1"),
        ("temperature", "-1"),
        ("top_p", "-1"),
        ("min_p", "-1"),
        ("presence_penalty", "-101"),
        ("repetition_penalty", "0"),
    ],
)
def test_what_is_no_number_is_told_which_numbers_are_good(tmp_path: Path, name: str, outside: str) -> None:
    """The same as a number that is outside of them."""
    option = f"--{name.replace('_', '-')}"
    no_number, no_good = complaint(tmp_path, name, "x"), complaint(tmp_path, name, outside)
    assert no_number.startswith((f"{option} x: use a whole number", f"{option} x: use a number"))
    limits = re.compile(r"(?<!\w)-?[\d.^]+")
    assert set(limits.findall(no_good.partition("use ")[2])) <= set(limits.findall(no_number)) != set()


def test_more_threads_than_any_machine_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="threads 10000: use 1024 or fewer"):
        resolve({"threads": 10000}, {}, tmp_path / "none")


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="KESTREL_THREADS: threads 0: use 1 or more"):
        resolve({}, {"KESTREL_THREADS": "0"}, tmp_path / "none")


def test_the_model_decides_what_is_not_given() -> None:
    defaults = SamplingOptions(temperature=0.7, top_k=20, top_p=0.8)
    sampling = Settings(temperature=0.0, seed=5).sampling(defaults)
    assert sampling == SamplingOptions(temperature=0.0, top_k=20, top_p=0.8, seed=5)


def test_seeds_are_random_unless_given() -> None:
    seeds = {Settings().sampling(SamplingOptions()).seed for _ in range(5)}
    assert len(seeds) > 1


def test_every_setting_has_a_flag() -> None:
    flags = arguments.make_parser().format_help()
    assert all(f"--{name}" in flags for name in NAMES if name != "model")
