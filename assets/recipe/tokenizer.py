"""The tokenizer of kestrel-nano: byte-level BPE of the Qwen3.5 kind with 4,096 entries."""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from kestrel_assets.recipe.errors import RecipeError

VOCABULARY = 4096
# The pre-tokenizer pattern of Qwen3.5: words with their marks, single digits, runs of punctuation, line ends.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
THINK, END_THINK = "<think>", "</think>"
ROLES = ("system", "user", "assistant", "person", "friend")
"""Who speaks. Each is a control token, so that the word in a text is not taken for the role, nor the reverse."""


def role_token(role: str) -> str:
    return f"<|{role}|>"


CONTROL_TOKENS = (*map(role_token, ROLES), END_OF_TEXT, IM_START, IM_END, THINK, END_THINK)
"""They take the top ids in this order, above the BPE entries."""

CHAT_TEMPLATE = r"""
{%- macro render_content(content) %}
    {%- if content is string %}
        {{- content }}
    {%- elif content is none or content is undefined %}
        {{- '' }}
    {%- elif content is iterable and content is not mapping %}
        {%- for item in content %}
            {%- if 'text' in item %}
                {{- item.text }}
            {%- else %}
                {{- raise_exception('This model reads text only; a message holds something else.') }}
            {%- endif %}
        {%- endfor %}
    {%- else %}
        {{- raise_exception('The content of a message must be a string or a list of text parts.') }}
    {%- endif %}
{%- endmacro %}
{%- if not messages %}
    {{- raise_exception('There are no messages to render.') }}
{%- endif %}
{%- set ns = namespace(last_query_index=-1) %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {%- set ns.last_query_index = loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = render_content(message.content)|trim %}
    {%- if message.role == 'system' and not loop.first %}
        {{- raise_exception('A system message must be the first message.') }}
    {%- elif message.role in ['system', 'user', 'person', 'friend'] %}
        {{- '<|im_start|><|' + message.role + '|>\n' + content + '<|im_end|>\n' }}
    {%- elif message.role == 'assistant' %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].split('<think>')[-1] %}
        {%- endif %}
        {%- set content = (content.split('</think>')[-1])|trim %}
        {%- set reasoning_content = reasoning_content|trim %}
        {%- if loop.index0 > ns.last_query_index %}
            {{- '<|im_start|><|assistant|>\n<think>\n' + reasoning_content + '\n</think>\n\n' }}
            {{- content + '<|im_end|>\n' }}
        {%- else %}
            {{- '<|im_start|><|assistant|>\n' + content + '<|im_end|>\n' }}
        {%- endif %}
    {%- else %}
        {{- raise_exception('Unknown role: use system, user, assistant, person or friend.') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {%- if enable_thinking is defined and enable_thinking is true %}
        {{- '<|im_start|><|assistant|>\n<think>\n' }}
    {%- else %}
        {{- '<|im_start|><|assistant|>\n<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}
""".strip()


def train_tokenizer(texts: Iterable[str], vocabulary: int = VOCABULARY) -> Tokenizer:
    """A tokenizer of exactly `vocabulary` entries, with all 256 bytes.

    Raises RecipeError when `texts` are too few to fill the vocabulary.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    entries = vocabulary - len(CONTROL_TOKENS)
    trainer = trainers.BpeTrainer(
        vocab_size=entries,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if tokenizer.get_vocab_size() != entries:
        raise RecipeError(
            f"the text fills {tokenizer.get_vocab_size()} of {entries} vocabulary entries; give more text"
        )
    for token in CONTROL_TOKENS:
        added = AddedToken(token, special=is_special(token), normalized=False)
        (tokenizer.add_special_tokens if added.special else tokenizer.add_tokens)([added])
    return tokenizer


def is_special(token: str) -> bool:
    """As in Qwen, the thinking marks are ordinary text to a decoder, so that a reader can split at them."""
    return token not in (THINK, END_THINK)


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write tokenizer.json, tokenizer_config.json and generation_config.json, as transformers reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = {token: tokenizer.token_to_id(token) for token in CONTROL_TOKENS}
    added = {
        str(number): {
            "content": token,
            "lstrip": False,
            "normalized": False,
            "rstrip": False,
            "single_word": False,
            "special": is_special(token),
        }
        for token, number in ids.items()
    }
    config = {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "bos_token": None,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": IM_END,
        "errors": "replace",
        "model_max_length": 4096,
        "pad_token": END_OF_TEXT,
        "split_special_tokens": False,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": None,
    }
    generation = {
        "bos_token_id": ids[END_OF_TEXT],
        "do_sample": True,
        "eos_token_id": [ids[IM_END], ids[END_OF_TEXT]],
        "pad_token_id": ids[END_OF_TEXT],
        "temperature": 0.4,
        "top_k": 20,
        "top_p": 0.9,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8"
    )
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n", "utf-8")


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of `folder`/tokenizer.json. Raises RecipeError when it is missing or damaged."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise RecipeError(f"no tokenizer at {path}; build the corpus first")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise RecipeError(
            f"cannot read {path}: {str(error).splitlines()[0]}; build the corpus again"
        ) from None
