"""What a pass and a round cost, from the launches that the runner really makes: bytes moved, launches, and the
least time that a card's bandwidth allows.

The launches are recorded on a memory that holds nothing, so a 27B model costs none. Bytes are those that must
come from or go to device memory: matrices, recurrent states, keys and values up to the context's length, logits,
and the rows of everything else once per launch. Operands that all blocks share come from the caches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from kestrel_cuda.arrays import CudaMatrix
from kestrel_cuda.buffers import ROWS
from kestrel_cuda.layout import BLOCKS
from kestrel_cuda.memory import DeviceArray, Memory, Mirror
from kestrel_cuda.model import CudaModel
from kestrel_cuda.operations import WIDE_SIZES, Operations
from kestrel_cuda.sampling import GREEDY
from kestrel_engine.config import FULL, LINEAR, ModelConfig
from kestrel_engine.state import CONV_HISTORY
from kestrel_engine.weights import AttentionWeights, DeltaWeights, FeedForward, MtpWeights, Weights

BANDWIDTH = {"H200": 4.8e12, "RTX 5090": 1.79e12}
"""Bytes per second, from the data sheets."""
LAUNCH_SECONDS = 1.3e-6
"""What a kernel of a graph costs beside its work, measured on an H100 by Hazy Research ("Look Ma, No Bubbles!",
2025-05-27, hazyresearch.stanford.edu/blog/2025-05-27-no-bubbles); to be measured here."""
EFFICIENCY = 0.92
"""Assumed share of the data sheet's bandwidth that a long read reaches; to be measured."""
FIELD_REPORT_MS = 14.59
"""Milliseconds a token, plain, that the Kestrel field report measured on an RTX 5090 (27B, q4)."""


# --- recording --------------------------------------------------------------------------------------------


class _NoMirror(Mirror):
    """Copies are counted with the pass they belong to."""

    def send(self, first: int, end: int) -> None:
        self.device.memory.copied += 4 * (end - first)

    fetch = send


