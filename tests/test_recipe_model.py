"""kestrel-nano's torch module against the recurrence, a step-by-step draft head, and transformers."""

import json
import math

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from kestrel_assets.recipe.errors import RecipeError  # noqa: E402
from kestrel_assets.recipe.export import export  # noqa: E402
from kestrel_assets.recipe.gdn import chunked_gated_delta_rule  # noqa: E402
from kestrel_assets.recipe.model import Model, ModelConfig, load_checkpoint  # noqa: E402

TINY = ModelConfig(
    vocab_size=96,
    hidden_size=64,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    linear_key_head_dim=32,
    linear_value_head_dim=32,
    intermediate_size=96,
)


def tiny_model(seed: int = 0) -> Model:
    """Random weights in which every tensor matters, norms included."""
    torch.manual_seed(seed)
    model = Model(TINY).eval()
    for name, weight in model.named_parameters():
        if "norm" in name:
            weight.data += 0.2 * torch.randn_like(weight)
        if "embed" in name:
            weight.data.normal_(std=0.3)
    return model


def random_ids(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, TINY.vocab_size, (batch, length), generator=torch.Generator().manual_seed(length))


def recurrent_gated_delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """The published recurrence (Yang et al., 2024, arXiv:2412.06464), token by token: the oracle here."""
    batch, _, heads, key_dim = k.shape
    state = v.new_zeros(batch, heads, key_dim, v.shape[-1])
    outputs = []
    for t in range(k.shape[1]):
        state = state * g[:, t].exp()[..., None, None]
        recalled = torch.einsum("bhkv,bhk->bhv", state, k[:, t])
        write = (v[:, t] - recalled) * beta[:, t, :, None]
        state = state + k[:, t, :, :, None] * write[:, :, None, :]
        outputs.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t]))
    return torch.stack(outputs, dim=1)


