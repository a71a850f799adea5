"""The options that every training command has, and how values of several parts are written."""

from __future__ import annotations

import argparse
from pathlib import Path


def make_parser(name: str, description: str, **defaults: object) -> argparse.ArgumentParser:
    """The parser of `python -m kestrel_assets.recipe.NAME` with the options of any run; `defaults`: steps, warmup,
    rows, lr, lr_small, eval_every and eval_documents, which each command has its own of."""
    parser = argparse.ArgumentParser(
        prog=f"kestrel_assets.recipe.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--corpus", type=Path, required=True, help="folder written by kestrel_assets.recipe.corpus")
    add("--out", type=Path, required=True, help="folder of the run")
    add("--steps", type=int)
    add("--warmup", type=int, help="first steps, in which the rate rises")
    add("--rows", type=int, help="rows a step")
    add("--row-length", type=int, default=512)
    add("--optimizer", choices=["muon", "adamw"], default="muon")
    add("--lr", type=float, help="peak rate of the weight matrices")
    add("--lr-small", type=float, help="peak rate of all other weights (AdamW)")
    add("--weight-decay", type=float, default=0.1)
    add("--clip", type=float, default=1.0)
    add("--precision", choices=["bf16", "fp32"], default="bf16")
    add("--device", choices=["auto", "cpu", "cuda"], default="auto")
    add("--threads", type=int, choices=[1, 2], default=1)
    add("--nice", type=int, default=10)
    add("--seed", type=int, default=1)
    add("--log-every", type=int, default=10)
    add("--eval-every", type=int)
    add("--eval-documents", type=int, help="held-out documents a group in each evaluation")
    add("--save-minutes", type=float, default=5.0)
    add("--accept-corpus", action="store_true", help="go on from the checkpoint with a changed corpus")
    parser.set_defaults(**defaults)
    return parser


def parse_mix(text: str) -> dict[str, float]:
    """`generated=0.5,stories=0.5` as a dict."""
    return {name: float(share) for name, share in (pair.split("=") for pair in text.split(","))}


def parse_model(text: str) -> list[tuple[str, int]]:
    """`hidden_size=256,num_hidden_layers=8`: changed fields of the model config."""
    return [(name, int(value)) for name, value in (pair.split("=") for pair in text.split(","))]


def parse_floats(text: str) -> tuple[float, ...]:
    return tuple(float(x) for x in text.split(","))
