"""The plain chat: through pipes, and on a terminal with its keys."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from fake_engine import isolate
from terminal import Terminal, run_chat

from kestrel_tui import sanitize
from kestrel_tui.chats import read_chat
from kestrel_tui.commands import is_command


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def talk(home: Path, *lines: str, arguments: tuple[str, ...] = ()) -> tuple[str, str]:
    """(standard output, standard error) of a chat fed through a pipe."""
    done = run_chat(home, "--plain", "-q", *arguments, stdin="".join(f"{line}\n" for line in lines).encode())
    assert done.returncode == 0
    return done.stdout.decode(), done.stderr.decode()


def last_chat(home: Path):
    files = (home / "data" / "kestrel" / "chats").glob("*.jsonl")
    return read_chat(max(files, key=lambda path: path.stat().st_mtime_ns))


def test_a_transcript_through_pipes(home: Path) -> None:
    out, errors = talk(home, "hello", "how are you")
    assert (
        out
        == "User: hello\nAssistant: You said: hello\nUser: how are you\nAssistant: You said: how are you\n"
    )
    assert errors == ""


def test_the_chat_is_remembered_between_turns(home: Path) -> None:
    talk(home, "hello", "again")
    assert [message["content"] for message in last_chat(home).messages()] == [
        "hello", "You said: hello", "again", "You said: again",
    ]  # fmt: skip


def test_stats_and_greeting_are_on_standard_error(home: Path) -> None:
    done = run_chat(home, "--plain", stdin=b"hello\n")
    assert done.stdout == b"User: hello\nAssistant: You said: hello\n"
    assert b"kestrel-fake" in done.stderr and b"seed" in done.stderr


def test_without_a_terminal_the_chat_is_plain_by_itself(home: Path) -> None:
    done = run_chat(home, stdin=b"hello\n")
    assert done.stdout == b"User: hello\nAssistant: You said: hello\n"


def test_an_input_that_ends_at_once_is_no_failure(home: Path) -> None:
    assert run_chat(home, "-q").returncode == 0


def test_messages_of_several_lines(home: Path) -> None:
    out, _ = talk(home, '"""one', " two", 'three"""', "four\\", "five", '"""', "unfinished")
    questions = [turn.question for turn in last_chat(home).turns]
    assert questions == ["one\n two\nthree", "four\nfive", "unfinished"]
    assert "User: four\nfive\nAssistant: You said: four\nfive\n" in out


def test_reasoning_has_its_own_label(home: Path) -> None:
    out, _ = talk(home, "think", "tags")
    assert out == (
        "User: think\nReasoning: I wonder\nAssistant: The answer\nUser: tags\nReasoning: hm\nAssistant: Yes\n"
    )


def test_no_escape_byte_comes_out_even_of_the_model(home: Path) -> None:
    out, errors = talk(home, "escape", "\x1b[31mred\x07")
    assert not {"\x1b", "\x07", "\x9b"} & set(out + errors)
    assert "␛[2J" in out and "User: ␛[31mred␇" in out


def test_a_failed_turn_is_said_and_the_chat_goes_on(home: Path) -> None:
    out, errors = talk(home, "fail", "break", "hello")
    assert errors == (
        "kestrel-chat: the prompt is longer than the context: shorten it or raise --context\n"
        "kestrel-chat: a kernel broke: ask again\n"
    )
    assert out.endswith("User: hello\nAssistant: You said: hello\n")
    # What failed before the first token is not asked again with the next question; what came is kept.
    contents = [message["content"] for message in last_chat(home).messages()]
    assert contents == ["break", "word0 word1 word2 word3 word4 word5 ", "hello", "You said: hello"]


def test_a_script_learns_that_its_last_question_failed(home: Path) -> None:
    assert run_chat(home, "--plain", stdin=b"hello\nfail\n").returncode == 1


def test_a_model_that_cannot_be_loaded(home: Path) -> None:
    done = run_chat(home, "missing", "--plain", stdin=b"hello\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"kestrel-chat: missing: no such model: name a folder\n"


def test_commands(home: Path) -> None:
    out, errors = talk(
        home, "/help", "/speculate 3", "/speculate 9", "/think on", "/think what", "/bogus", "/stats",
        "/undo", "hello", "/stats",
    )  # fmt: skip
    assert out == "User: hello\nAssistant: You said: hello\n"
    assert "/speculate auto|off|1..8" in errors
    assert (
        "(drafts a round: 3)" in errors and "kestrel-chat: /speculate 9: use auto, off, or 1 to 8" in errors
    )
    assert "(reasoning: on)" in errors and "/think what: use on, off or auto" in errors
    assert "unknown command /bogus" in errors
    assert "(no answer yet)" in errors and "(nothing was asked yet)" in errors
    assert "answer: 3 tokens in 6 ms, 2.0 ms each\n" in errors
    assert "drafts: 3, of which 2 accepted, 1 wrong, and 0 not tested" in errors
    assert "\naccepted: 67% (2 of 3 tested)\n" in errors


def test_retry_and_undo_withdraw_turns(home: Path) -> None:
    talk(home, "one", "two", "/retry", "three", "/undo")
    assert [turn.question for turn in last_chat(home).turns] == ["one", "two"]


def test_new_starts_another_chat(home: Path) -> None:
    talk(home, "one", "/new", "two", arguments=("--system", "Be brief."))
    files = list((home / "data/kestrel/chats").glob("*.jsonl"))
    assert sorted(turn.question for path in files for turn in read_chat(path).turns) == ["one", "two"]
    assert {read_chat(path).system for path in files} == {"Be brief."}


def test_system_can_be_changed(home: Path) -> None:
    talk(home, "/system Be kind.", "one", "/system", "two", "/system Be short.")
    assert last_chat(home).system == "Be short."


def test_quit_ends_and_leaves_the_rest_unread(home: Path) -> None:
    assert talk(home, "/quit", "hello")[0] == ""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("/help", True),
        ("/think on", True),
        ("/etc/passwd is what", False),
        ("/", False),
        ("/a\nb", False),
        ("a", False),
    ],
)
def test_what_is_a_command(message: str, expected: bool) -> None:
    assert is_command(message) is expected


