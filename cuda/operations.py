"""Each kernel as a call with its launch: grid, threads, shared memory. Nothing here waits for the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kestrel_cuda import attention, delta, linear, rows, sampling
from kestrel_cuda.layout import BLOCKS, Layout, make_layout, padded_segments
from kestrel_cuda.memory import DeviceArray, Memory
from kestrel_cuda.target import SIMULATOR
from kestrel_engine.numerics import BLOCK, HEAD_SEGMENT, SEGMENT

WARPS = 1 if SIMULATOR else 8
"""Warps in a block of a row kernel."""
MOST_PAIRS = 8
"""(row, head) pairs that an attention kernel keeps in registers."""
UNITS = 2 if SIMULATOR else 64
"""Blocks that share the positions of one group of pairs."""
CHUNKS = 2 if SIMULATOR else 128
"""Parts of the vocabulary whose best entries are found at once."""
PACK_BYTES = 64 << 20
"""Of a matrix as stored that are on the device at once while it is packed."""


@dataclass(frozen=True, slots=True)
class CudaMatrix:
    """A packed matrix [rows, width] in device memory."""

    format: str
    layout: Layout
    weights: DeviceArray
    scales: DeviceArray

    @property
    def rows(self) -> int:
        return self.layout.rows

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def bytes(self) -> int:
        return self.weights.nbytes + self.scales.nbytes


@dataclass(frozen=True, slots=True)
class Operand:
    """Rows [≥M, width] in the layout that matrix products read; zeros beyond `width`."""

    width: int
    segments: int
    kinds: int
    values: DeviceArray
    scales: DeviceArray
    floats: DeviceArray

    @property
    def arguments(self) -> tuple:
        return self.kinds, self.segments, self.values, self.scales, self.floats


@dataclass(frozen=True, slots=True)
class Scratch:
    """What the attention kernels hand to each other."""

    scores: DeviceArray  # [M, Hq, positions]
    maxima: DeviceArray  # [M*Hq, units]
    sums: DeviceArray  # [segments, M*Hq]
    partials: DeviceArray  # [segments, M*Hq, d]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best entries of each chunk of a row's logits."""

    found: DeviceArray  # [M, chunks, MOST_TOP_K] float32
    places: DeviceArray  # int32


@dataclass(frozen=True, slots=True)
class Settings:
    """What sampling reads on the device: the options, the round's tokens, and which ids were seen."""

    cursor: DeviceArray
    integers: DeviceArray  # [SETTINGS] int32
    reals: DeviceArray  # [SETTINGS] float32
    tokens: DeviceArray  # [≥9] int32: the certain token and the drafts
    flags: DeviceArray  # [V] uint8


