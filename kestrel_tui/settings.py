"""The settings of a run: flags over environment over `config.toml` over defaults."""

from __future__ import annotations

import difflib
import os
import secrets
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from kestrel_engine.errors import UsageError
from kestrel_engine.events import Submit
from kestrel_engine.options import EngineOptions, SamplingOptions, SpeculationOptions
from kestrel_tui.keys import BadKey, parse_keys
from kestrel_tui.sanitize import clean_input

DEEPEST = 8
"""Tables in tables that the config file may have."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options say. None means: not given, the model or the engine decides."""

    model: str | None = None
    system: str | None = None
    think: bool | None = None
    max_tokens: int = 1024
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    speculate: str | int = "auto"
    """"auto", or 0 (off) to 8 drafts a round."""
    drafter: str = "auto"
    rollback: str = "cursor"
    draft_vocab: str | int | None = None
    quant: str = "auto"
    device: str = "auto"
    threads: int | None = None
    prefill_chunk: int | None = None
    context: int | None = None
    plain: bool = False
    no_save: bool = False
    quiet: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys of the live screen that are not the usual ones, by action; only `config.toml` has them."""

    def engine_options(self) -> EngineOptions:
        return EngineOptions(model=self.model, **self._given(_ENGINE))

    def speculation(self) -> SpeculationOptions:
        return SpeculationOptions(length=self.speculate, drafter=self.drafter)

    def sampling(self, defaults: SamplingOptions) -> SamplingOptions:
        """The model's own `defaults` where no setting was given; a random seed unless one was."""
        seed = secrets.randbelow(2**31) if self.seed is None else self.seed
        return replace(defaults, **self._given(_SAMPLING) | {"seed": seed})

    def submit(
        self, defaults: SamplingOptions, messages: tuple[dict, ...] = (), raw: str | None = None
    ) -> Submit:
        """The command that asks for an answer to `messages`, or for the continuation of `raw`."""
        return Submit(
            messages=messages,
            raw=raw,
            sampling=self.sampling(defaults),
            speculation=self.speculation(),
            max_tokens=self.max_tokens,
            stop=self.stop,
            think=self.think,
        )

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


_ENGINE = ("quant", "device", "threads", "context", "prefill_chunk", "rollback", "draft_vocab")
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "presence_penalty", "repetition_penalty", "seed")

NAMES = tuple(each.name.replace("_", "-") for each in fields(Settings) if each.name != "keys")
"""Every setting as it is written on the command line and in `config.toml`, which also has the table `keys`."""


class _BadValue(ValueError):
    """A value that is no setting: "what to do instead"."""


_MOST_BITS = 256
"""Of a whole number: anything longer is a mistake, and Python refuses to print what is much longer."""


def _whole(value: Any, which: str = "") -> int:
    """which: what else the number must be, which others check."""
    try:
        number = int(value) if isinstance(value, str) else _of_type(value, int)
    except ValueError:
        raise _BadValue(f"use a whole number{which}") from None
    if number.bit_length() > _MOST_BITS:
        raise _BadValue("use a smaller number")
    return number


def _positive(value: Any) -> int:
    number = _whole(value, ", 1 or more")
    if number < 1:
        raise _BadValue("use 1 or more")
    return number


def _number(value: Any, which: str) -> float:
    try:
        return float(value if isinstance(value, str) else _of_type(value, int, float))
    except (ValueError, OverflowError):
        raise _BadValue(f"use a number{which}") from None


def _of_type(value: Any, *types: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, types):
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _BadValue("use text in quotes")
    return value


def _prose(value: Any) -> str:
    return clean_input(_text(value))


def _proses(value: Any) -> tuple[str, ...]:
    texts = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(text, str) and text for text in texts):
        raise _BadValue("use text that is not empty")
    return tuple(clean_input(text) for text in texts)


def _model(value: Any) -> str:
    name = _text(value)
    if name.lower().startswith(("http://", "https://")):
        raise _BadValue("talking to a server is not built yet: name a folder or a Hugging Face id")
    if not name:
        raise _BadValue("name a folder or a Hugging Face id, or leave it out")
    return os.path.expanduser(name)


_SWITCH = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def _switch(value: Any) -> bool:
    choice = value if isinstance(value, bool) else _SWITCH.get(str(value).lower())
    if choice is None:
        raise _BadValue("use true or false")
    return choice


def parse_speculate(value: Any) -> str | int:
    """ "auto", or a draft length: "off" is 0. Raises ValueError."""
    if value in ("auto", "off"):
        return "auto" if value == "auto" else 0
    try:
        number = _whole(value)
        SpeculationOptions(length=number)
    except (_BadValue, UsageError):
        raise _BadValue("use auto, off, or 1 to 8") from None
    return number