def test_a_space_makes_a_command_a_message(home: Path) -> None:
    assert talk(home, " /quit")[0].endswith("Assistant: You said: /quit\n")


def test_a_chat_that_goes_on_is_shown_again(home: Path) -> None:
    talk(home, "hello", "think")
    out, _ = talk(home, "more", arguments=("--continue",))
    assert out.startswith(
        "User: hello\nAssistant: You said: hello\n"
        "User: think\nReasoning: I wonder\nAssistant: The answer\nUser: more\n"
    )


def test_a_chat_that_goes_on_says_how_its_answers_ended(home: Path) -> None:
    talk(home, "hello", "break", "fail", "one two")
    [path] = (home / "data" / "kestrel" / "chats").glob("*.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # as a kill leaves it
    _, errors = talk(home, arguments=("--continue",))
    assert errors == (
        "kestrel-chat: a kernel broke: ask again\n"
        "kestrel-chat: the prompt is longer than the context: shorten it or raise --context\n"
        "(cut off)\n"
    )


def test_ctrl_c_stops_the_answer_only(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.expect("User: ")
        terminal.send("slow please\n")
        terminal.expect("word5")
        terminal.send("\x03")
        terminal.expect("(stopped)\n")
        terminal.expect("User: ")
        terminal.send("hello\n")
        terminal.expect("Assistant: You said: hello\n")
        terminal.expect("User: ")
        terminal.send("\x04")
        assert terminal.wait() == 0
    assert "\x1b" not in terminal.output  # TERM=dumb
    stopped, after = last_chat(home).turns
    assert stopped.finish_reason == "cancelled" and stopped.text.startswith("word0 word1")
    assert "word39" not in stopped.text and after.finish_reason == "stop"


def test_ctrl_c_twice_at_an_empty_prompt_quits(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.expect("User: ")
        terminal.send("\x03")
        terminal.expect("(press ctrl+c again to quit)\nUser: ")
        terminal.send("hello\n")  # the first one is forgotten
        terminal.expect("You said: hello")
        terminal.expect("User: ")
        terminal.send("\x03")
        terminal.expect("(press ctrl+c again to quit)\nUser: ")
        terminal.send("\x03")
        assert terminal.wait() == 130


def test_ctrl_c_clears_a_draft_and_the_up_arrow_brings_it_back(home: Path) -> None:
    pytest.importorskip("readline")
    with Terminal(home, "--plain", environ={"TERM": "xterm"}) as terminal:
        terminal.expect("User: ")
        terminal.send("a draft")
        terminal.expect("a draft")
        terminal.settle()
        terminal.send("\x03")
        terminal.expect("(cleared; the up arrow brings it back)")
        terminal.expect("User: ")
        terminal.send("\x1b[A\n")
        terminal.expect("You said: a draft")
        terminal.expect("User: ")
        terminal.settle()
        terminal.send("\x03")
        terminal.expect("(press ctrl+c again to quit)")


def test_a_bracketed_paste_is_one_message(home: Path) -> None:
    pytest.importorskip("readline")
    with Terminal(home, "--plain", environ={"TERM": "xterm"}) as terminal:
        terminal.expect("User: ")
        terminal.send("\x1b[200~one\rtwo\x1b[201~")
        terminal.expect("two")
        terminal.send("\n")
        terminal.expect("You said: one\ntwo\n")
        terminal.expect("User: ")
        terminal.send("\x04")
        assert terminal.wait() == 0
    assert [turn.question for turn in last_chat(home).turns] == ["one\ntwo"]


@pytest.mark.parametrize("environ", [{}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_without_readline_lines_that_arrive_together_are_one_message(
    home: Path, environ: dict[str, str]
) -> None:
    with Terminal(home, "--plain", environ=environ) as terminal:
        terminal.expect("User: ")
        terminal.send("one\ntwo\n/quit\n")
        terminal.expect("You said: one\ntwo\n")
        assert terminal.wait() == 0
    assert "\x1b" not in terminal.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ending_signals_end_an_answer_and_the_program(home: Path, number: int) -> None:
    with Terminal(home) as terminal:
        terminal.expect("User: ")
        terminal.send("slow\n")
        terminal.expect("word3")
        terminal.process.send_signal(number)
        assert terminal.wait() == 130
    assert last_chat(home).turns[0].finish_reason == "cancelled"


def test_sigterm_at_the_prompt_ends_the_program(home: Path) -> None:
    with Terminal(home) as terminal:
        terminal.expect("User: ")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait() == 130


def test_control_characters_become_visible() -> None:
    everything = "".join(map(chr, range(0x100)))
    shown = sanitize.for_terminal(everything)
    assert {character for character in shown if not character.isprintable()} == {"\n", "\t", "\xa0", "\xad"}
    assert sanitize.one_line("a\nb\r\n\tc\x1b ") == "a b   c␛"
    assert os.linesep == "\n"


def test_an_input_without_end_is_refused(home: Path) -> None:
    done = run_chat(home, "--plain", "-q", stdin=b"x" * (64 * 1024 * 1024 + 1))
    assert (done.returncode, done.stdout) == (2, b"")
    said = "standard input goes on after 64 MiB, more than any model takes: shorten it"
    assert done.stderr.decode() == f"kestrel-chat: {said}\n"