@dataclass
class Recorder(Memory):
    """A memory without contents that notes launches: (name, arguments, rows or None)."""

    launches: list[tuple[str, tuple, int | None]] = field(default_factory=list)
    allocated: int = 0
    copied: int = 0
    """Bytes between host and device."""
    kernels: set = field(default_factory=set)
    """Those launched."""

    def empty(self, shape: tuple[int, ...], dtype) -> DeviceArray:
        array = DeviceArray(self, None, None, tuple(shape), dtype)
        self.allocated += array.nbytes
        return array

    zeros = empty

    def copy(self, target, source) -> None:
        pass

    def view(self, source: DeviceArray, first: int, shape: tuple[int, ...], dtype) -> DeviceArray:
        return DeviceArray(self, None, None, tuple(shape), dtype)

    def reshape(self, source: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        return DeviceArray(self, None, None, shape, source.dtype)

    def mirror(self, size: int) -> Mirror:
        return _NoMirror(np.zeros(size, np.int32), self.empty((size,), np.int32))

    def rows(self, source: DeviceArray, first: int, count: int) -> DeviceArray:
        return DeviceArray(self, None, None, (count, *source.shape[1:]), source.dtype)

    def launch(self, kernel, blocks: int | tuple, threads: int, *arguments, shared: int = 0) -> None:
        function = kernel.py_func
        self.kernels.add(kernel)
        self.launches.append((function.__name__, arguments, getattr(function, "rows", None)))


def launch_bytes(name: str, arguments: tuple, rows: int, context: int) -> int:
    """Bytes that one launch of a pass of `rows` rows moves."""
    if name.endswith("_two_rows"):
        weights, scales, _, _, out, side_weights, _, side_out, *_ = arguments
        outputs = rows * (out.shape[1] + side_out.shape[1]) * 4
        return weights.nbytes + scales.nbytes + side_weights.nbytes + outputs
    if name in ("q4_rows", "q8_rows", "bf16_rows"):
        weights, scales, _, _, out, add, _, _, extra = arguments
        outputs = rows * out.shape[1] * 4 * (1 + add)
        return weights.nbytes + scales.nbytes + outputs + _rows_bytes(extra, rows)
    if name.endswith("_tiles"):
        weights, scales, _, _, out, add, *_ = arguments
        return weights.nbytes + scales.nbytes + rows * out.shape[1] * 4 * (1 + add)
    if name == "embed_rows":
        return rows * arguments[3].shape[1] * (2 + 4)
    if name == "scores_rows":
        heads, _, width, _ = arguments[1].shape
        return heads * width * context * 4
    if name == "values_rows":
        heads, _, width = arguments[2].shape
        return heads * width * context * 4
    if name == "delta_rows":
        state, qkv, beta_a, ring, *others = arguments
        ring_bytes = (CONV_HISTORY + rows) * ring.shape[1] * 4
        return 2 * state.nbytes + ring_bytes + _rows_bytes((qkv, beta_a, *others), rows)
    if name in ("find_candidates", "log_sum_exp"):
        return rows * arguments[0].shape[1] * 4
    if name in ("choose_tokens", "choose_ordered"):  # the latter sums the weights of sorted entries
        return 0 if name == "choose_tokens" else rows * arguments[0].shape[1] * 8
    if name == "settle":
        return 2 * rows * arguments[4].shape[1] * 4
    return _rows_bytes(arguments, rows)


def _rows_bytes(item, rows: int) -> int:
    """Bytes of an argument's rows; of norms' scales, logs and the like all, of caches and tables none."""
    if isinstance(item, tuple):
        return sum(_rows_bytes(part, rows) for part in item)
    if not isinstance(item, DeviceArray) or item.size <= 1:
        return 0
    if len(item.shape) == 1 and item.size % (ROWS * BLOCKS) == 0:  # of an operand
        return item.nbytes // ROWS * rows
    if item.shape[0] in (1, ROWS):
        return item.nbytes // item.shape[0] * min(rows, item.shape[0])
    is_small = len(item.shape) == 1 or (item.shape[0] <= 2 * ROWS and len(item.shape) < 4)
    return item.nbytes if item.nbytes < 1 << 20 and is_small else 0


# --- a model without contents -----------------------------------------------------------------------------

COMMON = dict(
    vocab_size=248320,
    head_dim=256,
    linear_num_key_heads=16,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_conv_kernel_dim=4,
    rms_norm_eps=1e-6,
    rope_theta=1e7,
    rotary_dim=64,
    has_mtp=True,
    max_position_embeddings=262144,
    eos_token_ids=(),
)


def shape(name: str, hidden: int, layers: int, heads: int, kv_heads: int, ff: int, values: int, tied: bool):
    """A Qwen3.5 model's shape: every fourth layer is full attention."""
    kinds = tuple(FULL if (layer + 1) % 4 == 0 else LINEAR for layer in range(layers))
    return ModelConfig(
        name=name,
        hidden_size=hidden,
        num_hidden_layers=layers,
        layer_types=kinds,
        intermediate_size=ff,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        linear_num_value_heads=values,
        tie_word_embeddings=tied,
        **COMMON,
    )


SHAPES = {
    "0.8B": shape("0.8B", 1024, 24, 8, 2, 3584, 16, True),
    "4B": shape("4B", 2560, 32, 16, 4, 9216, 32, True),
    "27B": shape("27B", 5120, 64, 24, 4, 17408, 48, False),
}
DRAFT_ROWS = 32768 + 26


class _Maker:
    """Weights of a shape, without contents."""

    def __init__(self, operations: Operations, config: ModelConfig, format: str):
        self.operations, self.config, self.format = operations, config, format

    def vector(self, *size: int, dtype=np.float32) -> DeviceArray:
        return self.operations.memory.empty(size, dtype)

    def matrix(self, rows: int, width: int, format: str | None = None) -> CudaMatrix:
        return self.operations.empty_matrix(rows, width, format or self.format)

    def feed_forward(self) -> FeedForward:
        h, ff = self.config.hidden_size, self.config.intermediate_size
        return FeedForward(self.vector(h), self.matrix(2 * ff, h), self.matrix(h, ff))

    def attention(self) -> AttentionWeights:
        c = self.config
        query, kv = c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim
        return AttentionWeights(
            self.vector(c.hidden_size),
            self.matrix(2 * query + 2 * kv, c.hidden_size),
            self.vector(c.head_dim),
            self.vector(c.head_dim),
            self.matrix(c.hidden_size, query),
            self.feed_forward(),
        )

    def delta(self) -> DeltaWeights:
        c = self.config
        heads = c.linear_num_value_heads
        return DeltaWeights(
            self.vector(c.hidden_size),
            self.matrix(c.conv_dim + c.value_dim, c.hidden_size),
            self.matrix(2 * heads, c.hidden_size, "bf16"),
            self.vector(4, c.conv_dim),
            self.vector(heads),
            self.vector(heads),
            self.vector(c.linear_value_head_dim),
            self.matrix(c.hidden_size, c.value_dim),
            self.feed_forward(),
        )

    def weights(self) -> Weights:
        c = self.config
        h = c.hidden_size
        mtp = MtpWeights(
            self.vector(h), self.vector(h), self.matrix(h, 2 * h), self.attention(), self.vector(h)
        )
        return Weights(
            format=self.format,
            embedding=self.vector(c.vocab_size, h, dtype=np.uint16),
            layers=tuple(self.attention() if kind == FULL else self.delta() for kind in c.layer_types),
            norm=self.vector(h),
            output=self.matrix(c.vocab_size, h),
            output_bits=np.empty((0, 0), np.uint16),
            mtp=mtp,
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one or several captured graphs."""

    bytes: int
    launches: int
    by_kernel: dict[str, tuple[int, int]]
    """Kernel -> launches, bytes."""

    def floor_ms(self, card: str) -> float:
        """Milliseconds that moving the bytes takes at the data sheet's bandwidth."""
        return 1e3 * self.bytes / BANDWIDTH[card]

    def estimate_ms(self, card: str) -> float:
        """With the assumed efficiency and time between kernels."""
        return self.floor_ms(card) / EFFICIENCY + 1e3 * self.launches * LAUNCH_SECONDS


class Shape:
    """The costs of one model, format and context."""

    def __init__(self, name: str, format: str, context: int):
        self.memory, self.context = Recorder(), context
        operations = Operations(self.memory)
        config = SHAPES[name]
        maker = _Maker(operations, config, format)
        weights = maker.weights()
        self.weight_bytes = self.memory.allocated
        self.model = CudaModel(config, weights, None, context, operations)
        self.state = self.model.new_state()
        self.device_bytes = self.memory.allocated
        head_format = {"bf16": "q8", "q8": "q4", "q4": "q4"}[format]
        head = SimpleNamespace(
            ids=np.arange(DRAFT_ROWS),
            added=[],
            format=head_format,
            matrix=maker.matrix(DRAFT_ROWS, config.hidden_size, head_format),
        )
        self.head = self.model.rounds._on_device(head)

    def _cost(self, rows: int, work: Callable[[], None]) -> Cost:
        self.memory.launches.clear()
        work()
        counts, sizes = Counter(), Counter()
        for name, arguments, own_rows in self.memory.launches:
            counts[name] += 1
            sizes[name] += launch_bytes(name, arguments, own_rows or rows, self.context)
        by_kernel = {name: (counts[name], sizes[name]) for name in counts}
        return Cost(sizes.total(), counts.total(), by_kernel)

    def verify(self, drafts: int, mode: int = GREEDY) -> Cost:
        """A round with `drafts` drafts that are there already; tokens are chosen in the way `mode`."""
        launch = self.model.rounds.launch
        return self._cost(drafts + 1, lambda: launch(self.state, drafts + 1, None, 0, mode))

    def draft(self, drafts: int, mode: int = GREEDY) -> Cost:
        work = self.model.rounds._draft
        return self._cost(1, lambda: work(self.state, self.head, drafts, drafts + 1, mode))

    def round(self, drafts: int, mode: int = GREEDY) -> Cost:
        """A whole round; plain decoding is one without drafts."""
        parts = [self.verify(drafts, mode)] + ([self.draft(drafts, mode)] if drafts else [])
        return Cost(sum(p.bytes for p in parts), sum(p.launches for p in parts), parts[0].by_kernel)

    def wide(self, rows: int) -> Cost:
        """A chunk of a prompt, on the tensor cores."""
        return self._cost(rows, lambda: self.model.wide.trunk(self.state, rows))

    def host_bytes(self, drafts: int) -> int:
        """Bytes that a round copies back: to the device it copies only what the host wants otherwise."""
        self.memory.copied = 0
        head = self.head if drafts else None
        self.model.rounds.launch(self.state, drafts + 1, head, drafts + 1 if drafts else 0, GREEDY)
        return self.memory.copied


# --- the tables -------------------------------------------------------------------------------------------


def _line(name: str, format: str, what: str, cost: Cost) -> str:
    times = [f"{f('H200'):.2f} / {f('RTX 5090'):.2f}" for f in (cost.floor_ms, cost.estimate_ms)]
    amount = f"{cost.bytes / 1e9:.3f} | {cost.launches}"
    return f"| {name} | {format} | {what} | {amount} | {times[0]} | {times[1]} |"


def tables(context: int = 4096) -> str:
    """Costs of rounds and of the plain step's kernels, as Markdown."""
    lines = [
        "| model | format | drafts | GB moved | launches | floor ms (H200 / 5090) | estimate ms (H200 / 5090) |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for name, format in (("0.8B", "q8"), ("4B", "q4"), ("27B", "q4"), ("27B", "q8")):
        made = Shape(name, format, context)
        for drafts in (0, 1, 3, 8):
            lines.append(_line(name, format, str(drafts), made.round(drafts)))
        most = max(WIDE_SIZES)
        lines.append(_line(name, format, f"{most} rows of a prompt", made.wide(most)))
    lines += ["", "| kernel | launches | MB | share |", "|---|--:|--:|--:|"]
    plain = Shape("27B", "q4", context).round(0)
    for kernel, (launches, size) in sorted(plain.by_kernel.items(), key=lambda item: -item[1][1]):
        lines.append(f"| `{kernel}` | {launches} | {size / 1e6:.2f} | {100 * size / plain.bytes:.2f} % |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
