"""The GPU backend: packed matrices on the device and the model that runs whole passes there.

What the engine asks for row by row on host arrays (a draft head's product, noise, a few sums) goes through the
same kernels, or through the CPU's where the rows are on the host anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kestrel_cuda.arrays import CudaMatrix, Operand
from kestrel_cuda.buffers import ROWS
from kestrel_cuda.memory import Memory, make_memory
from kestrel_cuda.model import CudaModel
from kestrel_cuda.operations import Operations, check_widths
from kestrel_cuda.warm import compile_kernels
from kestrel_engine.config import ModelConfig
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.weights import Weights


class CudaBackend:
    """What of `kestrel_engine.backend.Backend` the engine asks for beside whole passes."""

    name = "cuda"
    threads = 1

    def __init__(self, memory: Memory | None = None, progress: Callable[[float], None] | None = None):
        """progress: told how much of the kernels is compiled, which `make_model` then does at once."""
        self._progress = progress
        self._host = CpuBackend(1)
        self.operations = Operations(memory or make_memory())
        self._rows: dict[tuple[int, bool], tuple[Operand, Any]] = {}

    def pack(self, matrix: np.ndarray, format: str) -> CudaMatrix:
        return self.operations.pack(matrix, format)

    def make_model(self, config: ModelConfig, weights: Weights, context: int) -> CudaModel:
        check_widths(config)
        model = CudaModel(config, weights, self, context, self.operations)
        if self._progress is not None:
            compile_kernels(model, self._progress)
        return model

    def matmul(self, x: np.ndarray, matrix: CudaMatrix) -> np.ndarray:
        out = np.empty((len(x), matrix.rows), np.float32)
        there = self.operations.memory.empty((min(len(x), ROWS), matrix.rows), np.float32)
        operand = self._operand(matrix)
        for first in range(0, len(x), ROWS):
            part = np.ascontiguousarray(x[first : first + ROWS])
            self.operations.to_operand(self.operations.memory.upload(part), len(part), operand)
            self.operations.matmul(operand, len(part), matrix, there)
            out[first : first + len(part)] = there.host()[: len(part)]
        return out

    def log_sum_exp(self, x: np.ndarray) -> np.float32:
        return self._host.log_sum_exp(x)

    def top_k(self, x: np.ndarray, count: int) -> np.ndarray:
        return self._host.top_k(x, count)

    def gumbel(self, seed: int, position: int, ids: np.ndarray) -> np.ndarray:
        return self._host.gumbel(seed, position, ids)

    def _operand(self, matrix: CudaMatrix) -> Operand:
        key = (matrix.width, matrix.format == "bf16")
        if key not in self._rows:
            self._rows[key] = self.operations.operand(ROWS, matrix.width, {matrix.format})
        return self._rows[key]
