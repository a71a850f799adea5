"""The checkpoint's own chat template, rendered in a sandbox as transformers renders it."""

from __future__ import annotations

import datetime
import functools
import json
import os
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from kestrel_engine.errors import KestrelError, UsageError

TEMPLATE_FILE = "chat_template.jinja"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
NAMED_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")


class ChatTemplate:
    """`source` is jinja text; `variables` are always visible to it (the tokenizer's named tokens)."""

    def __init__(self, source: str, variables: dict[str, str] | None = None):
        self.source = source
        self.variables = variables or {}

    @classmethod
    def from_folder(cls, folder: Path) -> ChatTemplate | None:
        """The template of `chat_template.jinja`, else of `tokenizer_config.json`; None if there is none."""
        config = _read_tokenizer_config(Path(folder) / TOKENIZER_CONFIG_FILE)
        variables = {}
        for name in NAMED_TOKENS:
            token = config.get(name)
            token = token.get("content") if isinstance(token, dict) else token
            if isinstance(token, str):
                variables[name] = token
        path = Path(folder) / TEMPLATE_FILE
        source = _read_text(path) if os.path.exists(path) else config.get("chat_template")
        if isinstance(source, list):
            # Several named templates, as a list of {"name": ..., "template": ...}.
            source = {entry.get("name"): entry.get("template") for entry in source if isinstance(entry, dict)}
            source = source.get("default")
        return cls(source, variables) if isinstance(source, str) and source.strip() else None

    def render(self, messages: list[dict], think: bool | None, add_generation_prompt: bool = True) -> str:
        """The prompt's text. `think` None leaves `enable_thinking` undefined, so that the template decides.

        Raises KestrelError, one line, when the template refuses the messages or is itself wrong.
        """
        variables: dict[str, Any] = {**self.variables, "tools": None, "documents": None}
        if think is not None:
            variables["enable_thinking"] = think
        try:
            return self._compiled.render(
                messages=[_plain_message(message) for message in messages],
                add_generation_prompt=add_generation_prompt,
                **variables,
            )
        except jinja2.TemplateSyntaxError as error:
            where = f"line {error.lineno}: {_in_one_line(error.message or '')}"
            broken = f"the model's chat template is damaged ({where}): download the model again, or use --raw"
            raise UsageError(broken) from None
        except Exception as error:
            # Templates are programs; whatever one does wrong ends here.
            reason = _in_one_line(str(error) or type(error).__name__)
        raise KestrelError(f"the model's chat template failed ({reason}): change the messages, or use --raw")

    @functools.cached_property
    def _compiled(self) -> jinja2.Template:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, "jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise_exception
        environment.globals["strftime_now"] = _strftime_now
        return environment.from_string(self.source)


class _GenerationTag(Extension):
    """`{% generation %}` marks assistant text for training; here it only shows its contents."""

    tags = frozenset({"generation"})

    def parse(self, parser: Any) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys=False
):
    # Jinja's own filter escapes HTML characters.
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _in_one_line(reason: str) -> str:
    return " ".join(reason.split())[:200].rstrip(" .")


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now().strftime(pattern)


def _plain_message(message: dict) -> dict:
    """A fresh copy out of JSON types only (a template must not reach objects with methods), without keys
    whose value is None: templates handle an absent key better."""
    plain = json.loads(json.dumps(message, ensure_ascii=False))
    return {key: value for key, value in plain.items() if value is not None}


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its permissions") from None
    except ValueError:
        raise UsageError(f"{path} is not UTF-8 text: download the model again") from None


def _read_tokenizer_config(path: Path) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    try:
        config = json.loads(_read_text(path))
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not valid JSON: download the model again") from None
    if not isinstance(config, dict):
        raise UsageError(f"{path} does not hold a JSON object: download the model again")
    return config
