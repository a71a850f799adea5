"""Each kernel as a call with its launch: grid, threads, shared memory. Nothing here waits for the device."""

from __future__ import annotations

import numpy as np

from kestrel_cuda import attention, delta, finish, linear, packing, rows, settle, tiles
from kestrel_cuda.arrays import CudaMatrix, Operand, Scratch, Settings
from kestrel_cuda.choice import Choice
from kestrel_cuda.layout import BLOCKS, make_layout, padded_segments
from kestrel_cuda.memory import DeviceArray, Memory
from kestrel_cuda.target import SIMULATOR
from kestrel_engine.config import ModelConfig
from kestrel_engine.errors import UsageError
from kestrel_engine.numerics import BLOCK, HEAD_SEGMENT, SEGMENT

WARPS = 1 if SIMULATOR else 8
"""Warps in a block of a row kernel."""
MOST_PAIRS = 8
"""(row, head) pairs that an attention kernel keeps in registers."""
UNITS = 2 if SIMULATOR else 64
"""Blocks that share the positions of one group of pairs."""
FUSED_NORM_ROWS = 4
"""Up to here the last block of a product does the norm of its rows: with more, a block a row is faster."""
WIDE_SIZES = (4,) if SIMULATOR else (64, 32, 16)
"""Rows of the chunks that go through the tensor cores."""
PART_ROWS = 3 if SIMULATOR else 8
"""Rows of a wide chunk that go through the other kernels at once."""
TILE_WARPS = 1 if SIMULATOR else 4
COUNTERS = 4096
"""Room for the counters of one launch (arrival.py); its blocks leave them zero."""
PACK_BYTES = 64 << 20
"""Of a matrix as stored that are on the device at once while it is packed."""


