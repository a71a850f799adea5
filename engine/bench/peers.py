"""Other engines behind one small interface: greedy decoding from token ids, the prompt not timed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from kestrel_engine.errors import KestrelError, UsageError


class Peer(Protocol):
    name: str
    version: str
    format: str

    def decode(self, prompt: Sequence[int], tokens: int) -> tuple[list[int], float]:
        """`tokens` greedy tokens behind `prompt`, end-of-text ignored, and the milliseconds from the end of
        prompt[:-1] to the last of them (Kestrel's own clock starts there too)."""


class TransformersPeer:
    """Hugging Face transformers on torch, weights in bfloat16 as stored."""

    name, format = "transformers", "bf16"

    @staticmethod
    def check(folder: Path, gguf: str | None) -> None:
        if gguf is not None:
            raise UsageError("--gguf is read by llama-cpp-python alone: leave it out, or name that --peer")
        _require("transformers", "transformers")
        _require("torch", "torch")

    def __init__(self, folder: Path, gguf: str | None, threads: int, context: int):
        self.version = importlib.metadata.version("transformers")
        try:
            import torch
            from transformers import AutoModelForCausalLM
            from transformers.utils import logging

            warnings.filterwarnings("ignore", category=FutureWarning)  # its own, about its next version
            logging.set_verbosity_error()
            logging.disable_progress_bar()
            torch.set_num_threads(threads)
            self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
        except Exception as error:  # its libraries do not fit the system, or it does not like the checkpoint
            reason = " ".join(str(error).split())[:160]
            raise KestrelError(f"transformers cannot load {folder} ({reason}): update it") from error

    def decode(self, prompt: Sequence[int], tokens: int) -> tuple[list[int], float]:
        import torch

        ids: list[int] = []
        with torch.inference_mode():
            cache = None
            if len(prompt) > 1:
                read = self._model(torch.tensor([list(prompt[:-1])]), use_cache=True, logits_to_keep=1)
                cache = read.past_key_values
            token, start = prompt[-1], time.perf_counter()
            while len(ids) < tokens:
                step = self._model(torch.tensor([[token]]), past_key_values=cache, use_cache=True)
                cache, token = step.past_key_values, int(step.logits[0, -1].argmax())
                ids.append(token)
            return ids, 1e3 * (time.perf_counter() - start)


class LlamaCppPeer:
    """llama.cpp through llama-cpp-python, from a GGUF file of the same checkpoint."""

    name = "llama-cpp-python"

    @staticmethod
    def check(folder: Path, gguf: str | None) -> None:
        _require("llama_cpp", "llama-cpp-python")
        if gguf is None:
            raise UsageError(
                "--peer llama-cpp-python needs --gguf FILE: llama.cpp's convert_hf_to_gguf.py makes one"
            )
        if not Path(gguf).is_file():
            raise UsageError(f"{gguf} does not exist: check the path")

    def __init__(self, folder: Path, gguf: str | None, threads: int, context: int):
        self.version = importlib.metadata.version("llama-cpp-python")
        self.format = Path(gguf).stem
        try:
            import llama_cpp

            self._model = llama_cpp.Llama(
                gguf, n_ctx=context, n_threads=threads, n_threads_batch=threads, verbose=False
            )
        except Exception as error:  # its library does not fit the system, or it does not like the file
            reason = " ".join(str(error).split())[:160]
            raise KestrelError(f"llama-cpp-python cannot load {gguf} ({reason}): update it") from error

    def decode(self, prompt: Sequence[int], tokens: int) -> tuple[list[int], float]:
        self._model.reset()
        if len(prompt) > 1:
            self._model.eval(list(prompt[:-1]))
        ids: list[int] = []
        token, start = prompt[-1], time.perf_counter()
        while len(ids) < tokens:
            self._model.eval([token])
            token = int(self._model.sample(temp=0.0))
            ids.append(token)
        return ids, 1e3 * (time.perf_counter() - start)


PEERS = {peer.name: peer for peer in (TransformersPeer, LlamaCppPeer)}


def open_peer(name: str, folder: Path, gguf: str | None, threads: int, context: int) -> Peer:
    return PEERS[name](folder, gguf, threads, context)


def _require(module: str, package: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise UsageError(f"{package} is not installed: pip install {package}, or choose another --peer")
