"""The static buffers of a model: nothing is allocated while it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kestrel_cuda.arrays import Candidates, Operand, Scratch
from kestrel_cuda.memory import DeviceArray
from kestrel_cuda.operations import Operations
from kestrel_engine.config import ModelConfig
from kestrel_engine.options import MAX_DRAFT

ROWS = MAX_DRAFT + 1
"""Most rows of a pass."""
PLACES = 16
"""Room for one number per row, of each kind."""
F = np.float32


@dataclass(slots=True)
class Buffers:
    """Float32 rows [ROWS, …] of a pass, the operands of its products, and what attention needs."""

    x: DeviceArray
    normed: Operand
    qkv_z: DeviceArray
    beta_a: DeviceArray
    delta_out: DeviceArray
    gated: Operand
    qkv: DeviceArray
    query: DeviceArray
    attention_out: Operand
    gate_up: DeviceArray
    activated: Operand
    final: Operand
    logits: DeviceArray
    pair: Operand
    pair_x: DeviceArray
    last_x: DeviceArray
    last_qkv: DeviceArray
    last_query: DeviceArray
    draft_hidden: DeviceArray
    scratch: Scratch
    candidates: Candidates


def make_buffers(operations: Operations, config: ModelConfig, format: str, positions: int) -> Buffers:
    def rows(width: int, count: int = ROWS) -> DeviceArray:
        return operations.memory.empty((count, width), F)

    def operand(width: int, *formats: str) -> Operand:
        return operations.operand(ROWS, width, set(formats) or {format})

    heads, width, hidden = config.num_attention_heads, config.head_dim, config.hidden_size
    value_heads, intermediate = config.linear_num_value_heads, config.intermediate_size
    qkv = 2 * heads * width + 2 * config.num_key_value_heads * width
    return Buffers(
        x=rows(hidden),
        normed=operand(hidden, format, "bf16"),
        qkv_z=rows(config.conv_dim + config.value_dim),
        beta_a=rows(2 * value_heads),
        delta_out=rows(config.value_dim),
        gated=operand(config.value_dim),
        qkv=rows(qkv),
        query=operations.memory.empty((ROWS, heads, width), F),
        attention_out=operand(heads * width),
        gate_up=rows(2 * intermediate),
        activated=operand(intermediate),
        final=operand(hidden, format, "q4"),  # draft heads have fewer bits than the model
        logits=rows(config.vocab_size),
        pair=operand(2 * hidden),
        pair_x=rows(hidden),
        last_x=rows(hidden, 1),
        last_qkv=rows(qkv, 1),
        last_query=operations.memory.empty((1, heads, width), F),
        draft_hidden=rows(hidden, 1),
        scratch=operations.scratch(ROWS, heads, width, positions),
        candidates=operations.choice.candidates(ROWS, config.vocab_size),
    )
