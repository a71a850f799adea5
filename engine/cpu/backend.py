"""The CPU backend: the operations of `kestrel_engine.backend.Backend` as numba kernels.

An operation runs at once, or is added to the program that is being recorded (`recording`): `CpuModel` records
a pass of `Model` in this way, so the order of the operations is stated there alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from kestrel_engine.config import ModelConfig
from kestrel_engine.cpu import attention, choice, delta, kernels, linear, reductions
from kestrel_engine.cpu.linear import PackedMatrix, pack_matrix
from kestrel_engine.cpu.program import Program
from kestrel_engine.model import Model
from kestrel_engine.numerics import BLOCK, SEGMENT
from kestrel_engine.state import KEY_BLOCK, DeltaLayer, KVCache
from kestrel_engine.weights import DeltaWeights, Weights

TILE_GRAIN_BYTES = 1 << 15
"""Least weight bytes that a thread takes at a time: the first ones of a part are waited for."""
ROW_GRAIN = 1 << 13
"""Least numbers of rows that a thread takes at a time where little is done with each."""
KEPT_PRODUCTS = 32
"""Products kept ready: the output matrix at every number of rows, the draft head and what it grew by."""
MATMULS = {"bf16": linear.bfloat16_matmul, "q8": linear.q8_matmul, "q4": linear.q4_matmul}


class CpuBackend:
    """See `kestrel_engine.backend.Backend` for what each operation takes and returns."""

    name = "cpu"

    def __init__(self, threads: int):
        self.threads = threads
        self._program: Program | None = None
        self._scratch: dict[str, np.ndarray] = {}
        self._products: dict[tuple, Program] = {}

    def pack(self, matrix: np.ndarray, format: str) -> PackedMatrix:
        return pack_matrix(matrix, format)

    def make_model(self, config: ModelConfig, weights: Weights, context: int) -> Model:
        from kestrel_engine.cpu.model import CpuModel

        return CpuModel(config, weights, self, context)

    # --- recording ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def recording(self, rows: int) -> Iterator[Program]:
        """Operations inside are recorded instead of run; cursors stand for what they are when it is run."""
        self._program = Program(rows, self.threads)
        try:
            yield self._program
        finally:
            self._program = None

    @contextlib.contextmanager
    def _steps(self, rows: int, position: int = 0, commit: int = 0, log: int = 0, tokens=()):
        """The program that takes the operations of one call: the recorded one, or one that runs at the end."""
        if self._program is not None:
            yield self._program
        else:
            program = Program(rows, self.threads)
            yield program
            program.seal().execute(position, commit, log, tokens)

    def _shared_scratch(self, name: str, *shape: int) -> np.ndarray:
        """Memory that every program may use under this name: large, and touched only as far as is needed."""
        size = int(np.prod(shape))
        if name not in self._scratch or self._scratch[name].size < size:
            self._scratch[name] = np.empty(size, np.float32)
        return self._scratch[name][:size].reshape(shape)

    # --- rows ---------------------------------------------------------------------------------------------

    def embed(self, tokens: list[int], table: np.ndarray) -> np.ndarray:
        with self._steps(len(tokens), tokens=tokens) as steps:
            out = steps.empty((len(tokens), table.shape[1]))
            steps.add(kernels.embed, len(out), 1, (table, out))
        return out

    def concatenate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with self._steps(len(x)) as steps:
            out = steps.empty((len(x), x.shape[1] + y.shape[1]))
            steps.add(kernels.copy_columns, len(x), 1, (x, x.shape[1], out))
            steps.add(kernels.copy_columns, len(x), 1, (y, y.shape[1], out[:, x.shape[1] :]))
        return out

    def matmul(self, x: np.ndarray, matrix: PackedMatrix, out: np.ndarray | None = None) -> np.ndarray:
        """`out` [M, 16*tiles]: where a recorded product goes."""
        if self._program is None:
            return self._product(np.ascontiguousarray(x), matrix)
        rows, tiles = len(x), len(matrix.weights)
        steps, grain = self._program, max(1, TILE_GRAIN_BYTES * tiles // matrix.bytes)
        out = steps.empty_rows(rows, tiles * linear.TILE) if out is None else out
        inputs: tuple = (x,)
        if matrix.format != "bf16":
            blocks = matrix.width // BLOCK
            values, places = steps.empty((rows, matrix.width), np.int8).reshape(-1, BLOCK), (rows * blocks,)
            inputs = (values, steps.empty(places), steps.empty(places, np.int32))
            after, (items, columns) = x, steps.made(x) or (0, 1)
            if columns % BLOCK:
                after, items, columns = None, _cuts(matrix.width), kernels.COLUMNS
            arguments = (x, *inputs, blocks, linear.ZERO_POINTS[matrix.format], columns)
            steps.add(kernels.quantize, items, 1, arguments, after=after, early=True)
            inputs = (matrix.scales, *inputs)
        strips = np.zeros((linear.STRIPS, 2), np.int64)
        strips[0] = 0, 1
        result, arguments = out[:, : matrix.rows], (matrix.weights, *inputs, out, strips)
        steps.add(MATMULS[matrix.format], tiles, grain, arguments, makes=result, strips=strips)
        return result

    def _product(self, x: np.ndarray, matrix: PackedMatrix) -> np.ndarray:
        """`matmul` outside a pass: the output matrix and the draft head, again and again. To record such a product
        costs more than to run it for a small model."""
        key = (id(matrix.weights), len(x), self.threads)
        program = self._products.pop(key, None)
        if program is None:
            with self.recording(len(x)) as program:
                self.matmul(x, matrix, np.empty((len(x), len(matrix.weights) * linear.TILE), np.float32))
            program.seal().keep(matrix)
            while len(self._products) >= KEPT_PRODUCTS:
                del self._products[next(iter(self._products))]
        self._products[key] = program  # the newest at the end
        out = linear.aligned_empty((len(x), len(matrix.weights) * linear.TILE), np.float32)
        quantised = matrix.format != "bf16"
        program.bind(0, 0 if quantised else 1, x)
        program.bind(int(quantised), 5 if quantised else 2, out)
        program.execute()
        return out[:, : matrix.rows]

    def rms_norm(self, x: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        with self._steps(len(x)) as steps:
            out = steps.empty(x.shape)
            arguments = (x, scale, float(eps), out)
            steps.add(kernels.rms_norm, len(x), _rows(x.shape[1]), arguments, after=x, makes=out, columns=0)
        return out

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        with self._steps(len(x)) as steps:
            steps.add(kernels.add, len(x), _rows(x.shape[1]), (x, y, x.shape[1]), makes=x)

    def gated_norm(self, x: np.ndarray, gate: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        with self._steps(len(x)) as steps:
            out = steps.empty(x.shape)
            items, columns = steps.made(x) or (x.shape[1] // len(scale), len(scale))
            arguments = (x, gate, scale, float(eps), out, columns // len(scale))
            steps.add(kernels.gated_norm, items, 1, arguments, after=x, makes=out, columns=columns)
        return out

    def swiglu(self, gate_up: np.ndarray) -> np.ndarray:
        with self._steps(len(gate_up)) as steps:
            out = steps.empty((len(gate_up), gate_up.shape[1] // 2))
            width, cut = out.shape[1], BLOCK
            items = -(-width // cut)
            if width % cut == 0:
                steps.recut(gate_up, items, 1, [(0, cut), (width, cut)])
            arguments = (gate_up, out, cut)
            steps.add(kernels.swiglu, items, 32, arguments, after=gate_up, makes=out, columns=cut)
        return out

    # --- the gated delta rule -----------------------------------------------------------------------------

    def conv_silu(self, x: np.ndarray, layer: DeltaLayer, taps: np.ndarray) -> np.ndarray:
        with self._steps(len(x), layer.conv_length) as steps:
            out = steps.empty_rows(len(x), taps.shape[1])
            heads, width = layer.log_key.shape[1:]
            values = taps.shape[1] - 2 * heads * width
            strips = np.array([(0, width), (heads * width, width), (2 * heads * width, values // heads)])
            # A thread takes some heads in a row: in `delta_rows` one is fetched while the one before is worked on.
            grain, behind = max(1, heads // 8), (x.shape[1] - taps.shape[1]) // heads
            steps.recut(x, heads, grain, [*strips.tolist(), (taps.shape[1], behind)])
            arguments = (x, layer.ring, taps, out, strips)
            steps.add(kernels.conv_silu, heads, grain, arguments, after=x, makes=out)
            steps.keep(strips)
        return out

    def delta_inputs(self, mixed: np.ndarray, beta_a: np.ndarray, weights: DeltaWeights, layer: DeltaLayer):
        rows, heads, width = len(mixed), *layer.log_key.shape[1:]
        with self._steps(rows) as steps:
            query, key = (steps.empty((rows, heads, width)) for _ in range(2))
            decay, beta = (steps.empty((rows, len(layer.state))) for _ in range(2))
            arguments = (mixed, beta_a, weights.negative_a, weights.dt_bias, query, key, decay, beta)
            steps.add(delta.delta_inputs, heads, 1, arguments, after=mixed, makes=layer)
        return query, key, decay, beta

    def delta_rows(
        self, inputs, mixed: np.ndarray, layer: DeltaLayer, commit: int, slots: np.ndarray | None = None
    ) -> np.ndarray:
        heads, depth, width = layer.state.shape
        slots = np.empty((0, heads, depth, width), np.float32) if slots is None else slots
        log = (layer.log_decay, layer.log_key, layer.log_correction)
        with self._steps(len(mixed), commit=commit) as steps:
            out = steps.empty((len(mixed), heads * width))
            arguments = (layer.state, *log, *inputs, mixed, mixed.shape[1], out, slots)
            items = layer.log_key.shape[1]
            columns = out.shape[1] // items
            steps.add(delta.delta_rows, items, 1, arguments, after=layer, makes=out, columns=columns)
        return out

    def delta_replay(self, layer: DeltaLayer) -> None:
        arguments = (layer.state, layer.log_decay, layer.log_key, layer.log_correction)
        with self._steps(0, log=layer.log_length) as steps:
            steps.add(delta.delta_replay, layer.log_key.shape[1], 1, arguments, after=layer, makes=layer)

    # --- attention ----------------------------------------------------------------------------------------

    def attention_inputs(self, qkv, weights, eps, tables, cache: KVCache, heads: int) -> np.ndarray:
        with self._steps(len(qkv), cache.length) as steps:
            query = steps.empty((len(qkv), heads, cache.values.shape[2]))
            scales = (weights.query_norm, weights.key_norm)
            arguments = (qkv, *scales, float(eps), *tables, query, cache.keys, cache.values)
            steps.add(attention.attention_inputs, len(qkv), _rows(4 * query[0].size), arguments)
        return query

    def attention(self, query: np.ndarray, qkv: np.ndarray, cache: KVCache, position: int) -> np.ndarray:
        rows, heads, width = query.shape
        kv_heads, positions = cache.values.shape[:2]
        segments = -(-positions // SEGMENT)
        offset, shares = position - cache.length, kv_heads * attention.SHARES
        blocks = cache.keys.shape[1]
        scores = self._shared_scratch("scores", rows, heads, blocks * KEY_BLOCK)
        sums = self._shared_scratch("sums", segments, rows, heads, width)
        weight_sums = self._shared_scratch("weight sums", segments, rows, heads)
        with self._steps(rows, cache.length) as steps:
            steps.keep(scores, sums, weight_sums)
            out = steps.empty((rows, heads * width))
            steps.add(attention.attention_scores, shares, 1, (query, cache.keys, offset, scores))
            steps.add(attention.attention_weights, rows * heads, 1, (scores, offset))
            arguments = (scores, cache.values, offset, sums, weight_sums)
            steps.add(attention.attention_values, shares, 1, arguments)
            arguments = (sums, weight_sums, offset, qkv, out)
            steps.add(attention.attention_output, heads, 1, arguments, makes=out, columns=width)
        return out

    # --- choosing -----------------------------------------------------------------------------------------

    def log_sum_exp(self, x: np.ndarray) -> np.float32:
        return np.float32(reductions.log_sum_exp(x))

    def top_k(self, x: np.ndarray, count: int) -> np.ndarray:
        out = np.empty(min(count, len(x)), np.int64)
        choice.top_k_indices(x, out)
        return out

    def gumbel(self, seed: int, position: int, ids: np.ndarray) -> np.ndarray:
        out = np.empty(len(ids), np.float32)
        choice.gumbel_noise(seed, position, ids, out)
        return out


def _rows(width: int) -> int:
    """Least rows of so many numbers that are worth another thread."""
    return max(1, ROW_GRAIN // width)


def _cuts(width: int) -> int:
    return -(-width // kernels.COLUMNS)
