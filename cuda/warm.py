"""Compiling every kernel of a model before its first answer, by running it: numba compiles a kernel at its first
launch, and keeps the result on disk for later starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kestrel_cuda.buffers import ROWS
from kestrel_cuda.cursor import round_cursor
from kestrel_cuda.operations import WIDE_SIZES
from kestrel_cuda.sampling import GREEDY, ORDERED
from kestrel_engine.draft_head import FORMATS
from kestrel_engine.state import State

if TYPE_CHECKING:
    from kestrel_cuda.model import CudaModel


def compile_kernels(model: CudaModel, progress: Callable[[float], None]) -> None:
    """Run everything that rounds and prefill consist of, on a small state of its own."""
    state = model.make_state(max(WIDE_SIZES) + ROWS)
    works = make_works(model, state)
    for done, work in enumerate(works):
        progress(done / len(works))
        model.post.put("cursor", round_cursor(1, 0, 0))
        model.post.send()
        with model.post.moving():
            work()
            model.memory.wait()
    progress(1.0)


def make_works(model: CudaModel, state: State) -> list[Callable[[], None]]:
    """Calls that together launch every kernel, on `state`."""
    counts = range(1, ROWS + 1)
    works = [partial(model.rounds.launch, state, count, None, 0, GREEDY) for count in counts]
    works.append(partial(model.rounds.launch, state, 1, None, 0, ORDERED))
    works += [partial(model.wide.trunk, state, count) for count in WIDE_SIZES if count <= model.context]
    if state.mtp is not None:
        works += [partial(model.passes.mtp_newest, state, count) for count in counts]
        works += [partial(model.passes.mtp_chain, state, 1), partial(_draft_head, model)]
    return works


def _draft_head(model: CudaModel) -> None:
    """A product like that of a draft head, which is packed later."""
    operations, final = model.operations, model.buffers.final
    format = FORMATS[model.weights.format]
    matrix = operations.empty_matrix(32, final.width, format)
    operations.matmul(final, 1, matrix, model.memory.zeros((1, 32), "float32"))
