"""The bundled model: it is whole, small, what transformers takes it for, and says what it said when it was made."""

from __future__ import annotations

import numpy as np
import pytest

from kestrel_engine.config import load_config
from kestrel_engine.events import Round
from kestrel_engine.loader import bundled_model, load
from kestrel_engine.options import EngineOptions, SamplingOptions
from kestrel_engine.session import Turn
from kestrel_engine.tensor_file import TensorFile

QUESTION = "What is speculative decoding?"
GOLDEN = (
    "It is a way to write faster. A draft head guesses some tokens ahead, and the model checks them together. The text "
    "stays the same, only faster."
)
"""The greedy answer. The arithmetic is the same everywhere, so it is too; the formats happen to agree on it."""
GOLDEN_ACCEPTED = 24
"""Right drafts of 3 a round in the bf16 answer: a head that is fed wrongly shows here."""


def answer(format: str, draft_length: int) -> tuple[str, int]:
    loaded = load(EngineOptions(quant=format), emit=lambda event: None)
    loaded.session.draft_length = draft_length
    rounds = []
    prompt = loaded.tokenizer.encode_chat([{"role": "user", "content": QUESTION}], think=None)
    turn = Turn(prompt, SamplingOptions(), max_tokens=80, drafter="mtp")
    ended = loaded.session.answer(turn, rounds.append, cancelled=lambda: False)
    return ended.text, sum(event.accepted for event in rounds if isinstance(event, Round))


@pytest.mark.parametrize("format", ["bf16", "q8", "q4"])
def test_it_says_what_it_said(format):
    text, _ = answer(format, 0)
    assert text == GOLDEN


def test_its_drafts_are_accepted_as_they_were():
    text, accepted = answer("bf16", 3)
    assert (text, accepted) == (GOLDEN, GOLDEN_ACCEPTED)


def test_it_is_small_and_whole():
    folder = bundled_model()
    files = {path.name for path in folder.iterdir()}
    wanted = {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert wanted | {"README.md", "NOTICE"} <= files
    weights = folder / "model.safetensors"
    assert weights.stat().st_size <= 20_000_000
    assert sum(name.startswith("mtp.") for name in TensorFile(weights).entries) == 15
    assert load_config(folder).has_mtp


def test_transformers_takes_it_for_the_same_model():
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = bundled_model()
    oracle = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "user", "content": QUESTION}]
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
    loaded = load(EngineOptions(), emit=lambda event: None)
    assert ids == loaded.tokenizer.encode_chat(messages, think=None)
    with torch.no_grad():
        expected = oracle(torch.tensor([ids])).logits[0].numpy()
    model = loaded.session.model
    logits = model.logits(model.forward(model.new_state(), ids, len(ids)))
    assert np.abs(logits - expected).max() <= 2e-3 * (expected.max() - expected.min())
    assert (logits.argmax(1) == expected.argmax(1)).all()
