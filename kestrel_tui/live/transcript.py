"""What the transcript shows, and where: blocks of text made of tokens, wrapped to a width."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from kestrel_engine.events import SPECULATION_OFF, Round, Token
from kestrel_tui.live.wrap import Line, wrap

BlockKind = Literal["user", "reasoning", "answer", "note", "error"]


class ShownToken(NamedTuple):
    """A token of an answer. `round` is None in a chat saved without rounds."""

    token: Token
    round: Round | None

    @property
    def is_off(self) -> bool:
        """Whether it came while speculation was off."""
        return self.round is not None and self.round.reason == SPECULATION_OFF


@dataclass(slots=True, eq=False)
class Block:
    """A question, a stretch of reasoning, an answer, or a line about them. `text` is the source text."""

    kind: BlockKind
    text: str = ""
    token_starts: list[int] = field(default_factory=list)
    """Offsets in `text` where tokens begin, ascending."""
    token_indices: list[int] = field(default_factory=list)
    """For each of `token_starts`, which of the transcript's tokens it is."""
    lines: list[Line] = field(default_factory=list)
    folded: bool = False
    top: int = 0
    """Row of the block's first line in the transcript."""

    @property
    def has_header(self) -> bool:
        return self.kind == "reasoning"

    @property
    def shown_lines(self) -> int:
        return 0 if self.folded else len(self.lines)

    @property
    def height(self) -> int:
        """Rows, the empty one below it included."""
        return self.has_header + self.shown_lines + 1

    def line_at(self, offset: int) -> int:
        """Index of the line that shows the character at `offset`."""
        return max(0, bisect.bisect_right(self.lines, offset, key=lambda line: line[0]) - 1)

    def token_at(self, offset: int) -> int | None:
        """The transcript's index of the token that owns the character at `offset`."""
        place = bisect.bisect_right(self.token_starts, offset) - 1
        return self.token_indices[place] if place >= 0 else None


class Row(NamedTuple):
    """What stands in a row of the transcript: `line` of `block`, its header (-1) or the gap below (-2)."""

    block: Block
    line: int


HEADER, GAP = -1, -2


class Transcript:
    """Grows at its end. Every change leaves the first row that looks different in `dirty`.

    What is appended is broken into lines when somebody looks: many tokens come between two looks.
    """

    def __init__(self, width: int = 80) -> None:
        self.blocks: list[Block] = []
        self.tokens: list[ShownToken] = []
        self.width = width
        """Cells a line of text may have."""
        self.folded = False
        """Whether new reasoning is folded."""
        self.heading: int | None = None
        """Row of the heading above what has grown last: it counts its tokens."""
        self.generation = 0
        """Counts the changes after which no row is what it was."""
        self._dirty: int | None = None
        self._growing: Block | None = None
        """The block with text that is not broken into lines."""

    @property
    def dirty(self) -> int | None:
        self.settle()
        return self._dirty

    @dirty.setter
    def dirty(self, y: int | None) -> None:
        self._dirty = y

    @property
    def height(self) -> int:
        self.settle()
        return self.blocks[-1].top + self.blocks[-1].height if self.blocks else 0

    def add(self, kind: BlockKind, text: str = "") -> Block:
        block = Block(kind, text, top=self.height, folded=self.folded and kind == "reasoning")
        block.lines = wrap(text, self.width)
        self.blocks.append(block)
        self.touch(block.top)
        return block

    def add_token(self, token: ShownToken) -> int:
        """Remember a token; its index, for `append`."""
        self.tokens.append(token)
        return len(self.tokens) - 1

    def append(self, block: Block, text: str, token: int | None = None) -> None:
        """Let `block` grow by `text`, which is (part of) the token with index `token`."""
        if not text:
            return
        if token is not None:
            block.token_starts.append(len(block.text))
            block.token_indices.append(token)
        if block is not self._growing:
            self.settle()
            self._growing = block
        block.text += text

    def settle(self) -> None:
        """Break what was appended into lines."""
        block, self._growing = self._growing, None
        if block is None:
            return
        before, first = block.height, len(block.lines) - 1
        start = block.lines[first][0]
        block.lines[first:] = wrap(block.text, self.width, start)
        self.touch(block.top + (0 if block.folded else block.has_header + first))
        if block.has_header:
            self.heading = block.top
        self._moved(block, block.height - before)

    def set_width(self, width: int) -> None:
        if width != self.width:
            self.settle()
            self.width = width
            for block in self.blocks:
                block.lines = wrap(block.text, width)
            self._place()

    def fold(self, block: Block, folded: bool) -> None:
        block.folded = folded
        self._place()

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold all reasoning, that of later answers too."""
        self.folded = folded
        for block in self.blocks:
            block.folded = folded and block.kind == "reasoning"
        self._place()

    def clear(self) -> None:
        self.blocks, self.tokens, self._growing = [], [], None
        self._place()

    def row(self, y: int) -> Row | None:
        """What stands in row `y`; None below the end."""
        self.settle()
        index = bisect.bisect_right(self.blocks, y, key=lambda block: block.top) - 1
        if index < 0 or y >= self.height:
            return None
        block = self.blocks[index]
        line = y - block.top - block.has_header
        if line < 0:
            return Row(block, HEADER)
        return Row(block, line if line < block.shown_lines else GAP)

    def y_of(self, block: Block, offset: int) -> int:
        """The row that shows the character at `offset` of `block`; its header's if it is folded."""
        self.settle()
        return block.top if block.folded else block.top + block.has_header + block.line_at(offset)

    def find_token(self, index: int) -> tuple[Block, int] | None:
        """Block and offset of the first character of a token; None when it has no text of its own."""
        for block in reversed(self.blocks):
            if block.token_indices and block.token_indices[0] <= index:
                place = bisect.bisect_left(block.token_indices, index)
                if place < len(block.token_indices) and block.token_indices[place] == index:
                    return block, block.token_starts[place]
                return None
        return None

    def switches_in(self, block: Block, line: int) -> bool:
        """Whether speculation went off, or on again, with a token that begins in `line` of `block`."""
        start, end = block.lines[line]
        first, last = (bisect.bisect_left(block.token_starts, offset) for offset in (start, end))
        seen = block.token_indices[max(0, first - 1) : last]
        if first == 0 and seen:
            # The one shown last before: between the two may be tokens of a tag, which stand nowhere.
            before = self.blocks[: self.blocks.index(block)]
            seen[:0] = next(
                ([other.token_indices[-1]] for other in reversed(before) if other.token_indices), []
            )
        return any(self.tokens[a].is_off != self.tokens[b].is_off for a, b in pairwise(seen))

    def _moved(self, grown: Block, by: int) -> None:
        if by and grown is not self.blocks[-1]:
            for block in self.blocks[self.blocks.index(grown) + 1 :]:
                block.top += by

    def _place(self) -> None:
        self.settle()
        top = 0
        for block in self.blocks:
            block.top = top
            top += block.height
        self.generation += 1
        self.touch(0)

    def touch(self, y: int) -> None:
        """Row `y` and what is below it look different."""
        self._dirty = y if self._dirty is None else min(self._dirty, y)
