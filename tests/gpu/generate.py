"""Whole answers of a tiny model on the GPU backend, compared with the CPU's: ids, how they came about, and
log-probabilities, one JSON line each. In the CUDA simulator it takes a while, so shapes are as small as can be.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checkpoints
import models

from kestrel_cuda.backend import CudaBackend
from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import FirstHit, LookupDrafter, MtpDrafter
from kestrel_engine.options import SamplingOptions
from kestrel_engine.rollback import make_rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import run_round

SHAPE = dict(
    num_hidden_layers=2,
    full_attention_interval=2,
    hidden_size=32,
    vocab_size=64,
    intermediate_size=32,
    num_attention_heads=2,
    num_key_value_heads=1,
    linear_num_key_heads=1,
    linear_num_value_heads=2,
    linear_value_head_dim=32,
)
PENALISED = SamplingOptions(temperature=0.7, top_k=3, top_p=0.9, presence_penalty=1.5, repetition_penalty=1.2)
NUCLEUS = SamplingOptions(temperature=1.5, top_p=0.6, presence_penalty=0.5, seed=7)
CASES = {
    "greedy, drafts all right, q4": ("q4", True, SamplingOptions(), [2, 2]),
    "sampled, toggled, q8": ("q8", False, SamplingOptions(temperature=1, seed=4), [0, 3, 1]),
    "penalties and filters, bf16": ("bf16", False, PENALISED, [2, 2]),
    "min p, q8": ("q8", False, SamplingOptions(temperature=1.5, min_p=0.02, seed=2), [2]),
    "top p, q4": ("q4", True, NUCLEUS, [1, 2]),
}
"""Name -> (format, echoing model, sampling, draft lengths of the rounds)."""


def answer(model, prompt: list[int], sampling: SamplingOptions, lengths: list[int]) -> list:
    """Rounds after `prompt`: tokens (id, draft index, log-probability), drafts, the rejected one's
    log-probability, the proposer."""
    state, sampler = model.new_state(), Sampler(sampling, model.backend, prompt)
    drafters = FirstHit([LookupDrafter(), MtpDrafter(model, make_draft_head(model, 24, [60]))])
    undo = make_rollback("cursor")
    model.forward(state, prompt[:-1], len(prompt) - 1)
    token, out = prompt[-1], []
    for length in lengths:
        result = run_round(model, state, token, length, drafters, undo, sampler, lambda _: False)
        tokens = [[t.id, t.draft_index, t.logprob] for t in result.tokens]
        out.append([tokens, result.drafts, result.rejected_logprob, result.drafter])
        token = result.tokens[-1].id
    return out


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for echo in (False, True):
            checkpoints.write_checkpoint(Path(folder, str(echo)), tokenizer=False, echo=echo, **SHAPE)
        for name, (format, echo, sampling, lengths) in CASES.items():
            if names and name not in names:
                continue
            cpu = models.load(Path(folder, str(echo)), format, context=64)
            gpu = models.load(Path(folder, str(echo)), format, CudaBackend(), context=64)
            prompt = models.random_tokens(cpu, 7)
            outputs = [answer(model, prompt, sampling, lengths) for model in (cpu, gpu)]
            print(json.dumps({"name": name, "cpu": outputs[0], "gpu": outputs[1]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