class Operations:
    """All kernels on one device memory."""

    def __init__(self, memory: Memory, warps: int = WARPS, least_threads: int = 32 if SIMULATOR else 128):
        self.memory, self.warps = memory, warps
        self.least_threads = least_threads
        self._nothing = {dtype: memory.zeros((1,), dtype) for dtype in (np.int8, np.uint16, np.float32)}

    # --- memory --------------------------------------------------------------------------------------------

    def pack(self, matrix: np.ndarray, format: str) -> CudaMatrix:
        """bfloat16 bits [N, K] (uint16), K a multiple of 32, from host memory -> packed on the device."""
        out = self.empty_matrix(*matrix.shape, format)
        slab = max(1, PACK_BYTES // (2 * out.width))
        for first in range(0, out.rows, slab):
            self.pack_rows(matrix[first : first + slab], out, first)
        return out

    def empty_matrix(self, count: int, width: int, format: str) -> CudaMatrix:
        """A matrix of zeros."""
        layout = make_layout(count, width, self.least_threads)
        weights = self.memory.zeros((layout.weight_bytes(format),), np.uint8)
        scales = self._nothing[np.uint16]
        if format != "bf16":
            scales = self.memory.zeros((layout.items * BLOCKS,), np.uint16)
        return CudaMatrix(format, layout, weights, scales)

    def pack_rows(self, part: np.ndarray, matrix: CudaMatrix, first: int) -> None:
        """Rows first… of a matrix that is still zero there, from bfloat16 bits [n, K]."""
        blocks = len(part) * matrix.width // BLOCK
        threads = 32 * self.warps
        there = self.memory.upload(np.ascontiguousarray(part))
        arguments = (there, matrix.weights, matrix.scales, first, matrix.layout.segments)
        self.memory.launch(linear.PACK_KERNELS[matrix.format], -(-blocks // threads), threads, *arguments)

    def operand(self, most_rows: int, width: int, formats: set[str]) -> Operand:
        """Room for an operand of matrices in these formats."""
        segments = padded_segments(width)
        integer, float32 = formats - {"bf16"}, "bf16" in formats
        memory, nothing = self.memory, self._nothing
        size = most_rows * segments * SEGMENT
        return Operand(
            width,
            segments,
            (rows.INT8 if integer else 0) | (rows.FLOAT if float32 else 0),
            memory.zeros((size,), np.int8) if integer else nothing[np.int8],
            memory.zeros((size // BLOCK,), np.float32) if integer else nothing[np.float32],
            memory.zeros((size,), np.float32) if float32 else nothing[np.float32],
        )

    def scratch(self, most_rows: int, heads: int, width: int, positions: int) -> Scratch:
        segments = -(-positions // SEGMENT)
        empty = self.memory.empty
        return Scratch(
            empty((most_rows, heads, positions), np.float32),
            empty((most_rows * heads, UNITS * self.warps), np.float32),
            empty((segments, most_rows * heads), np.float32),
            empty((segments, most_rows * heads, width), np.float32),
        )

    # --- rows ----------------------------------------------------------------------------------------------

    def matmul(self, x: Operand, count: int, matrix: CudaMatrix, out: DeviceArray, add: bool = False) -> None:
        """out[:count] = (or, with `add`, +=) the operand's first `count` rows times the matrix."""
        layout = matrix.layout
        assert x.segments == layout.segments and x.width == layout.width
        kernel = linear.ROW_KERNELS[matrix.format](count)
        left = (x.floats, self._nothing[np.float32]) if matrix.format == "bf16" else (x.values, x.scales)
        arguments = (matrix.weights, matrix.scales, *left, out, int(add), layout.segments, layout.tile_rows)
        shared = 4 * count * layout.threads
        self.memory.launch(kernel, layout.tiles, layout.threads, *arguments, shared=shared)

    def embed(
        self, tokens: DeviceArray, first: int, count: int, table: DeviceArray, out: DeviceArray
    ) -> None:
        self.memory.launch(rows.embed_rows, count, 32 * self.warps, tokens, first, table, out)

    def take_row(self, source: DeviceArray, cursor: DeviceArray, place: int, out: DeviceArray) -> None:
        blocks = -(-out.shape[1] // (32 * self.warps))
        self.memory.launch(rows.take_row, blocks, 32 * self.warps, source, cursor, place, out)

    def norm(
        self,
        x: DeviceArray,
        count: int,
        scale: DeviceArray,
        eps: float,
        out: Operand,
        first_block: int = 0,
        plain: DeviceArray | None = None,
    ) -> None:
        """RMSNorm of the first `count` rows into `out` from `first_block` on, and as they are into `plain`."""
        kinds, *operand = out.arguments
        kinds |= 0 if plain is None else rows.PLAIN
        arguments = (x, scale, np.float32(eps), kinds, first_block, *operand, x if plain is None else plain)
        shared = 4 * (x.shape[1] + 1)
        self.memory.launch(rows.norm_rows, count, 32 * self.warps, *arguments, shared=shared)

    def to_operand(self, x: DeviceArray, count: int, out: Operand) -> None:
        grid = (-(-x.shape[1] // BLOCK // self.warps), count)
        self.memory.launch(rows.operand_rows, grid, 32 * self.warps, x, *out.arguments)

    def swiglu(self, gate_up: DeviceArray, count: int, out: Operand) -> None:
        grid = (-(-out.width // BLOCK // self.warps), count)
        self.memory.launch(rows.swiglu_rows, grid, 32 * self.warps, gate_up, *out.arguments)

    # --- recurrent layers ----------------------------------------------------------------------------------

    def conv_inputs(self, qkv, beta_a, layer, weights, cursor, count: int, mixed, decay, beta) -> None:
        """`layer` holds ring and log, `weights` taps, negative_a and dt_bias (device arrays)."""
        key_heads, key_width = layer.log_key.shape[1:]
        units = 2 * key_heads + decay.shape[1] + 1
        query_scale = np.float32(1.0 / np.sqrt(np.float64(key_width)))
        arguments = (
            *(qkv, beta_a, layer.ring, weights.taps, weights.negative_a, weights.dt_bias, cursor, count),
            *(key_heads, key_width, query_scale, mixed, decay, beta),
        )
        self.memory.launch(delta.conv_inputs, -(-units // self.warps), 32 * self.warps, *arguments)

    def delta_rows(self, layer, mixed, decay, beta, cursor, count: int, out: DeviceArray) -> None:
        heads, key_width, width = layer.state.shape
        grid = (heads, -(-width // delta.COLUMNS))
        segments = -(-key_width // HEAD_SEGMENT)
        assert segments <= delta.MOST_SEGMENTS
        log = (layer.log_decay, layer.log_key, layer.log_correction)
        arguments = (layer.state, mixed, decay, beta, *log, cursor, count, out)
        self.memory.launch(delta.delta_rows, grid, delta.COLUMNS * segments, *arguments)

    def gated_norm(self, x, qkv, scale, eps: float, out: Operand, mixed, decay, layer, cursor, count) -> None:
        log = (layer.log_decay, layer.log_key)
        arguments = (x, qkv, scale, np.float32(eps), *out.arguments, mixed, decay, cursor, *log)
        shared = 4 * decay.shape[1] * scale.shape[0]
        self.memory.launch(delta.gated_norm, count, 32 * self.warps, *arguments, shared=shared)

    # --- attention -----------------------------------------------------------------------------------------

    def attention_inputs(self, qkv, weights, eps, tables, cursor, place, offset, count, query, cache) -> None:
        """Row m stands at position cursor[place] + offset + m."""
        heads = query.shape[1] + cache.values.shape[0]
        grid = (-(-heads // self.warps), count)
        arguments = (
            *(qkv, weights.query_norm, weights.key_norm, np.float32(eps), *tables),
            *(cursor, place, offset, query, cache.keys, cache.values),
        )
        self.memory.launch(attention.attention_inputs, grid, 32 * self.warps, *arguments)

    def attention(
        self, query, qkv, cache, scratch: Scratch, cursor, place: int, offset: int, count: int, out
    ) -> None:
        """out [≥count, Hq*d] = gated attention of rows at cursor[place] + offset…, each to all before it."""
        _, heads, width = query.shape
        kv_heads = cache.values.shape[0]
        pairs = count * heads // kv_heads
        in_registers = min(pairs, MOST_PAIRS)
        where = (cursor, place, offset, count)
        grid = (-(-pairs // in_registers), kv_heads, UNITS)
        scale = np.float32(1.0 / np.sqrt(np.float64(width)))
        launch, scores = self.memory.launch, attention.make_scores(in_registers)
        launch(
            scores, grid, 32 * self.warps, query, cache.keys, scale, *where, scratch.scores, scratch.maxima
        )
        launch(
            attention.make_values(in_registers),
            grid,
            -(-width // 32) * 32,
            *(scratch.scores, scratch.maxima, cache.values, *where),
            *(UNITS * self.warps, scratch.sums, scratch.partials),
        )
        arguments = (scratch.sums, scratch.partials, qkv, cursor, place, offset, heads, width, out)
        launch(attention.combine_rows, (heads, count), -(-width // 32) * 32, *arguments)

    # --- sampling ------------------------------------------------------------------------------------------

    def candidates(self, most_rows: int) -> Candidates:
        shape = (most_rows, CHUNKS, sampling.MOST_TOP_K)
        return Candidates(self.memory.empty(shape, np.float32), self.memory.empty(shape, np.int32))

    def begin_round(self, settings: Settings, ids: DeviceArray, damaged: DeviceArray) -> None:
        arguments = (settings.flags, ids, settings.integers, damaged)
        self.memory.launch(sampling.begin_round, 1, 32, *arguments)

    def choose(
        self, logits, ids, count: int, first_step: int, is_draft: bool, settings, candidates, outcome
    ) -> None:
        """The token of each of `count` rows of logits, row m being step first_step + m of the round.

        ids [n] int32: the token of each entry, or [1] when it is the entry's index. outcome: (chosen int32,
        its logits float32, logits of the judged drafts float32, damaged int32), addressed by step.
        """
        *taken, damaged = outcome
        size = logits.shape[1]
        chunk = -(-size // CHUNKS)
        options = (settings.cursor, settings.integers, settings.reals)
        threads = 32 * self.warps
        self.memory.launch(
            sampling.find_candidates,
            (-(-size // chunk), count),
            threads,
            *(logits, ids, settings.flags, settings.tokens, first_step, *options, chunk),
            *(candidates.found, candidates.places, damaged),
            shared=4 * chunk,
        )
        self.memory.launch(
            sampling.choose_tokens,
            count,
            threads,
            *(logits, ids, settings.tokens, first_step, int(is_draft), *options, -(-size // chunk)),
            *(candidates.found, candidates.places, *taken),
            shared=4 * CHUNKS * sampling.MOST_TOP_K,
        )

    def log_sum_exp(self, logits: DeviceArray, count: int, out: DeviceArray) -> None:
        threads = 32 * self.warps if SIMULATOR else 1024
        self.memory.launch(sampling.log_sum_exp, count, threads, logits, out, shared=4 * threads)
