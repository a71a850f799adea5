"""Checks on the widths of large models, for a GPU: they would take the simulator hours."""

from __future__ import annotations

import checks
import checks_sampling

WIDE = {
    **{
        f"{format}, {rows} x {width} -> {count}": (
            checks.matmul,
            dict(format=format, rows=rows, count=count, width=width),
        )
        for format in ("q4", "q8", "bf16")
        for rows, count, width in ((1, 264, 5120), (4, 136, 5120), (9, 40, 17408), (8, 72, 1024))
    },
    "tiles, q4, 64 x 5120 -> 272": (
        checks.tiles,
        dict(format="q4", rows=64, count=272, width=5120, add=True),
    ),
    "tiles, q8, 32 x 1024 -> 1000": (
        checks.tiles,
        dict(format="q8", rows=32, count=1000, width=1024, add=False),
    ),
    "two products, 27B": (checks.two_products, dict(format="q4", rows=4, counts=(520, 96), width=5120)),
    "SwiGLU behind a product, 27B": (
        checks.swiglu_behind,
        dict(format="q4", rows=4, width=5120, inner=544, formats=("q4",)),
    ),
    "norm behind a product, 27B": (
        checks.norm_behind,
        dict(format="q8", rows=4, count=5120, width=1024, formats=("q8", "bf16"), add=True),
    ),
    "attention behind a product, 27B": (
        checks.attention,
        dict(rows=3, position=300, heads=(6, 1), width=256, rotary=64, hidden=512, threads=128),
    ),
    "norm, 5120": (checks.norm, dict(rows=4, width=5120, formats=("q4", "bf16"))),
    "SwiGLU, 17408": (checks.swiglu, dict(rows=9, width=17408, formats=("q4",))),
    "delta, 27B heads": (
        checks.delta,
        dict(rows=4, commit=1, log=3, position=77, heads=(16, 48), widths=(128, 128)),
    ),
    "attention, 27B heads": (
        checks.attention,
        dict(rows=4, position=700, heads=(6, 1), width=256, rotary=64),
    ),
    "whole vocabulary": (
        checks_sampling.choose,
        dict(rows=3, size=248320, options=dict(temperature=0.7, top_k=20, top_p=0.8, presence_penalty=1.5)),
    ),
    **{
        f"whole vocabulary, {name}": (checks_sampling.choose, dict(rows=3, size=248320, **arguments))
        for name, arguments in {
            "min p": dict(options=dict(temperature=1.2, min_p=0.02)),
            "top p": dict(options=dict(temperature=0.9, top_p=0.95, repetition_penalty=1.1)),
            "top p of equal logits": dict(options=dict(temperature=1, top_p=0.3), kind="equal"),
            "top k of many": dict(options=dict(temperature=1, top_k=1000, top_p=0.9, min_p=0.001)),
        }.items()
    },
    "whole vocabulary sorted": (checks_sampling.sort, dict(rows=9, size=248320, bits=32)),
}
"""As checks.SMALL."""
