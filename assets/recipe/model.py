"""The Qwen3.5 hybrid as a torch module: Gated DeltaNet x3, gated attention x1, and one MTP layer.

Parameter names are those of the checkpoint (`model.language_model.*`, `mtp.*`), so that exporting is a plain
dump of the state dict. Zero-centred norms store w and apply 1 + w; `linear_attn.norm` stores a plain weight.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kestrel_assets.recipe.attention import Context, attend, attend_chain, rope_table, rotate
from kestrel_assets.recipe.conv import causal_conv
from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.gdn import chunked_gated_delta_rule
from kestrel_assets.recipe.model_config import ModelConfig

RESET = -30.0  # log decay at a document's first token: nothing of the state before it survives


class Norm(nn.Module):
    """RMSNorm in fp32 with a zero-centred weight: x / rms(x) * (1 + w)."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), self.weight.shape, 1.0 + self.weight, self.eps)


class GatedNorm(nn.Module):
    """RMSNorm with a plain weight, then a SiLU gate."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps) * F.silu(gate.float())


class GatedDeltaNet(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        hidden, value_heads = config.hidden_size, config.linear_num_value_heads
        value_dim = value_heads * config.linear_value_head_dim
        self.in_proj_qkv = nn.Linear(hidden, config.conv_dim, bias=False)
        self.in_proj_z = nn.Linear(hidden, value_dim, bias=False)
        self.in_proj_b = nn.Linear(hidden, value_heads, bias=False)
        self.in_proj_a = nn.Linear(hidden, value_heads, bias=False)
        # Only the weight is used; the module gives it the checkpoint's name and shape [conv_dim, 1, 4].
        self.conv1d = nn.Conv1d(
            config.conv_dim,
            config.conv_dim,
            config.linear_conv_kernel_dim,
            groups=config.conv_dim,
            bias=False,
        )
        self.A_log = nn.Parameter(torch.empty(value_heads))
        self.dt_bias = nn.Parameter(torch.empty(value_heads))
        self.norm = GatedNorm(config.linear_value_head_dim, config.rms_norm_eps)
        self.out_proj = nn.Linear(value_dim, hidden, bias=False)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        config = self.config
        qkv = F.silu(causal_conv(self.in_proj_qkv(x).float(), self.conv1d.weight[:, 0], context.borders))
        beta = self.in_proj_b(x).float().sigmoid()
        decay = -self.A_log.exp() * F.softplus(self.in_proj_a(x).float() + self.dt_bias)
        if context.first is not None:
            decay = decay.masked_fill(context.first[..., None], RESET)

        keys = config.linear_num_key_heads * config.linear_key_head_dim
        q, k, v = qkv.split([keys, keys, qkv.shape[-1] - 2 * keys], dim=-1)
        q = _unit(q.unflatten(-1, (-1, config.linear_key_head_dim))) * config.linear_key_head_dim**-0.5
        k = _unit(k.unflatten(-1, (-1, config.linear_key_head_dim)))
        v = v.unflatten(-1, (-1, config.linear_value_head_dim))
        repeats = config.linear_num_value_heads // config.linear_num_key_heads
        if repeats > 1:
            q, k = q.repeat_interleave(repeats, dim=2), k.repeat_interleave(repeats, dim=2)

        with torch.autocast(x.device.type, enabled=False):  # the state is fp32 everywhere, in the engine too
            out = chunked_gated_delta_rule(q, k, v, decay, beta)
        z = self.in_proj_z(x).unflatten(-1, (-1, config.linear_value_head_dim))
        return self.out_proj(self.norm(out, z).flatten(-2))


class Attention(nn.Module):
    """Gated full attention: norms before RoPE, the sigmoid gate before o_proj."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        hidden, heads, kv, dim = (
            config.hidden_size,
            config.num_attention_heads,
            config.num_key_value_heads,
            config.head_dim,
        )
        self.q_proj = nn.Linear(hidden, heads * dim * 2, bias=False)
        self.k_proj = nn.Linear(hidden, kv * dim, bias=False)
        self.v_proj = nn.Linear(hidden, kv * dim, bias=False)
        self.o_proj = nn.Linear(heads * dim, hidden, bias=False)
        self.q_norm = Norm(dim, config.rms_norm_eps)
        self.k_norm = Norm(dim, config.rms_norm_eps)

    def project(self, x: Tensor, start: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """x [B, T, hidden] at positions start.. -> q, k, v [B, heads, T, dim] (k, v repeated), gate."""
        config = self.config
        q, gate = self.q_proj(x).unflatten(-1, (-1, 2 * config.head_dim)).chunk(2, dim=-1)
        k = self.k_proj(x).unflatten(-1, (-1, config.head_dim))
        v = self.v_proj(x).unflatten(-1, (-1, config.head_dim))
        cos, sin = rope_table(config, start, x.shape[1], x.device)
        q, k = (rotate(y.transpose(1, 2), cos, sin).to(v.dtype) for y in (self.q_norm(q), self.k_norm(k)))
        repeats = config.num_attention_heads // config.num_key_value_heads
        return (
            q,
            k.repeat_interleave(repeats, dim=1),
            v.transpose(1, 2).repeat_interleave(repeats, dim=1),
            gate.flatten(-2),
        )

    def finish(self, mixed: Tensor, gate: Tensor) -> Tensor:
        return self.o_proj(mixed.transpose(1, 2).flatten(-2) * gate.sigmoid())

    def forward(self, x: Tensor, context: Context) -> Tensor:
        q, k, v, gate = self.project(x)
        return self.finish(attend(q, k, v, context), gate)


class MLP(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Pre-norm residual layer around one token mixer and an MLP."""

    def __init__(self, config: ModelConfig, attention: bool):
        super().__init__()
        if attention:
            self.self_attn = Attention(config)
        else:
            self.linear_attn = GatedDeltaNet(config)
        self.mlp = MLP(config)
        self.input_layernorm = Norm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = Norm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        mixer = self.self_attn if hasattr(self, "self_attn") else self.linear_attn
        x = x + mixer(self.input_layernorm(x), context)
        return x + self.mlp(self.post_attention_layernorm(x))


class LanguageModel(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            Layer(config, config.is_attention(i)) for i in range(config.num_hidden_layers)
        )
        self.norm = Norm(config.hidden_size, config.rms_norm_eps)


class MTPHead(nn.Module):
    """Draft head: fc([embedding of the next token, trunk hidden]), one attention layer, its own norm."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.fc = nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)
        self.pre_fc_norm_embedding = Norm(config.hidden_size, config.rms_norm_eps)
        self.pre_fc_norm_hidden = Norm(config.hidden_size, config.rms_norm_eps)
        self.layers = nn.ModuleList([Layer(config, attention=True)])
        self.norm = Norm(config.hidden_size, config.rms_norm_eps)

    def forward(self, embeddings: Tensor, hidden: Tensor, depth: int, context: Context) -> list[Tensor]:
        """Runs `depth` chained drafts from every position at once.

        embeddings, hidden: [B, T, H]. The chain of position p starts from hidden p; its step j consumes the
        embedding of token p + j and sits at position p + j - 1. Returns step j's normed output [B, T - j, H].

        The context of a chain is exactly the engine's: step j attends to the entries 0..p, all made from
        trunk hiddens (those of step 1), and then to the chain's own entries of steps 2..j. As the own entries
        are a single key per step, they are j - 1 extra scores per query beside one causal score matrix.
        """
        layer, own, outputs = self.layers[0], [], []
        previous = hidden
        for step in range(1, depth + 1):
            chains = embeddings.shape[1] - step
            pair = [
                self.pre_fc_norm_embedding(embeddings[:, step:]),
                self.pre_fc_norm_hidden(previous[:, :chains]),
            ]
            x = self.fc(torch.cat(pair, dim=-1))
            q, k, v, gate = layer.self_attn.project(layer.input_layernorm(x), start=step - 1)
            if step == 1:
                trunk_k, trunk_v = k, v
                mixed = attend(q, k, v, context.crop(chains))
            else:
                own.append((k, v))
                mixed = attend_chain(q, trunk_k, trunk_v, own, context.crop(chains))
            x = x + layer.self_attn.finish(mixed, gate)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
            previous = self.norm(x)
            outputs.append(previous)
        return outputs


class Model(nn.Module):
    """The trunk and its draft head."""

    def __init__(self, config: ModelConfig | dict):
        super().__init__()
        self.config = config if isinstance(config, ModelConfig) else ModelConfig.from_dict(config)
        self.model = nn.ModuleDict({"language_model": LanguageModel(self.config)})
        self.mtp = MTPHead(self.config)
        self._initialise()

    def trunk(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """ids [B, T] -> logits [B, T, V] and the hidden state after the final norm [B, T, H].

        `segments` [B, T] numbers the documents packed into a row; tokens then see only their own document.
        """
        hidden = self.hidden(ids, segments)
        return self.head(hidden), hidden

    def mtp_logits(
        self, hidden: Tensor, ids: Tensor, depth: int, segments: Tensor | None = None
    ) -> list[Tensor]:
        """Logits of draft depths 1..depth; entry j - 1 is [B, T - j, V], its row p predicts token p + j + 1."""
        return [self.head(x) for x in self.mtp_hidden(hidden, ids, depth, segments)]

    def hidden(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        language_model = self.model["language_model"]
        context = Context(segments, self.config.linear_conv_kernel_dim)
        x = language_model.embed_tokens(ids)
        for layer in language_model.layers:
            x = layer(x, context)
        return language_model.norm(x)

    def mtp_hidden(
        self, hidden: Tensor, ids: Tensor, depth: int, segments: Tensor | None = None
    ) -> list[Tensor]:
        embeddings = self.model["language_model"].embed_tokens(ids)
        return self.mtp(embeddings, hidden, depth, Context(segments))

    def head(self, hidden: Tensor) -> Tensor:
        """The tied output matrix."""
        return F.linear(hidden, self.embedding)

    @property
    def embedding(self) -> Tensor:
        return self.model["language_model"].embed_tokens.weight

    def _initialise(self) -> None:
        residual = 1 / math.sqrt(2 * self.config.num_hidden_layers)
        for name, weight in self.named_parameters():
            if name.endswith("A_log"):
                weight.data.uniform_(1, 16).log_()
            elif name.endswith("dt_bias"):
                # Inverse softplus of step sizes spread over three decades: short and long memories.
                step = torch.empty_like(weight).uniform_(math.log(1e-3), math.log(1e-1)).exp()
                weight.data.copy_(step + torch.log(-torch.expm1(-step)))
            elif name.endswith("conv1d.weight"):
                weight.data.uniform_(-0.5, 0.5)
            elif "embed_tokens" in name:
                weight.data.normal_(std=0.02)
            elif weight.ndim == 2:
                scale = (
                    residual if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")) else 1
                )
                weight.data.normal_(std=scale * 0.5 / math.sqrt(weight.shape[1]))


def load_checkpoint(folder: str | Path) -> Model:
    """Reads an exported folder (`config.json`, `model.safetensors`) into an fp32 Model.

    Raises RecipeError when a file is missing, unreadable or does not fit the config.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(folder)
    try:
        model = Model(ModelConfig.from_dict(json.loads((folder / "config.json").read_text())))
        weights = load_file(folder / "model.safetensors")
        model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    except (OSError, ValueError, SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise RecipeError(f"cannot read the checkpoint in {folder} ({reason}); export it again") from error
    return model.eval()


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)
