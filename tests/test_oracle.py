"""Against outside oracles, within a tolerance: transformers for the trunk, a plain torch reading of the
published layout for the MTP head."""

from __future__ import annotations

import json

import checkpoints
import models
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

TOLERANCE = 2e-3
"""Of the logit range."""
SHAPES = {
    "value heads = key heads, tied": dict(linear_num_value_heads=2, linear_value_head_dim=32),
    "value heads = 2 x key heads, untied": dict(linear_num_value_heads=4, tie=False, seed=1),
    "two attention layers": dict(num_hidden_layers=8, seed=2),
    "three attention layers, ragged": dict(
        num_hidden_layers=6, full_attention_interval=2, num_attention_heads=6, num_key_value_heads=3, seed=3
    ),
    "text layout, wide heads": dict(
        layout="text", head_dim=64, linear_key_head_dim=64, hidden_size=96, seed=4
    ),
}


def assert_close(ours: np.ndarray, oracle: np.ndarray) -> None:
    """Max difference within the tolerance, and the same argmax wherever the oracle's margin exceeds it."""
    limit = TOLERANCE * float(oracle.max() - oracle.min())
    assert np.abs(ours - oracle).max() <= limit
    best = np.sort(oracle, axis=1)
    sure = best[:, -1] - best[:, -2] > 2 * limit
    assert sure.mean() > 0.5, "the oracle's margins are too small for this test to mean anything"
    assert (ours.argmax(1) == oracle.argmax(1))[sure].all()


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def folder(request, tmp_path):
    return checkpoints.write_checkpoint(tmp_path / "model", **request.param)


def transformers_model(folder):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def test_prefill_and_decode_agree_with_transformers(folder):
    model = models.load(folder)
    tokens = models.random_tokens(model, 33 + 32)
    oracle = transformers_model(folder)
    with torch.no_grad():
        prefill = oracle(torch.tensor([tokens[:33]]), use_cache=True)
        rows, cache = [prefill.logits[0]], prefill.past_key_values
        for token in tokens[33:]:
            step = oracle(torch.tensor([[token]]), past_key_values=cache, use_cache=True)
            rows.append(step.logits[0])
    expected = torch.cat(rows).numpy()

    state = model.new_state()
    hidden = [model.forward(state, tokens[:33], 33)]
    hidden += [model.forward(state, [token], 1) for token in tokens[33:]]
    assert_close(model.logits(np.concatenate(hidden)), expected)


def test_a_norm_shifted_twice_fails(folder):
    """The oracle notices a norm weight that is shifted twice."""
    model = models.load(folder)
    model.weights.layers[0].norm[:] += 1
    tokens = models.random_tokens(model, 33)
    with torch.no_grad():
        expected = transformers_model(folder)(torch.tensor([tokens])).logits[0].numpy()
    hidden = model.forward(model.new_state(), tokens, 33)
    with pytest.raises(AssertionError):
        assert_close(model.logits(hidden), expected)


# --- the MTP head -----------------------------------------------------------------------------------------


def torch_mtp(folder, hidden: torch.Tensor, next_tokens: list[int]) -> torch.Tensor:
    """The head's normed outputs [T, H] for pairs (token p+1, hidden p), straight from the stored tensors."""
    config = json.loads((folder / "config.json").read_text())
    config = config.get("text_config", config)
    weights = {}
    for path in folder.glob("*.safetensors"):
        weights |= {name: tensor.float() for name, tensor in load_file(path).items()}
    embed = next(tensor for name, tensor in weights.items() if name.endswith("embed_tokens.weight"))
    w = {name[4:]: tensor for name, tensor in weights.items() if name.startswith("mtp.")}
    eps, d = config["rms_norm_eps"], config["head_dim"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    count = len(next_tokens)

    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (1 + w[name])

    def rotate(x):
        rope = config["rope_parameters"]
        rotary = int(d * rope["partial_rotary_factor"])
        angle = torch.arange(count).double()[:, None] * rope["rope_theta"] ** (
            -torch.arange(0, rotary, 2).double() / rotary
        )
        cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
        low, high, rest = x[..., : rotary // 2], x[..., rotary // 2 : rotary], x[..., rotary:]
        return torch.cat([low * cos - high * sin, high * cos + low * sin, rest], -1)

    x = torch.cat(
        [norm(embed[next_tokens], "pre_fc_norm_embedding.weight"), norm(hidden, "pre_fc_norm_hidden.weight")],
        -1,
    )
    x = x @ w["fc.weight"].T
    layer = "layers.0."
    y = norm(x, layer + "input_layernorm.weight")
    query, gate = (y @ w[layer + "self_attn.q_proj.weight"].T).view(count, heads, 2, d).unbind(2)
    key = (y @ w[layer + "self_attn.k_proj.weight"].T).view(count, kv_heads, d)
    value = (y @ w[layer + "self_attn.v_proj.weight"].T).view(count, kv_heads, d)
    query = rotate(norm(query, layer + "self_attn.q_norm.weight"))
    key = rotate(norm(key, layer + "self_attn.k_norm.weight"))
    out = torch.nn.functional.scaled_dot_product_attention(
        query.transpose(0, 1),
        key.repeat_interleave(heads // kv_heads, 1).transpose(0, 1),
        value.repeat_interleave(heads // kv_heads, 1).transpose(0, 1),
        is_causal=True,
    ).transpose(0, 1)
    x = x + (out * gate.sigmoid()).reshape(count, -1) @ w[layer + "self_attn.o_proj.weight"].T
    y = norm(x, layer + "post_attention_layernorm.weight")
    gate = torch.nn.functional.silu(y @ w[layer + "mlp.gate_proj.weight"].T)
    x = x + (gate * (y @ w[layer + "mlp.up_proj.weight"].T)) @ w[layer + "mlp.down_proj.weight"].T
    return norm(x, "norm.weight")


def mtp_logits(model, tokens, chunk, feed):
    """Logits of the head for the newest pair, after `tokens[:-1]` were consumed in chunks."""
    state, hidden = models.consume(model, tokens[:-1], chunk)
    feed(state, hidden)
    return model.logits(model.mtp_row(state, tokens[-1])), hidden


def test_mtp_agrees_with_torch(folder):
    model = models.load(folder)
    tokens = models.random_tokens(model, 20)
    ours, hidden = mtp_logits(model, tokens, 3, lambda state, hidden: None)
    expected = torch_mtp(folder, torch.tensor(hidden), tokens[1:])[-1:]
    assert_close(ours, model.logits(expected.numpy()))


def test_mtp_fed_the_same_position_pair_fails(folder):
    model = models.load(folder)
    tokens = models.random_tokens(model, 20)
    ours, hidden = mtp_logits(model, tokens, 3, lambda state, hidden: None)
    shifted = torch_mtp(folder, torch.tensor(hidden), tokens[:-1])[-1:]
    with pytest.raises(AssertionError):
        assert_close(ours, model.logits(shifted.numpy()))


def test_mtp_fed_other_hidden_rows_fails(folder):
    """Hidden rows that did not pass the final norm (here: scaled unevenly) give other drafts."""
    model = models.load(folder)
    tokens = models.random_tokens(model, 20)

    def unnormed(state, hidden):
        state.hidden_tail = state.hidden_tail / model.weights.norm

    ours, hidden = mtp_logits(model, tokens, 3, unnormed)
    expected = torch_mtp(folder, torch.tensor(hidden), tokens[1:])[-1:]
    with pytest.raises(AssertionError):
        assert_close(ours, model.logits(expected.numpy()))
