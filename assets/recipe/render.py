"""A sample as token ids with the mask of what the assistant must predict."""

from dataclasses import dataclass
from functools import lru_cache

from tokenizers import Tokenizer

from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.tokenizer import (
    CONTROL_TOKENS,
    END_OF_TEXT,
    END_THINK,
    IM_END,
    IM_START,
    ROLES,
    THINK,
    role_token,
)

CACHED_PIECES = 200_000


@dataclass(frozen=True)
class Rendered:
    """One document in tokens.

    ids: the tokens, the last is <|endoftext|>.
    loss: as long as ids; 1 where the assistant (or the story) is to be predicted, else 0.
    content_bytes: UTF-8 bytes of the messages or the text, without any markup.
    """

    ids: list[int]
    loss: list[int]
    content_bytes: int


class Renderer:
    """Renders samples exactly as the chat template does, then closes them with <|endoftext|>."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._control = {token: tokenizer.token_to_id(token) for token in CONTROL_TOKENS}
        self._encode = lru_cache(CACHED_PIECES)(lambda text: tuple(tokenizer.encode(text).ids))

    def render(self, sample: dict) -> Rendered:
        """Raises RecipeError for an unknown role, an empty sample, or text that holds a control token."""
        ids: list[int] = []
        loss: list[int] = []

        def put(text: str, learned: bool = False) -> None:
            piece = (self._control[text],) if text in self._control else self._encode(text)
            ids.extend(piece)
            loss.extend([int(learned)] * len(piece))

        if "text" in sample:
            content = [_checked(sample["text"])]
            put(content[0], learned=True)
            put(END_OF_TEXT, learned=True)
        else:
            content = self._put_chat(sample.get("messages") or [], put)
            put(END_OF_TEXT)
        return Rendered(ids, loss, sum(len(text.encode()) for text in content))

    def _put_chat(self, messages: list[dict], put) -> list[str]:
        if not messages:
            raise RecipeError("a sample has neither messages nor text")
        last_query = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=-1)
        content = []
        for index, message in enumerate(messages):
            role, text = message["role"], _checked(message["content"])
            if role not in ROLES:
                raise RecipeError(f"unknown role {role!r} in a sample; use one of {', '.join(ROLES)}")
            if role == "system" and index:
                raise RecipeError("a system message must be the first of its sample")
            put(IM_START)
            put(role_token(role))
            if role == "assistant":
                put("\n")
                if index > last_query:
                    content.append(self._put_thoughts(_checked(message.get("reasoning", "")), put))
                put(text, learned=True)
            else:
                put(f"\n{text}")
            put(IM_END, learned=role == "assistant")
            put("\n")
            content.append(text)
        return content

    def _put_thoughts(self, reasoning: str, put) -> str:
        # The empty block is given by the generation prompt and so never learned; a filled one is.
        learned = bool(reasoning)
        put(THINK)
        if learned:
            put("\n")
            put(f"{reasoning}\n", learned=True)
        else:
            put("\n\n")
        put(END_THINK, learned)
        put("\n\n", learned)
        return reasoning


def _checked(text: str) -> str:
    text = text.strip()
    if any(token in text for token in CONTROL_TOKENS):
        raise RecipeError(f"a sample holds a control token in its text: {text[:60]!r}")
    return text
