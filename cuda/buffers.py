"""The static buffers of a model: nothing is allocated while it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kestrel_cuda import cursor, sampling
from kestrel_cuda.arrays import Candidates, Operand, Scratch
from kestrel_cuda.memory import DeviceArray, Memory, Mirror
from kestrel_cuda.operations import WIDE_SIZES, Operations
from kestrel_engine.config import ModelConfig
from kestrel_engine.options import MAX_DRAFT

ROWS = MAX_DRAFT + 1
"""Most rows of a pass."""
PLACES = 16
"""Room for one number per row, of each kind."""
MARKS = 64
"""Most newly emitted tokens that one round is told of."""
F = np.float32


class Post:
    """What goes to the device before a pass and comes back after it: one copy each way.

    Fields of `inputs` and `results` are int32 or float32 views of one array, on the host (`here`) and on the
    device (`there`). The last one is `hidden` [ROWS, hidden_size], of which only the rows in use are copied.
    """

    def __init__(self, memory: Memory, hidden_size: int, fields: dict[str, tuple[tuple[int, ...], type]]):
        fields = fields | {"hidden": ((ROWS, hidden_size), F)}
        self._memory, self._hidden_size = memory, hidden_size
        sizes = {name: int(np.prod(shape)) for name, (shape, _) in fields.items()}
        self._mirror: Mirror = memory.mirror(sum(sizes.values()))
        self.here: dict[str, np.ndarray] = {}
        self.there: dict[str, DeviceArray] = {}
        first = 0
        for name, (shape, dtype) in fields.items():
            part = self._mirror.host[first : first + sizes[name]]
            self.here[name] = part.view(dtype).reshape(shape)
            self.there[name] = memory.view(self._mirror.device, first, shape, dtype)
            first += sizes[name]

        self._size = first - ROWS * hidden_size

    def send(self, hidden_rows: int) -> None:
        self._mirror.send(self._size + hidden_rows * self._hidden_size)

    def fetch(self, hidden_rows: int) -> None:
        self._mirror.fetch(self._size + hidden_rows * self._hidden_size)

    def receive(self, hidden_rows: int) -> None:
        """`fetch`, and wait for it."""
        self.fetch(hidden_rows)
        self._memory.wait()


def make_inputs(memory: Memory, hidden_size: int) -> Post:
    return Post(
        memory,
        hidden_size,
        {
            "cursor": ((cursor.SIZE,), np.int32),
            "integers": ((sampling.SETTINGS,), np.int32),
            "reals": ((sampling.SETTINGS,), F),
            "tokens": ((max(PLACES, *WIDE_SIZES),), np.int32),
            "pair_tokens": ((PLACES,), np.int32),
            "marks": ((MARKS,), np.int32),
        },
    )


def make_results(memory: Memory, hidden_size: int) -> Post:
    return Post(
        memory,
        hidden_size,
        {
            "stamps": ((2,), np.int32),  # nanoseconds when the round began, and when it had its drafts
            "damaged": ((2 * PLACES,), np.int32),  # of the drafts, then of the rows
            "drafts": ((PLACES,), np.int32),
            "draft_logits": ((PLACES,), F),
            "chosen": ((PLACES,), np.int32),
            "chosen_logits": ((PLACES,), F),
            "log_sums": ((PLACES,), F),
        },
    )


@dataclass(slots=True)
class Buffers:
    """Float32 rows [ROWS, …] of a pass, the operands of its products, and what attention needs."""

    x: DeviceArray
    normed: Operand
    qkv_z: DeviceArray
    beta_a: DeviceArray
    delta_out: DeviceArray
    gated: Operand
    qkv: DeviceArray
    query: DeviceArray
    attention_out: Operand
    gate_up: DeviceArray
    activated: Operand
    final: Operand
    logits: DeviceArray
    pair: Operand
    pair_x: DeviceArray
    last_x: DeviceArray
    last_qkv: DeviceArray
    last_query: DeviceArray
    draft_hidden: DeviceArray
    scratch: Scratch
    candidates: Candidates


def make_buffers(operations: Operations, config: ModelConfig, format: str, positions: int) -> Buffers:
    def rows(width: int, count: int = ROWS) -> DeviceArray:
        return operations.memory.empty((count, width), F)

    def operand(width: int, *formats: str) -> Operand:
        return operations.operand(ROWS, width, set(formats) or {format})

    heads, width, hidden = config.num_attention_heads, config.head_dim, config.hidden_size
    value_heads, intermediate = config.linear_num_value_heads, config.intermediate_size
    qkv = 2 * heads * width + 2 * config.num_key_value_heads * width
    return Buffers(
        x=rows(hidden),
        normed=operand(hidden, format, "bf16"),
        qkv_z=rows(config.conv_dim + config.value_dim),
        beta_a=rows(2 * value_heads),
        delta_out=rows(config.value_dim),
        gated=operand(config.value_dim),
        qkv=rows(qkv),
        query=operations.memory.empty((ROWS, heads, width), F),
        attention_out=operand(heads * width),
        gate_up=rows(2 * intermediate),
        activated=operand(intermediate),
        final=operand(hidden, format, "q4"),  # draft heads have fewer bits than the model
        logits=rows(config.vocab_size),
        pair=operand(2 * hidden),
        pair_x=rows(hidden),
        last_x=rows(hidden, 1),
        last_qkv=rows(qkv, 1),
        last_query=operations.memory.empty((1, heads, width), F),
        draft_hidden=rows(hidden, 1),
        scratch=operations.scratch(ROWS, heads, width, positions),
        candidates=operations.choice.candidates(ROWS, config.vocab_size),
    )