@pytest.mark.parametrize("length", [1, 31, 32, 33, 150])
def test_chunked_equals_recurrent(length):
    torch.manual_seed(length)
    q, k, v = (torch.randn(2, length, 3, dim, dtype=torch.float64) for dim in (16, 16, 24))
    q, k = (torch.nn.functional.normalize(x, dim=-1) for x in (q, k))
    g, beta = -torch.rand(2, length, 3, dtype=torch.float64), torch.rand(2, length, 3, dtype=torch.float64)
    g[:, length // 2] = -30.0  # a document border
    expected = recurrent_gated_delta_rule(q, k, v, g, beta)
    torch.testing.assert_close(chunked_gated_delta_rule(q, k, v, g, beta), expected, atol=1e-11, rtol=0)


def test_chunked_gradients():
    torch.manual_seed(0)
    shapes = [(1, 40, 2, 8)] * 3 + [(1, 40, 2)] * 2
    arguments = [torch.randn(shape, dtype=torch.float64) * 0.3 for shape in shapes]
    arguments[3] = -arguments[3].abs()
    gradients = []
    for rule in (recurrent_gated_delta_rule, chunked_gated_delta_rule):
        leaves = [x.clone().requires_grad_() for x in arguments]
        rule(*leaves).square().sum().backward()
        gradients.append([x.grad for x in leaves])
    torch.testing.assert_close(*gradients, atol=1e-10, rtol=0)


@torch.no_grad()
def test_packed_documents_do_not_see_each_other():
    model, ids = tiny_model(), random_ids(1, 60)
    segments = torch.tensor([[0] * 23 + [1] * 37])
    logits, hidden = model.trunk(ids, segments)
    drafts = model.mtp_logits(hidden, ids, 3, segments)
    for part in (slice(0, 23), slice(23, 60)):
        alone, alone_hidden = model.trunk(ids[:, part])
        torch.testing.assert_close(logits[:, part], alone, atol=2e-5, rtol=0)
        for depth, draft in enumerate(model.mtp_logits(alone_hidden, ids[:, part], 3), 1):
            packed = drafts[depth - 1][:, part.start : part.start + draft.shape[1]]
            torch.testing.assert_close(packed, draft, atol=2e-5, rtol=0)


@torch.no_grad()
def test_later_tokens_do_not_change_earlier_rows():
    model, ids = tiny_model(), random_ids(1, 50)
    logits, hidden = model.trunk(ids)
    drafts = model.mtp_logits(hidden, ids, 3)
    ids[:, 40:] = 0
    changed, changed_hidden = model.trunk(ids)
    torch.testing.assert_close(changed[:, :40], logits[:, :40], atol=1e-5, rtol=0)
    for depth, draft in enumerate(model.mtp_logits(changed_hidden, ids, 3), 1):
        rows = 40 - depth
        torch.testing.assert_close(draft[:, :rows], drafts[depth - 1][:, :rows], atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """An exported tiny model, and the trainer's module with the exported (rounded) weights."""
    folder = tmp_path_factory.mktemp("nano")
    export(tiny_model(), folder)
    return folder, load_checkpoint(folder)


@torch.no_grad()
def test_transformers_gives_the_same_logits(exported):
    folder, model = exported
    oracle = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = random_ids(2, 77)
    expected, _ = model.trunk(ids)
    torch.testing.assert_close(oracle(ids).logits, expected, atol=1e-4, rtol=0)

    cache, rows = None, []
    for t in range(40):
        step = oracle(ids[:, t : t + 1], past_key_values=cache, use_cache=True)
        cache = step.past_key_values
        rows.append(step.logits)
    torch.testing.assert_close(torch.cat(rows, 1), expected[:, :40], atol=1e-4, rtol=0)


def test_export_is_the_checkpoint_layout(exported):
    from safetensors.torch import load_file

    folder, _ = exported
    weights = load_file(folder / "model.safetensors")
    assert sum(name.startswith("mtp.") for name in weights) == 15
    assert all(name.startswith(("mtp.", "model.language_model.")) for name in weights)
    assert weights["model.language_model.layers.0.linear_attn.conv1d.weight"].shape == (256, 1, 4)
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["Qwen3_5ForConditionalGeneration"]
    assert config["tie_word_embeddings"] and "lm_head.weight" not in weights


def test_damaged_export_is_one_line(exported, tmp_path):
    folder, _ = exported
    with pytest.raises(RecipeError, match="cannot read the checkpoint"):
        load_checkpoint(tmp_path)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    whole = (folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RecipeError) as error:
        load_checkpoint(tmp_path)
    assert "\n" not in str(error.value)


# --- an independent reading of the draft head: one token at a time, numpy-like, with an explicit KV list --------


class DraftHead:
    """Drafts as an engine does: a list of KV entries, one row a call."""

    def __init__(self, model: Model):
        self.weights = model.state_dict()
        self.entries = []

    def norm(self, x, name):
        return (
            x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (1 + self.weights[f"mtp.{name}.weight"])
        )

    def linear(self, x, name):
        return self.weights[f"mtp.{name}.weight"] @ x

    def rope(self, x, position):
        """Rotates pairs (i, i + 4) of the first 8 of 32 entries."""
        x = x.clone()
        for i in range(4):
            angle = position * 1e7 ** (-2 * i / 8)
            a, b = x[..., i].clone(), x[..., i + 4].clone()
            x[..., i] = a * math.cos(angle) - b * math.sin(angle)
            x[..., i + 4] = b * math.cos(angle) + a * math.sin(angle)
        return x

    def call(self, token, hidden, position):
        """Appends the entry of (token, hidden) and returns (logits, normed output)."""
        embedding = self.weights["model.language_model.embed_tokens.weight"]
        pair = [self.norm(embedding[token], "pre_fc_norm_embedding"), self.norm(hidden, "pre_fc_norm_hidden")]
        x = self.linear(torch.cat(pair), "fc")
        y = self.norm(x, "layers.0.input_layernorm")
        query_gate = self.linear(y, "layers.0.self_attn.q_proj").view(4, 64)
        query = self.rope(self.norm(query_gate[:, :32], "layers.0.self_attn.q_norm"), position)
        key = self.norm(self.linear(y, "layers.0.self_attn.k_proj").view(2, 32), "layers.0.self_attn.k_norm")
        value = self.linear(y, "layers.0.self_attn.v_proj").view(2, 32)
        self.entries.append((self.rope(key, position), value))
        mixed = []
        for head in range(4):
            scores = torch.stack([query[head] @ k[head // 2] for k, _ in self.entries]) / math.sqrt(32)
            mixed.append(scores.softmax(0) @ torch.stack([v[head // 2] for _, v in self.entries]))
        gated = torch.cat(mixed) * query_gate[:, 32:].flatten().sigmoid()
        x = x + self.linear(gated, "layers.0.self_attn.o_proj")
        y = self.norm(x, "layers.0.post_attention_layernorm")
        gate = torch.nn.functional.silu(self.linear(y, "layers.0.mlp.gate_proj"))
        x = x + self.linear(gate * self.linear(y, "layers.0.mlp.up_proj"), "layers.0.mlp.down_proj")
        out = self.norm(x, "norm")
        return embedding @ out, out


@torch.no_grad()
def test_draft_chains_match_a_step_by_step_head():
    model, ids = tiny_model(), random_ids(1, 12)
    _, hidden = model.trunk(ids)
    drafts = model.mtp_logits(hidden, ids, 3)
    assert [x.shape[1] for x in drafts] == [11, 10, 9]
    head = DraftHead(model)
    for p in range(9):
        logits, out = head.call(ids[0, p + 1], hidden[0, p], p)
        torch.testing.assert_close(drafts[0][0, p], logits, atol=1e-4, rtol=0)
        for depth in (2, 3):
            logits, out = head.call(ids[0, p + depth], out, p + depth - 1)
            torch.testing.assert_close(drafts[depth - 1][0, p], logits, atol=1e-4, rtol=0)
        del head.entries[p + 1 :]  # verification writes them anew from trunk hiddens