def _draft_vocab(value: Any) -> str | int:
    try:
        return "all" if value == "all" else _positive(value)
    except _BadValue:
        raise _BadValue("use all or a positive whole number") from None


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "model": _model,
    "system": _prose,
    "think": _switch,
    "max_tokens": _positive,
    "temperature": partial(_number, which=" from 0 to 100"),
    "top_k": partial(_whole, which=", 0 (off) or more"),
    "top_p": partial(_number, which=" above 0, up to 1 (off)"),
    "min_p": partial(_number, which=" from 0 (off) to 1"),
    "presence_penalty": partial(_number, which=" from -100 to 100"),
    "repetition_penalty": partial(_number, which=" from 0.01 to 100; 1 is off"),
    "seed": partial(_whole, which=" from 0 to 2^63-1"),
    "stop": _proses,
    "speculate": parse_speculate,
    "drafter": _text,
    "rollback": _text,
    "draft_vocab": _draft_vocab,
    "quant": _text,
    "device": _text,
    "threads": _positive,
    "prefill_chunk": _positive,
    "context": partial(_whole, which=", 16 or more"),
    "plain": _switch,
    "no_save": _switch,
    "quiet": _switch,
}


def _parse(name: str, value: Any) -> Any:
    """The value of setting `name` (with underscores). Raises UsageError: "threads x: use a whole number, 1 or more"."""
    shown = name.replace("_", "-")
    try:
        parsed = _PARSERS[name](value)
    except _BadValue as error:
        raise UsageError(f"{shown} {_shown(value)}: {error}") from None
    if name in _SAMPLING:
        SamplingOptions(**{name: parsed})
    elif name in _ENGINE:
        EngineOptions(**{name: parsed})
    elif name == "drafter":
        SpeculationOptions(drafter=parsed)
    return parsed


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 1:
        (value,) = value
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "…"
    return repr(value) if text == "" else text if len(text) <= 60 else text[:57] + "…"


def resolve(
    flags: Mapping[str, Any], environ: Mapping[str, str], config_file: Path
) -> tuple[Settings, list[str]]:
    """The settings of this run, and warnings (one line each) about what was not understood.

    flags: setting name (underscores) to the value given on the command line, absent when not given.
    Raises UsageError for a value that is no good, naming the flag, the variable, or file and line.
    """
    warnings: list[str] = []
    values = dict(_from_file(config_file, warnings))
    values |= _from_environment(environ, warnings)
    for name, value in flags.items():
        with _located("--" if name != "model" else ""):
            values[name] = _parse(name, value)
    return Settings(**values), warnings


def _depth(table: Any) -> int:
    """How deep tables and lists are nested, told without recursion: dotted keys nest as deep as they like."""
    depth, level = 0, [table]
    while level := [v for item in level for v in (item.values() if isinstance(item, dict) else item)
                    if isinstance(v, dict | list)]:  # fmt: skip
        depth += 1
    return depth


def _from_file(path: Path, warnings: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        table = tomllib.loads(text.replace("\r\n", "\n"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}: make it readable or remove it") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text: save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    if _depth(table) > DEEPEST:
        raise UsageError(f"{path}: tables nested more than {DEEPEST} deep: no setting needs that")
    lines = _lines(text)
    for key, value in table.items():
        name, place = key.replace("-", "_"), f"{path}:{lines.get(key, 1)}: "
        if name == "keys":
            try:
                yield name, parse_keys(value)
            except UsageError as error:
                entry = f"{key}.{error.id}" if isinstance(error, BadKey) else key
                raise UsageError(f"{path}:{lines.get(entry, lines.get(key, 1))}: {error}") from None
            continue
        if name not in _PARSERS:
            warnings.append(f"{place}unknown key {key!r}: {_hint(key, (*NAMES, 'keys'))}")
            continue
        with _located(place):
            yield name, _parse(name, value)


def _lines(text: str) -> dict[str, int]:
    """The line of each key (with the names of its tables before it: "keys.chat.new"), and of each table.

    Told from line to line, so that a multi-line text which looks like TOML can deceive it.
    """
    lines: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        is_header = line.lstrip().startswith("[")
        try:
            parsed = tomllib.loads(line if is_header else line.partition("=")[0] + "= 0")
        except ValueError:
            continue
        names = () if is_header else table
        while isinstance(parsed, dict) and parsed:
            name, parsed = next(iter(parsed.items()))
            names = (*names, name)
            lines.setdefault(".".join(names), number)
            parsed = parsed[0] if isinstance(parsed, list) else parsed
        if is_header:
            table = names
    return lines


def _from_environment(environ: Mapping[str, str], warnings: list[str]) -> dict[str, Any]:
    values = {}
    variables = {f"KESTREL_{name.upper()}": name for name in _PARSERS}
    for variable, text in environ.items():
        if variable in variables:
            name = variables[variable]
            if text:
                with _located(f"{variable}: "):
                    values[name] = _parse(name, text)
        elif variable.startswith("KESTREL_") and difflib.get_close_matches(variable, variables, 1, 0.85):
            # Other KESTREL_ variables may be somebody else's: only what looks like a slip is reported.
            warnings.append(f"environment: unknown variable {variable}: {_hint(variable, tuple(variables))}")
    return values


def _hint(word: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]}?" if near else "remove it; kestrel-chat --help lists the options"


class _located:
    """Puts the place a value came from before the message of its error."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UsageError):
            raise UsageError(f"{self._place}{error}") from None
