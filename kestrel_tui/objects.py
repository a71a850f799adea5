"""Tokens and rounds as JSON: the objects of `--output json`, and the rows of a journal."""

from __future__ import annotations

import math
from typing import Any

from kestrel_engine.events import Round, Token
from kestrel_engine.options import MAX_DRAFT


def token_object(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "text": token.text,
        "kind": token.kind,
        "round": token.round,
        "draft_index": token.draft_index,
        "logprob": _number(token.logprob),
    }


def round_object(event: Round) -> dict[str, Any]:
    """The round without its tokens and its number."""
    return {
        "drafted": event.drafted,
        "accepted": event.accepted,
        "drafter": event.drafter,
        "rejected": list(event.rejected),
        "draft_ms": event.draft_ms,
        "verify_ms": event.verify_ms,
        "replay_ms": event.replay_ms,
        "reason": event.reason,
    }


def token_row(token: Token) -> list:
    """[id, text, kind, position, round, draft_index, logprob]"""
    number = _number(token.logprob)
    return [token.id, token.text, token.kind, token.position, token.round, token.draft_index, number]


def token_from_row(row: list) -> Token:
    """The inverse of `token_row`. Raises ValueError or TypeError."""
    id, text, kind, position, round, draft_index, logprob = row
    return Token(
        id=int(id),
        text=saved_text(text),
        kind=_kind(kind),
        position=int(position),
        round=int(round),
        draft_index=None if draft_index is None else int(draft_index),
        logprob=_logprob(logprob),
    )


def saved_round(event: Round) -> dict[str, Any]:
    """What a journal keeps of a round beside its tokens."""
    beside = {"rejected_texts": list(event.rejected_texts)}
    if event.rejected_logprob is not None:
        beside["rejected_logprob"] = _number(event.rejected_logprob)
    return {"index": event.index} | round_object(event) | beside


def round_from_saved(saved: dict, tokens: tuple[Token, ...]) -> Round:
    """The inverse of `saved_round`. Raises KeyError, ValueError or TypeError."""
    drafted, accepted = int(saved["drafted"]), int(saved["accepted"])
    if not 0 <= accepted <= drafted <= MAX_DRAFT:
        raise ValueError(f"{accepted} of {drafted} drafts accepted")
    return Round(
        index=int(saved["index"]),
        tokens=tokens,
        drafted=drafted,
        accepted=accepted,
        drafter=saved_text(saved["drafter"]),
        rejected=tuple(map(int, saved_list(saved["rejected"]))),
        draft_ms=float(saved["draft_ms"]),
        verify_ms=float(saved["verify_ms"]),
        replay_ms=float(saved["replay_ms"]),
        reason=saved_text(saved["reason"]),
        rejected_texts=tuple(map(saved_text, saved_list(saved["rejected_texts"]))),
        rejected_logprob=_logprob(saved["rejected_logprob"]) if "rejected_logprob" in saved else None,
    )


def saved_text(value: object) -> str:
    """`value`, which must be text: a journal may be damaged. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def saved_list(value: object) -> list:
    """`value`, which must be a list. Raises TypeError."""
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _number(value: float) -> float | None:
    # JSON has no infinities: a token the model thinks impossible (it can be forced) has no number.
    return value if math.isfinite(value) else None


def _logprob(value: float | None) -> float:
    """The inverse of `_number`."""
    return -math.inf if value is None else float(value)


def _kind(value: object) -> Any:
    if value not in ("own", "accepted", "replayed"):
        raise ValueError(value)
    return value
