import pytest
from checkpoints import IM_END, TOKENIZER_SIZE, write_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine.detokenizer import Detokenizer
from kestrel_engine.tokenizer import Tokenizer

WHOLE_TEXTS = [
    "plain",
    "你好，世界。こんにちは",
    "👨‍👩‍👧 🏳️‍🌈 👋🏽",
    "e\u0301 n\u0303 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\U0010ffff\u0800\u07ff\x7f\x00",
    "a real \ufffd stays",
]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return Tokenizer(write_tokenizer(tmp_path_factory.mktemp("tokenizer")))


@pytest.fixture(scope="module")
def byte_ids(tokenizer):
    """Byte → id of the token that is this byte alone."""
    tokens = {tokenizer.token_bytes(id): id for id in range(TOKENIZER_SIZE)}
    return [tokens[bytes([byte])] for byte in range(256)]


def pushed(tokenizer, ids, **options):
    detokenizer = Detokenizer(tokenizer, **options)
    return [detokenizer.push(id) for id in ids] + [detokenizer.flush()]


@given(text=st.sampled_from(WHOLE_TEXTS) | st.text())
def test_characters_arrive_whole_when_their_last_byte_does(tokenizer, byte_ids, text):
    pieces = pushed(tokenizer, [byte_ids[byte] for byte in text.encode()])
    expected = []
    for character in text:
        expected += [""] * (len(character.encode()) - 1) + [character]
    assert pieces == [*expected, ""]


@given(ids=st.lists(st.integers(0, TOKENIZER_SIZE + 20)))
def test_joined_pieces_are_the_bytes_decoded_at_once(tokenizer, ids):
    kept = [id for id in ids if id not in tokenizer.special_ids]
    for stream, options in ((kept, {}), (ids, {"skip_special": False})):
        data = b"".join(tokenizer.token_bytes(id) for id in stream)
        assert "".join(pushed(tokenizer, ids, **options)) == data.decode("utf-8", errors="replace")


@given(data=st.binary())
def test_any_bytes_one_at_a_time(tokenizer, byte_ids, data):
    pieces = pushed(tokenizer, [byte_ids[byte] for byte in data])
    assert "".join(pieces) == data.decode("utf-8", errors="replace")


def test_special_tokens_have_no_text_unless_asked(tokenizer, byte_ids):
    ids = [byte_ids[ord("a")], *tokenizer.encode(IM_END), byte_ids[ord("b")]]
    assert pushed(tokenizer, ids) == ["a", "", "b", ""]
    assert pushed(tokenizer, ids, skip_special=False) == ["a", IM_END, "b", ""]
    assert pushed(tokenizer, tokenizer.encode("<think>")) == ["<think>", ""]


def test_an_incomplete_end_is_flushed_once(tokenizer, byte_ids):
    detokenizer = Detokenizer(tokenizer)
    start, *rest = "é".encode()
    assert detokenizer.push(byte_ids[start]) == ""
    assert detokenizer.flush() == "\ufffd"
    assert detokenizer.flush() == ""
    assert [detokenizer.push(byte_ids[byte]) for byte in (start, *rest)] == ["", "é"]


@pytest.mark.slow
@pytest.mark.parametrize("text", WHOLE_TEXTS)
def test_the_real_tokenizer(real_tokenizer, text):
    ids = real_tokenizer.encode_text(text)
    joined = "".join(pushed(real_tokenizer, ids))
    assert joined == real_tokenizer.decode(ids)
    assert joined.count("\ufffd") == text.count("\ufffd")
