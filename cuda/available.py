"""Whether a usable card is here, and if not, why: one line that says what to do.

The cheap questions come first, so that a machine without a card never waits for torch.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

from kestrel_engine.errors import KestrelError

OLDEST = (8, 0)
"""Compute capability: dp4a, asynchronous copies and 164 KiB of shared memory."""
INSTALL = "pip install 'kestrel-chat[cuda]'"


def _driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return True
    except OSError:
        return False


def _missing(*modules: str) -> str | None:
    for module in modules:
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return module
    return None


def _torch() -> Any:
    import torch

    return torch


def _toolkit() -> str | None:
    """What is wrong with the compiler that turns kernels into the card's code."""
    try:
        from numba.cuda.cudadrv.nvvm import NVVM

        NVVM()
    except Exception as error:
        return " ".join(str(error).split())[:120] or type(error).__name__
    return None


def problem() -> str | None:
    """Why no card can be used: "what is wrong: what to do"; None when one can."""
    if not _driver():
        return "no NVIDIA driver is installed: install it to use a card, or use --device cpu"
    missing = _missing("torch", "numba_cuda", "cuda.bindings")
    if missing is not None:
        return f"{missing} is not installed: {INSTALL}"
    torch = _torch()
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA: {INSTALL} in a fresh environment"
    if not torch.cuda.is_available():
        return f"torch finds no card with CUDA {torch.version.cuda}: update the NVIDIA driver"
    capability = tuple(torch.cuda.get_device_capability())
    if capability < OLDEST:
        return "the card is older than compute capability {}.{}: use --device cpu".format(*OLDEST)
    broken = _toolkit()
    return None if broken is None else f"CUDA's compiler is not usable ({broken}): {INSTALL}"


def free_memory() -> int:
    """Bytes free on the card."""
    return int(_torch().cuda.mem_get_info()[0])


def is_out_of_memory(error: BaseException) -> bool:
    kind = getattr(getattr(sys.modules.get("torch"), "cuda", None), "OutOfMemoryError", ())
    text = str(error).lower().replace("_", " ")
    return isinstance(error, kind) or "out of memory" in text


@contextlib.contextmanager
def memory_guard() -> Iterator[None]:
    """The card's memory running out is a KestrelError: one line that says what would fit."""
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        advice = "use --quant q4, a smaller --context, or --device cpu"
        raise KestrelError(f"the card's memory does not suffice: {advice}") from error
