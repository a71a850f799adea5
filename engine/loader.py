"""From a model's name to a session: finding the files, choosing format, threads and context, loading."""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib.resources
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kestrel_engine.checkpoint import open_checkpoint
from kestrel_engine.config import FULL, ModelConfig, load_config, load_generation_config
from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.events import Event, Loading, Notice
from kestrel_engine.memory import available_memory
from kestrel_engine.options import EngineOptions, SamplingOptions
from kestrel_engine.session import Session
from kestrel_engine.tokenizer import Tokenizer

BUNDLED = "kestrel-nano"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
HUB_FILES = ("*.json", "*.safetensors", "*.jinja", "*.txt")
BYTES_PER_WEIGHT = {"bf16": 2.0, "q8": 1.0625, "q4": 0.5625}
SMALL_MODEL_WEIGHTS = 50_000_000
"""Below this, `auto` keeps the weights as stored."""
_NO_ROOM = (errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EROFS)
MEMORY_SHARE = 0.8
CONTEXT_MEMORY_SHARE = 0.5
COLLECT_AFTER = 100_000
"""New objects before the garbage collector looks at them while a model is loaded."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    session: Session
    config: ModelConfig
    tokenizer: Tokenizer
    defaults: SamplingOptions
    format: str
    device: str
    threads: int


def bundled_model() -> Path:
    """Folder of kestrel-nano inside the installed package."""
    return Path(str(importlib.resources.files("kestrel_assets") / BUNDLED))


def find_model(name: str | None, emit: Callable[[Event], None]) -> Path:
    """Folder of a model given as None (bundled), a path, or a hub id."""
    if name is None or name == BUNDLED:
        return bundled_model()
    if re.match(r"https?://", name):
        raise UsageError(f"{name}: talking to a server is not built yet: give a folder or a hub id")
    path = Path(name).expanduser()
    if os.path.exists(path) or not HUB_ID.fullmatch(name):
        return path  # load_config says what is wrong with it
    return _from_hub(name, emit)


def _from_hub(name: str, emit: Callable[[Event], None]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()  # they would write over the screen
    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES, local_files_only=True))
    except Exception:  # not in the cache: the reasons are many and the answer is the same
        emit(Loading(f"downloading {name}"))
    try:
        return Path(snapshot_download(name, allow_patterns=HUB_FILES))
    except Exception as error:
        raise KestrelError(f"{name} {_why_not_downloaded(error)}") from error


def _why_not_downloaded(error: Exception) -> str:
    """What follows the model's name: what is wrong and what to do. The library's own words fill paragraphs."""
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if isinstance(error, GatedRepoError):
        return "is given to those who accept its terms: do so on its page of the Hugging Face hub, and set HF_TOKEN"
    if isinstance(error, RepositoryNotFoundError):
        return "is neither a folder nor a model on the Hugging Face hub: check the name; a private one needs HF_TOKEN"
    if constants.HF_HUB_OFFLINE:
        return (
            "is not on this machine, and HF_HUB_OFFLINE forbids downloading it: unset that, or give a folder"
        )
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return f"cannot be stored ({error.strerror}): make room for it, or set HF_HOME to another place"
    return "is not on this machine, and the Hugging Face hub cannot be reached: go online, or give a folder"


def choose_format(wanted: str, weight_count: int, memory: int) -> str:
    """`auto`: bf16 for a small model, else q8 if it fits into memory, else q4."""
    if wanted != "auto":
        return wanted
    if weight_count < SMALL_MODEL_WEIGHTS:
        return "bf16"
    fits = weight_count * BYTES_PER_WEIGHT["q8"] < MEMORY_SHARE * memory
    return "q8" if fits else "q4"


def choose_context(wanted: int | None, config: ModelConfig, memory: int) -> int:
    """The model's limit or the wanted one, capped by what half of the memory can hold."""
    layers = config.layer_types.count(FULL) + int(config.has_mtp)
    bytes_per_token = max(1, layers * 2 * config.kv_dim * 4)
    most = max(16, int(CONTEXT_MEMORY_SHARE * memory) // bytes_per_token)
    if wanted is None:
        return min(config.max_position_embeddings, most)
    if wanted > config.max_position_embeddings:
        limit = config.max_position_embeddings
        raise UsageError(f"context {wanted}: the model's limit is {limit}: use {limit} or less")
    if wanted > most:
        raise UsageError(f"context {wanted} needs more memory than is free: use {most} or less")
    return wanted


def choose_device(wanted: str) -> tuple[str, str | None]:
    """cpu or cuda, and for `auto` why not the card. Raises UsageError when a card is wanted and none is usable."""
    if wanted == "cpu":
        return "cpu", None
    from kestrel_cuda import available

    problem = available.problem()
    if problem is None:
        return "cuda", None
    if wanted == "cuda":
        advice = "" if "--device cpu" in problem else ", or use --device cpu"
        raise UsageError(f"device cuda: {problem}{advice}")
    return "cpu", problem


def _card_bytes(config: ModelConfig, format: str, weight_count: int) -> int:
    """Of the weights on a card: the embedding stays as stored."""
    embedding = config.vocab_size * config.hidden_size
    matrices = weight_count if config.tie_word_embeddings else weight_count - embedding
    return int(2 * embedding + matrices * BYTES_PER_WEIGHT[format])


def _fit_card(options: EngineOptions, config: ModelConfig, weight_count: int) -> tuple[str, str | None]:
    """The format for the card, and why the model does not fit on it."""
    from kestrel_cuda import available

    free = available.free_memory()
    wanted = ("q8", "q4") if options.quant == "auto" else (options.quant,)
    if options.quant == "auto" and weight_count < SMALL_MODEL_WEIGHTS:
        wanted = ("bf16",)
    for format in wanted:
        if _card_bytes(config, format, weight_count) < MEMORY_SHARE * free:
            return format, None
    needed = _card_bytes(config, format, weight_count) / MEMORY_SHARE
    sizes = f"{needed / 1e9:.1f} GB as {format}, the card has {free / 1e9:.1f} GB free"
    advice = "use --device cpu" if format == "q4" else "use --quant q4"
    if options.device == "cuda":
        raise UsageError(f"device cuda: the model needs {sizes}: {advice}")
    return format, f"the model needs {sizes}"


def _room_for_context(config: ModelConfig, format: str, weight_count: int) -> int:
    """Bytes of which `choose_context` may take its share: what the weights leave of the card."""
    from kestrel_cuda import available

    return available.free_memory() - _card_bytes(config, format, weight_count)


@contextlib.contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Loading makes hundreds of thousands of objects that are there to stay, and no cycles to speak of: Python's own
    thresholds would have the collector walk through them again and again, for a tenth of the time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(max(COLLECT_AFTER, thresholds[0]), *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@_collecting_rarely()
def load(options: EngineOptions, emit: Callable[[Event], None]) -> LoadedModel:
    """Load everything, with `Loading` events. Raises KestrelError or UsageError, one line."""
    device, why_not = choose_device(options.device)
    folder = find_model(options.model, emit)
    config = load_config(folder)
    defaults = load_generation_config(folder)
    checkpoint = open_checkpoint(folder, config)
    told: set[str] = set()

    def note(message: str) -> None:
        if message not in told:
            told.add(message)
            emit(Notice(message))

    emit(Loading("reading the tokenizer"))
    tokenizer = Tokenizer(folder, note, lambda: emit(Loading("preparing the tokenizer (first start only)")))
    if tokenizer.vocab_size > config.vocab_size:
        counts = f"{tokenizer.vocab_size} tokens, the model {config.vocab_size}"
        raise UsageError(f"{folder}: its tokenizer has {counts}: download the model again")

    weight_count = checkpoint.byte_count // 2
    if device == "cuda":
        format, why_not = _fit_card(options, config, weight_count)
        device = "cpu" if why_not else device
    if why_not:
        # Who is told to use the CPU has nothing left to do.
        why_not = why_not.split(": ")[0] if "--device cpu" in why_not else why_not
        emit(Loading(f"using the CPU: {why_not}"))
    memory = available_memory()
    if device == "cpu":
        format = choose_format(options.quant, weight_count, memory)
        backend = _cpu_backend(options.threads, emit)
    else:
        memory = _room_for_context(config, format, weight_count)
        backend = _cuda_backend(emit)
    context = choose_context(options.context, config, memory)

    # After the kernels: these import numba.
    from kestrel_engine.packed_cache import open_cache
    from kestrel_engine.weights import MTP_FORMATS, load_weights

    def keep(name: str, format: str, make: Callable[[], Any]) -> Any:
        return open_cache(checkpoint.files, backend, format, note, name).keep(name, make)

    emit(Loading("reading the weights"))
    mtp_format = MTP_FORMATS.get(format, format) if device == "cpu" else format
    cache = open_cache(checkpoint.files, backend, format, note, also=mtp_format)
    progress = _progress("mapping packed weights" if cache.filled else f"packing weights as {format}", emit)
    weights = load_weights(checkpoint, config, format, backend.pack, progress, cache, mtp_format)
    model = backend.make_model(config, weights, context)
    head = None
    if config.has_mtp:
        head = make_draft_head(model, options.draft_vocab, tokenizer.special_ids, keep)
    largest_context = choose_context(None, config, memory)
    session = Session(model, tokenizer, head, options.rollback, options.prefill_chunk, largest_context)
    return LoadedModel(session, config, tokenizer, defaults, format, device, backend.threads)


def _progress(stage: str, emit: Callable[[Event], None]) -> Callable[[float], None]:
    """Reports a fraction, at most once per percent."""
    last = [-1]

    def report(fraction: float) -> None:
        percent = int(100 * fraction)
        if percent != last[0]:
            last[0] = percent
            emit(Loading(stage, fraction))

    return report


def _cpu_backend(threads: int | None, emit: Callable[[Event], None]):
    from kestrel_engine.cpu import runtime

    runtime.prepare(lambda fraction: emit(Loading("compiling kernels (first start only)", fraction)))
    from kestrel_engine.cpu.backend import CpuBackend

    return CpuBackend(threads or runtime.physical_cores())


def _cuda_backend(emit: Callable[[Event], None]):
    emit(Loading("starting the GPU"))
    from kestrel_engine.cpu import runtime

    # The CPU's kernels choose tokens with filters that the card leaves to the host.
    runtime.prepare(lambda fraction: emit(Loading("compiling kernels (first start only)", fraction)))
    from kestrel_cuda.backend import CudaBackend

    stage = "compiling the GPU's kernels (first start only)"
    return CudaBackend(progress=_progress(stage, emit))
