"""What host and device tell each other around a pass: at most one small copy there, and one back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kestrel_cuda import cursor, sampling
from kestrel_cuda.buffers import PLACES, ROWS
from kestrel_cuda.memory import DeviceArray, Memory, Mirror
from kestrel_cuda.operations import WIDE_SIZES

F, WORD = np.float32, np.int32
SENT = {"integers": ((sampling.SETTINGS,), WORD), "reals": ((sampling.SETTINGS,), F)}
"""What the host alone decides."""
SHARED = {
    "cursor": ((cursor.SIZE,), WORD),
    "tokens": ((max(PLACES, *WIDE_SIZES),), WORD),
    "pair_tokens": ((PLACES,), WORD),
}
"""Where the device stands: it moves on by itself in a round."""
FETCHED = {
    "stamps": ((2,), WORD),  # nanoseconds when the round began, and when it had its drafts
    "damaged": ((2 * PLACES,), WORD),  # of the drafts, then of the rows
    "drafts": ((PLACES,), WORD),
    "draft_logits": ((PLACES,), F),
    "chosen": ((PLACES,), WORD),
    "chosen_logits": ((PLACES,), F),
    "log_sums": ((PLACES,), F),
}


class Post:
    """Fields are int32 or float32 views of one array, on the host (`here`) and on the device (`there`). The host
    sends `SENT` and `SHARED`, and only when it wants others than the device has; back come `SHARED`, `FETCHED` and
    `hidden` [ROWS, hidden_size], of which only the rows in use are copied. So `here` always says where the device
    stands.

    `pair_hidden` [ROWS, hidden_size] are the trunk rows of the pairs that the MTP head takes next; the host sends
    its own when the device has not kept them.
    """

    def __init__(self, memory: Memory, hidden_size: int):
        self._memory, self._hidden_size = memory, hidden_size
        rows = ((ROWS, hidden_size), F)
        fields = SENT | SHARED | FETCHED | {"hidden": rows}
        firsts = np.cumsum([0, *(int(np.prod(shape)) for shape, _ in fields.values())]).tolist()
        self._mirror, self._pairs = memory.mirror(firsts[-1]), memory.mirror(ROWS * hidden_size)
        self.here: dict[str, np.ndarray] = {}
        self.there: dict[str, DeviceArray] = {}
        for first, (name, field) in zip(firsts, fields.items(), strict=False):
            self._add(name, self._mirror, first, *field)
        self._add("pair_hidden", self._pairs, 0, *rows)
        self._shared, self._fetched = firsts[len(SENT)], firsts[len(SENT) + len(SHARED)]
        self._hidden = firsts[-2]
        self._same = True
        self._new_pairs = 0
        self.pairs_of: object = None
        """The state whose waiting pairs the device has (`round.identity`)."""

    def _add(self, name: str, mirror: Mirror, first: int, shape: tuple[int, ...], dtype: type) -> None:
        size = int(np.prod(shape))
        self.here[name] = mirror.host[first : first + size].view(dtype).reshape(shape)
        self.there[name] = self._memory.view(mirror.device, first, shape, dtype)

    def has(self, name: str, values: list, first: int = 0) -> bool:
        """Whether the device has `values` at place `first` of a field."""
        return self._same and self.here[name][first : first + len(values)].tolist() == values

    def put(self, name: str, values: list, first: int = 0) -> None:
        """Let it have them from the next `send` on."""
        if not self.has(name, values, first):
            self.here[name][first : first + len(values)] = values
            self._same = False

    def put_pairs(self, tokens: list[int], hidden: np.ndarray) -> None:
        """Tokens and trunk rows of the pairs that the MTP head takes next."""
        self.put("pair_tokens", tokens)
        self.here["pair_hidden"][: len(tokens)] = hidden
        self._new_pairs = len(tokens)
        self.pairs_of = None

    def send(self) -> None:
        """What the device does not have."""
        if not self._same:
            self._mirror.send(0, self._fetched)
        if self._new_pairs:
            self._pairs.send(0, self._new_pairs * self._hidden_size)
        self._same, self._new_pairs = True, 0

    @contextmanager
    def moving(self) -> Iterator[None]:
        """While the device moves its cursors, up to a `fetch`: if that fails, nothing is known of them."""
        pairs_of, self.pairs_of, self._same = self.pairs_of, None, False
        yield
        self.pairs_of, self._same = pairs_of, True

    def fetch(self, hidden_rows: int) -> None:
        self._mirror.fetch(self._shared, self._hidden + hidden_rows * self._hidden_size)

    def receive(self, hidden_rows: int) -> None:
        """`fetch`, and wait for it."""
        self.fetch(hidden_rows)
        self._memory.wait()