class Operations:
    """All kernels on one device memory."""

    def __init__(self, memory: Memory, warps: int = WARPS, least_threads: int = 32 if SIMULATOR else 128):
        self.memory, self.warps = memory, warps
        self.least_threads = least_threads
        self.choice = Choice(memory, warps)
        self._nothing = {dtype: memory.zeros((1,), dtype) for dtype in (np.int8, np.uint16, np.float32)}
        self._counters = memory.zeros((COUNTERS,), np.int32)

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
        self.memory.launch(packing.PACK_KERNELS[matrix.format], -(-blocks // threads), threads, *arguments)

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

    # --- products ------------------------------------------------------------------------------------------

    def matmul(self, x: Operand, count: int, matrix: CudaMatrix, out: DeviceArray, add: bool = False) -> None:
        """out[:count] = (or, with `add`, +=) the operand's first `count` rows times the matrix."""
        self._product(x, count, matrix, out, add, linear.finish_nothing, (0,))

    def matmul_norm(
        self,
        x: Operand,
        count: int,
        matrix: CudaMatrix,
        out: DeviceArray,
        add: bool,
        scale: DeviceArray,
        eps: float,
        normed: Operand,
        plain: DeviceArray | None = None,
    ) -> None:
        """`matmul`, and RMSNorm of its rows into `normed` and, as they are, into `plain`."""
        if count > FUSED_NORM_ROWS:
            self.matmul(x, count, matrix, out, add)
            self.norm(out, count, scale, eps, normed, plain)
            return
        norm = self._norm_arguments(out, scale, eps, normed, plain)
        extra = (self._counters, *norm)
        self._product(x, count, matrix, out, add, finish.finish_norm, extra, 4 * finish.STAGED)

    def matmul_swiglu(
        self, x: Operand, count: int, matrix: CudaMatrix, gate_up: DeviceArray, out: Operand
    ) -> None:
        """`matmul` into gate_up, and silu(gate) * up into `out`."""
        assert out.width // BLOCK <= COUNTERS
        self._product(
            x, count, matrix, gate_up, False, finish.finish_swiglu, (self._counters, *out.arguments)
        )

    def matmul_heads(
        self,
        x: Operand,
        count: int,
        matrix: CudaMatrix,
        qkv: DeviceArray,
        weights,
        eps: float,
        tables,
        cursor: DeviceArray,
        place: int,
        offset: int,
        query: DeviceArray,
        cache,
    ) -> None:
        """`matmul` into qkv, and what `attention_inputs` makes of it."""
        inputs = _head_arguments(weights, eps, tables, cursor, place, offset, query, cache)
        self._product(x, count, matrix, qkv, False, finish.finish_heads, (self._counters, *inputs))

    def matmul_wide(
        self, x: Operand, count: int, matrix: CudaMatrix, out: DeviceArray, add: bool = False
    ) -> None:
        """`matmul` of any number of rows: on the tensor cores, or (bf16) a few at a time."""
        if matrix.format == "bf16":
            for first, rows_ in parts(count):
                self.matmul(x.part(first, rows_), rows_, matrix, self.memory.rows(out, first, rows_), add)
            return
        grid = (-(-count // tiles.COLUMNS), -(-matrix.rows // (TILE_WARPS * tiles.TILE_ROWS)))
        arguments = (matrix.weights, matrix.scales, *self._left(x, matrix), out, int(add), count)
        self.memory.launch(
            tiles.make_tiles(matrix.format), grid, 32 * TILE_WARPS, *arguments, matrix.layout.segments
        )

    def _product(self, x, count, matrix, out, add, last, extra: tuple, shared: int = 0) -> None:
        layout = matrix.layout
        arguments = (matrix.weights, matrix.scales, *self._left(x, matrix), out, int(add))
        self.memory.launch(
            linear.make_rows(matrix.format, count, last),
            layout.tiles,
            layout.threads,
            *(*arguments, layout.segments, layout.tile_rows, extra),
            shared=max(4 * count * layout.threads, shared),
        )

    def _left(self, x: Operand, matrix: CudaMatrix) -> tuple[DeviceArray, DeviceArray]:
        assert x.segments == matrix.layout.segments and x.width == matrix.layout.width
        return (x.floats, self._nothing[np.float32]) if matrix.format == "bf16" else (x.values, x.scales)

    def two_matmuls(
        self,
        x: Operand,
        count: int,
        matrix: CudaMatrix,
        out: DeviceArray,
        side: CudaMatrix,
        side_out: DeviceArray,
    ) -> None:
        """The same rows times two matrices, the second in bf16, at once."""
        layout = matrix.layout
        assert side.format == "bf16" and side.layout.threads == layout.threads
        left = self._left(x, matrix)
        sides = (side.weights, x.floats, side_out, side.layout.tiles)
        self.memory.launch(
            linear.make_two_rows(matrix.format, count),
            layout.tiles + side.layout.tiles,
            layout.threads,
            *(matrix.weights, matrix.scales, *left, out, *sides, layout.segments, layout.tile_rows),
            shared=4 * count * layout.threads,
        )

    # --- rows ----------------------------------------------------------------------------------------------

    def embed(
        self,
        tokens: DeviceArray,
        first: int,
        count: int,
        table: DeviceArray,
        out: DeviceArray,
        scale: DeviceArray,
        eps: float,
        normed: Operand,
        beside: tuple[DeviceArray, DeviceArray] | None = None,
    ) -> None:
        """Embeddings into `out`, and their norms into `normed`; `beside` them the norms of other rows: (rows,
        scale)."""
        hidden = (out, scale) if beside is None else beside
        arguments = (tokens, first, table, out, scale, *hidden, np.float32(eps), *normed.arguments)
        grid = (count, 1 if beside is None else 2)
        shared = 4 * (table.shape[1] + 1)
        self.memory.launch(rows.embed_rows, grid, 32 * self.warps, *arguments, shared=shared)

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
        plain: DeviceArray | None = None,
    ) -> None:
        """RMSNorm of the first `count` rows into `out` and, as they are, into `plain`."""
        arguments = self._norm_arguments(x, scale, eps, out, plain)
        shared = 4 * (x.shape[1] + 1)
        self.memory.launch(rows.norm_rows, count, 32 * self.warps, x, *arguments, shared=shared)

    def _norm_arguments(self, x, scale, eps: float, out: Operand, plain: DeviceArray | None) -> tuple:
        kinds, *operand = out.arguments
        kinds |= 0 if plain is None else rows.PLAIN
        return scale, np.float32(eps), kinds, *operand, x if plain is None else plain

    def to_operand(self, x: DeviceArray, count: int, out: Operand) -> None:
        grid = (-(-x.shape[1] // BLOCK // self.warps), count)
        self.memory.launch(rows.operand_rows, grid, 32 * self.warps, x, *out.arguments)

    def swiglu(self, gate_up: DeviceArray, count: int, out: Operand) -> None:
        grid = (-(-out.width // BLOCK // self.warps), count)
        self.memory.launch(rows.swiglu_rows, grid, 32 * self.warps, gate_up, *out.arguments)

    # --- recurrent layers ----------------------------------------------------------------------------------

    def delta_rows(
        self, layer, qkv, beta_a, weights, cursor, offset: int, count: int, scratch, eps: float, out: Operand
    ) -> None:
        """From the raw rows to the operand of the output product. `layer` holds state, ring and log, `weights`
        taps, negative_a, dt_bias and output_norm (device arrays); scratch [≥count, Hv*dv]."""
        heads, key_width, width = layer.state.shape
        segments = -(-key_width // HEAD_SEGMENT)
        assert segments <= delta.MOST_SEGMENTS and width % delta.COLUMNS == 0
        threads = delta.COLUMNS * segments
        arguments = (
            *(layer.state, qkv, beta_a, layer.ring, weights.taps, (weights.negative_a, weights.dt_bias)),
            *(layer.log_decay, layer.log_key, layer.log_correction, cursor, offset, count),
            np.float32(1.0 / np.sqrt(np.float64(key_width))),
            *(scratch, self._counters, weights.output_norm, np.float32(eps), out.arguments),
        )
        grid, shared = (heads, width // delta.COLUMNS), 4 * count * (2 * threads + delta.COLUMNS + 2)
        self.memory.launch(delta.delta_rows, grid, threads, *arguments, shared=shared)

    # --- attention -----------------------------------------------------------------------------------------

    def attention_inputs(self, qkv, weights, eps, tables, cursor, place, offset, count, query, cache) -> None:
        """Row m stands at position cursor[place] + offset + m."""
        heads = query.shape[1] + cache.values.shape[0]
        grid = (-(-heads // self.warps), count)
        arguments = _head_arguments(weights, eps, tables, cursor, place, offset, query, cache)
        self.memory.launch(attention.attention_inputs, grid, 32 * self.warps, qkv, *arguments)

    def attention(
        self, query, qkv, cache, scratch: Scratch, cursor, place: int, offset: int, count: int, out: Operand
    ) -> None:
        """The gated attention [≥count, Hq*d] of rows at cursor[place] + offset…, each to all before it."""
        _, heads, width = query.shape
        kv_heads = cache.values.shape[0]
        assert width % 32 == 0
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
            width,
            *(scratch.scores, scratch.maxima, cache.values, *where),
            *(UNITS * self.warps, scratch.sums, scratch.partials, qkv, self._counters, out.arguments),
        )

    # --- rounds --------------------------------------------------------------------------------------------

    def begin_round(self, damaged: DeviceArray, stamps: DeviceArray) -> None:
        self.memory.launch(settle.begin_round, 1, 32, damaged, stamps)

    def settle(self, count: int, has_drafted: bool, chosen, hidden, pairs: tuple, settings: Settings) -> None:
        """Accept, of a round of `count` rows, and move the cursors on; `has_drafted`: the MTP head did; pairs: tokens
        and trunk rows of those that wait for it."""
        rows_ = (settings.tokens, chosen, hidden, settings.cursor)
        threads = 32 * self.warps if SIMULATOR else 1024
        arguments = (count, int(has_drafted), *rows_, *pairs, settings.flags)
        self.memory.launch(settle.settle, 1, threads, *arguments)


def check_widths(config: ModelConfig) -> None:
    """Raise UsageError for heads that the kernels have no form for."""
    widths = {"head_dim": config.head_dim, "linear_value_head_dim": config.linear_value_head_dim}
    for name, width in widths.items():
        if width % BLOCK:
            raise UsageError(f"the model's {name} is {width}, no multiple of {BLOCK}: use --device cpu")


def parts(count: int) -> list[tuple[int, int]]:
    """First row and rows of the parts of a wide chunk."""
    return [(first, min(PART_ROWS, count - first)) for first in range(0, count, PART_ROWS)]


def _head_arguments(weights, eps: float, tables, cursor, place: int, offset: int, query, cache) -> tuple:
    return (
        *(weights.query_norm, weights.key_norm, np.float32(eps), *tables),
        *(cursor, place, offset, query, cache.keys, cache.values),
    )
