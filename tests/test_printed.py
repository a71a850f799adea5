"""Chats that are printed on the terminal: broken between words, with everything worth copying in one piece."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rich.cells import cell_len
from terminal import Terminal, run_chat

from kestrel_tui.printed import rows, wrap_markdown
from kestrel_tui.sanitize import for_terminal


def wrapped(text: str, columns: int = 20) -> list[str]:
    return wrap_markdown(text, columns).split("\n")


def test_prose_is_broken_between_words() -> None:
    assert wrapped("a kestrel hovers over the field and looks") == [
        "a kestrel hovers",
        "over the field and",
        "looks",
    ]
    assert wrapped("exactly twenty cells") == ["exactly twenty cells"]
    assert wrapped("a hard break stays behind a line  ") == ["a hard break stays", "behind a line  "]


def test_quotations_and_items_go_on_as_such() -> None:
    assert wrapped("> it thinks about kites") == ["> it thinks about", "> kites"]
    assert wrapped("> - it thinks about kites") == ["> - it thinks about", ">   kites"]
    assert wrapped("12. first one and then another") == ["12. first one and", "    then another"]


@pytest.mark.parametrize(
    "line",
    [
        "```\nlong code line that goes on and on\n```",
        "~~~~ python\nx = 'a string that is long'\n~~~\nstill code, which is not over\n~~~~",
        "> ```\n> code in a quotation is code\n> ```",
        "    indented code is code as well, always",
        "| a | table | with | many | columns |",
        "## A heading that is longer than that",
        "x\t= 1 # a tab is not prose, it is code",
        "https://example.org/one/very/long/address",
    ],
)
def test_what_is_copied_stays_whole(line: str) -> None:
    assert wrap_markdown(line, 20) == line


def test_a_span_of_code_and_a_long_word_stay_whole() -> None:
    assert wrapped("please call `git log -1` now") == ["please call", "`git log -1` now"]
    assert wrapped("look at https://example.org/a/long/one please") == [
        "look at", "https://example.org/a/long/one please",
    ]  # fmt: skip
    assert wrapped("a stray ` is no span of code at all") == ["a stray ` is no span", "of code at all"]


def test_no_line_begins_with_what_would_be_a_mark() -> None:
    for mark in ("-", "*", "+", "#", "1.", "===", "|", ">", "```"):
        lines = wrapped(f"eleven cells {mark} and then more of it, up to the end")
        assert not any(line.startswith(mark) for line in lines) and len(lines) > 2, lines
    assert wrapped("thirteen cells, 12 is a number") == ["thirteen cells, 12", "is a number"]


def test_wide_characters_count_as_the_terminal_counts_them() -> None:
    assert wrapped("🦅🦅 x🦅y🦅z🦅 is a word with wide ones") == [
        "🦅🦅 x🦅y🦅z🦅 is a",
        "word with wide ones",
    ]
    assert wrapped("ééé ééé éé" + "e\u0301 four") == ["ééé ééé éée\u0301 four"]
    text = "猫头鹰在夜里飞行,捕捉老鼠和小鸟 and more of it"
    assert wrapped(text) == [text.removesuffix(" of it"), "of it"], "ideographs are the terminal's to break"


def test_only_spaces_become_newlines_and_no_word_crosses_the_edge() -> None:
    chance = random.Random(7)
    for _ in range(300):
        words = [
            "".join(chance.choices(("a", "b", "é", "e\u0301", "🦅x"), k=chance.randint(1, 5)))
            for _ in range(40)
        ]
        text, columns = " ".join(words), chance.randint(16, 60)
        lines = wrapped(text, columns)
        assert " ".join(lines) == text and all(cell_len(line) <= columns for line in lines)


def test_rows_are_those_of_the_terminal() -> None:
    assert rows("a\n\n" + "b" * 20 + "\n" + "c" * 21 + "\n" + "日" * 11, 20) == 1 + 1 + 1 + 2 + 2


def test_a_saved_chat_is_wrapped_on_a_terminal_and_piped_as_it_is(tmp_path: Path) -> None:
    question = "what does a kestrel see of the field that it hovers over \x1b[2J"
    run_chat(tmp_path, "-p", question)
    [path] = tmp_path.glob("data/kestrel/chats/*.jsonl")
    piped = run_chat(tmp_path, "--show", path.stem).stdout.decode()
    assert f"\n{question}\n" in piped
    with Terminal(tmp_path, "--show", path.stem, environ={"COLUMNS": "30"}) as terminal:
        assert terminal.wait() == 0
    assert terminal.output == wrap_markdown(for_terminal(piped), 30) != piped
    assert max(map(cell_len, terminal.output.splitlines())) <= 30
