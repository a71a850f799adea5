"""Writes a model folder in the layout of the Qwen3.5 checkpoints, for `transformers` and the engine."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.model import Model
from kestrel_assets.recipe.model_config import ModelConfig
from kestrel_assets.recipe.run_state import read_state

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja")
KEPT_FP32 = ("A_log", "dt_bias", "linear_attn.norm.weight")


def export(model: Model, out: str | Path, tokenizer: str | Path | None = None) -> None:
    """Writes `config.json`, `model.safetensors` (bf16) and the tokenizer files into folder `out`."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    weights = {name: export_dtype(name, weight.detach()) for name, weight in model.state_dict().items()}
    temporary = out / "model.safetensors.tmp"
    save_file(weights, temporary, metadata={"format": "pt"})
    temporary.chmod(0o644)  # safetensors writes it for the owner only
    os.replace(temporary, out / "model.safetensors")
    eos = []
    for name in TOKENIZER_FILES:
        if tokenizer and (Path(tokenizer) / name).exists():
            shutil.copyfile(Path(tokenizer) / name, out / name)
    if (out / "generation_config.json").exists():
        eos = json.loads((out / "generation_config.json").read_text()).get("eos_token_id", [])
    config = huggingface_config(model.config, eos)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def export_dtype(name: str, weight: torch.Tensor) -> torch.Tensor:
    dtype = torch.float32 if name.endswith(KEPT_FP32) else torch.bfloat16
    return weight.to("cpu", dtype).contiguous()


def huggingface_config(config: ModelConfig, eos: int | list[int]) -> dict:
    """The `config.json` of a Qwen3.5 model whose vision tower was left out."""
    half = config.rotary_dim // 2
    side = half // 3
    text = config.to_dict()
    theta, partial = text.pop("rope_theta"), text.pop("partial_rotary_factor")
    text |= {
        "model_type": "qwen3_5_text",
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "tie_word_embeddings": True,
        "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False,
        "mamba_ssm_dtype": "float32",
        "dtype": "bfloat16",
        "eos_token_id": eos,
        "layer_types": [
            "full_attention" if config.is_attention(i) else "linear_attention"
            for i in range(config.num_hidden_layers)
        ],
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": theta,
            "partial_rotary_factor": partial,
            "mrope_interleaved": True,
            "mrope_section": [half - 2 * side, side, side],
        },
    }
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "tie_word_embeddings": True,
        "dtype": "bfloat16",
        "text_config": text,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="kestrel_assets.recipe.export", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="output folder of the trainer")
    parser.add_argument("--out", type=Path, required=True, help="folder of the model to write")
    parser.add_argument("--which", choices=["best", "last"], default="best", help="which weights")
    parser.add_argument(
        "--tokenizer", type=Path, help="tokenizer folder (default: the one the run was given)"
    )
    args = parser.parse_args()
    return run_command(lambda: export_run(args.run, args.out, args.which, args.tokenizer))


def export_run(run: Path, out: Path, which: str, tokenizer: Path | None = None) -> None:
    """Exports the best or the last weights of a run. Raises RecipeError if the run has none."""
    name = "best.pt" if which == "best" and (run / "best.pt").exists() else "checkpoint.pt"
    state = read_state(run / name)
    if state is None:
        raise RecipeError(f"no checkpoint in {run}; train first")
    model = Model(ModelConfig.from_dict(state["settings"]["model"]))
    model.load_state_dict(state["weights"])
    export(model, out, tokenizer or Path(state["corpus"]) / "tokenizer")
    print(f"wrote {out} from {run / name}, step {state['step']}")


if __name__ == "__main__":
    sys.exit(main())
