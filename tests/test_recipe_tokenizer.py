"""The tokenizer and the chat template of the recipe, and how samples are rendered."""

import json

import pytest

from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.tokenizer import (
    CONTROL_TOKENS,
    ROLES,
    load_tokenizer,
    train_tokenizer,
)

# Tokenizer


def test_control_tokens_take_the_top_ids(built):
    tokenizer = load_tokenizer(built / "tokenizer")
    assert tokenizer.get_vocab_size() == 4096
    assert [tokenizer.token_to_id(token) for token in CONTROL_TOKENS] == list(range(4086, 4096))


def test_every_role_is_a_special_token_and_its_word_stays_in_the_text(reader):
    for role in ROLES:
        (token,) = reader.encode(f"<|{role}|>")
        ids = reader.encode(f"{role}, a {role}.")
        assert token not in ids
        assert reader.decode([token, *ids], skip_special_tokens=True) == f"{role}, a {role}."


@pytest.mark.parametrize(
    "text", ["plain", " 12 345", "naïve — 日本語 🐦\n\n\tx", "\x00\x07\x7f", "a  b   c \n"]
)
def test_any_text_survives(built, text):
    tokenizer = load_tokenizer(built / "tokenizer")
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_digits_stand_alone_and_text_is_composed(built):
    tokenizer = load_tokenizer(built / "tokenizer")
    tokens = [tokenizer.decode([i]) for i in tokenizer.encode("2024").ids]
    assert tokens == list("2024")
    assert tokenizer.encode("e\u0301").ids == tokenizer.encode("\u00e9").ids


def test_pattern_is_that_of_qwen():
    qwen = pytest.importorskip("transformers.models.qwen3_5.tokenization_qwen3_5")
    from kestrel_assets.recipe.tokenizer import PATTERN

    assert qwen.PRETOKENIZE_REGEX == PATTERN


def test_thinking_marks_are_decoded_and_the_others_are_not(reader):
    ids = reader.encode("<|im_start|><think>x</think><|im_end|><|endoftext|>")
    assert reader.decode(ids, skip_special_tokens=True) == "<think>x</think>"
    assert reader.eos_token == "<|im_end|>"


def test_generation_settings(built):
    settings = json.loads((built / "tokenizer/generation_config.json").read_text())
    assert settings["eos_token_id"] == [4093, 4091]
    assert (settings["temperature"], settings["top_k"], settings["top_p"]) == (0.4, 20, 0.9)
    assert settings["do_sample"] is True


def test_too_little_text_is_refused():
    with pytest.raises(RecipeError, match="vocabulary entries; give more text"):
        train_tokenizer(["a few words"])


# Chat template and rendering


def as_template_messages(sample: dict) -> list[dict]:
    return [
        {("reasoning_content" if key == "reasoning" else key): value for key, value in message.items()}
        for message in sample["messages"]
    ]


def chats() -> list[dict]:
    """Samples of one to five turns, with odd text at the borders of the markup."""
    odd = [
        "Hi.",
        '"Quoted" (text)',
        "- a list\n- of two",
        "27",
        "éa\u0301 \u0301x",
        "...",
        "\n\n  padded \n",
        "日本",
        "'s",
    ]
    samples: list[dict] = []
    for turns in range(1, 6):
        for first in range(len(odd)):
            said = [odd[(first + i) % len(odd)] for i in range(turns)]
            for pair in (("user", "assistant"), ("person", "friend")):
                messages = [{"role": pair[i % 2], "content": text} for i, text in enumerate(said)]
                samples.append({"source": "t", "messages": messages})
    with_all = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "First.", "reasoning": "dropped"},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": "Second.", "reasoning": "It asks.\nI answer.\n"},
    ]
    return [*samples, {"source": "t", "messages": with_all}]


def test_rendering_is_the_template_tokenised(renderer, reader):
    for sample in chats():
        text = reader.apply_chat_template(as_template_messages(sample), tokenize=False) + "<|endoftext|>"
        rendered = renderer.render(sample)
        assert rendered.ids == reader.encode(text), text
        assert len(rendered.loss) == len(rendered.ids)


def test_rendering_is_the_brief_word_for_word(renderer, reader):
    rendered = renderer.render(chats()[-1])
    assert reader.decode(rendered.ids) == (
        "<|im_start|><|system|>\nBe kind.<|im_end|>\n<|im_start|><|user|>\nOne?<|im_end|>\n"
        "<|im_start|><|assistant|>\nFirst.<|im_end|>\n<|im_start|><|user|>\nTwo?<|im_end|>\n"
        "<|im_start|><|assistant|>\n<think>\nIt asks.\nI answer.\n</think>\n\nSecond.<|im_end|>\n<|endoftext|>"
    )
    learned = [i for i, loss in zip(rendered.ids, rendered.loss, strict=True) if loss]
    assert reader.decode(learned) == "First.<|im_end|>It asks.\nI answer.\n</think>\n\nSecond.<|im_end|>"


def test_empty_thoughts_are_given_not_learned(renderer, reader):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    rendered = renderer.render({"source": "t", "messages": messages})
    prompt = reader.apply_chat_template(messages[:1], add_generation_prompt=True, tokenize=False)
    assert prompt.endswith("<|im_start|><|assistant|>\n<think>\n\n</think>\n\n")
    prompt_ids = reader.encode(prompt)
    assert rendered.ids[: len(prompt_ids)] == prompt_ids
    assert rendered.loss[: len(prompt_ids)] == [0] * len(prompt_ids)
    answer = reader.encode("Hello.<|im_end|>")
    assert rendered.ids[len(prompt_ids) : len(prompt_ids) + len(answer)] == answer
    assert rendered.loss[len(prompt_ids) :] == [1] * len(answer) + [0, 0]
    assert rendered.content_bytes == len("HiHello.")


def test_stories_are_learned_whole(renderer):
    rendered = renderer.render({"source": "t", "text": "Once upon a time."})
    assert rendered.ids[-1] == 4091
    assert all(rendered.loss)


def test_thinking_can_be_asked_for(reader):
    messages = [{"role": "user", "content": "Hi"}]
    text = reader.apply_chat_template(
        messages, add_generation_prompt=True, enable_thinking=True, tokenize=False
    )
    assert text.endswith("<|im_start|><|assistant|>\n<think>\n")


def test_history_loses_its_thoughts(reader):
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "One?"}]},
        {"role": "assistant", "content": "<think>\nhidden\n</think>\n\nFirst."},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": "<think>\nshown\n</think>\n\nSecond."},
    ]
    text = reader.apply_chat_template(messages, tokenize=False)
    assert "hidden" not in text
    assert text.endswith("<think>\nshown\n</think>\n\nSecond.<|im_end|>\n")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "There are no messages"),
        ([{"role": "tool", "content": "x"}], "Unknown role"),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "y"}], "must be the first"),
        ([{"role": "user", "content": [{"type": "image"}]}], "reads text only"),
        ([{"role": "user", "content": 3}], "must be a string"),
    ],
)
def test_template_says_what_is_wrong(built, messages, said):
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    template = json.loads((built / "tokenizer/tokenizer_config.json").read_text())["chat_template"]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = raise_exception
    with pytest.raises(TemplateError, match=said):
        environment.from_string(template).render(messages=messages)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ({"source": "t", "messages": []}, "neither messages nor text"),
        ({"source": "t", "messages": [{"role": "tool", "content": "x"}]}, "unknown role 'tool'"),
        ({"source": "t", "text": "a <|im_end|> b"}, "control token"),
    ],
)
def test_bad_samples_are_refused(renderer, sample, said):
    with pytest.raises(RecipeError, match=said):
        renderer.render(sample)
