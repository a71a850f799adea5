"""The dialogue generator: shape, determinism, held-out split, clean text, and facts that can be checked."""

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from kestrel_assets.recipe.dialogues import (
    advice,
    compose,
    facts,
    frames,
    generate,
    grammar,
    greetings,
    identity,
    indirect,
    kestrel,
    memory,
    numbers,
    questions,
    science,
    smalltalk,
    stories,
    unknown,
)
from kestrel_assets.recipe.dialogues.compose import FAMILIES
from kestrel_assets.recipe.dialogues.followups import AGAIN, ASKED, MORE, SHORTER, WHY
from kestrel_assets.recipe.dialogues.stories import cast_for, story

TOPICS = [
    topic
    for module in (advice, greetings, identity, kestrel, facts, science, smalltalk, unknown)
    for found in vars(module).values()
    if isinstance(found, list) and found and isinstance(found[0], grammar.Topic)
    for topic in found
]


TOLD_NAMES = (
    "My name is|You can call me|At home they call me|I am known as|The name is|My first name is|I go by"
    "|Everybody calls me|My parents named me|You are talking to|Let me introduce myself. I am"
)


def normal(text: str) -> str:
    return re.sub(r"[^a-z0-9+*/= -]", "", text.lower()).strip()


def asked(split: str, count: int, seed: int = 5) -> set[str]:
    """Return the normalised questions of every family, without typing style."""
    rng = Random(f"{split} {seed}")
    found = set()
    for _, make in FAMILIES.values():
        for _ in range(count):
            made = make(rng, split)
            for exchange in made if isinstance(made, list) else [made]:
                found.add(normal(exchange.question))
    return found


def test_same_seed_gives_same_samples_and_other_seed_gives_others():
    first, again = list(generate("train", 7, 200)), list(generate("train", 7, 200))
    assert first == again
    assert first != list(generate("train", 8, 200))
    assert first[:50] == list(generate("train", 7, 50))


def test_unknown_split_is_refused():
    with pytest.raises(ValueError, match="use 'train' or 'heldout'"):
        next(generate("test", 1, 1))


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_samples_have_the_agreed_shape(split):
    systems = reasons = singles = 0
    for sample in generate(split, 3, 3000):
        messages = sample["messages"]
        assert sample["source"].startswith("generated/")
        if messages[0]["role"] == "system":
            systems += 1
            messages = messages[1:]
        roles = [message["role"] for message in messages]
        assert roles == ["user", "assistant"] * (len(messages) // 2)
        assert 1 <= len(messages) // 2 <= 10
        singles += len(messages) == 2
        reasons += "reasoning" in messages[-1]
        assert not any("reasoning" in message for message in messages[:-1])
        for message in messages:
            text = message["content"]
            assert text and text == text.strip() and "  " not in text
            assert not re.search(r"[\[\]{}|]", text), text
    assert 0.07 < systems / 3000 < 0.13
    assert 0.03 < reasons / 3000 < 0.07
    assert 0.4 < singles / 3000 < 0.6


def test_every_template_renders_for_every_row():
    rng = Random(1)
    for topic in TOPICS:
        assert topic.ask and topic.heldout and topic.answers, topic.label
        for row in topic.rows or [{}]:
            for template in (
                topic.label,
                *topic.ask,
                *topic.heldout,
                *topic.answers,
                *topic.more,
                *topic.why,
            ):
                text = grammar.expand(rng, template, row)
                assert text and not re.search(r"[\[\]{}|]", text), text


def test_heldout_questions_never_appear_in_training():
    train, heldout = asked("train", 1500), asked("heldout", 300)
    assert not train & heldout
    for ask in (AGAIN, ASKED, MORE, SHORTER, WHY):
        assert not set(ask.train) & set(ask.heldout)


def unframed(question: str) -> str:
    """The question without the lead-in or the tail that a frame may have put around it."""
    text = normal(question)
    for lead in sorted(map(normal, (*frames.COLONS, *frames.COMMAS)), key=len, reverse=True):
        if text.startswith(lead + " "):
            text = text.removeprefix(lead + " ")
            break
    for tail in map(normal, (*frames.TAILS, *frames.REQUEST_TAILS)):
        text = text.removesuffix(" " + tail)
    return text


def test_framed_questions_hide_no_heldout_question():
    rng = Random(6)
    framed = set()
    for name in FAMILIES:
        for _ in range(800):
            framed |= {unframed(exchange.question) for exchange in compose.make(name, rng, "train")}
    assert not framed & asked("heldout", 300)


def test_frames_change_training_alone_and_keep_the_answers():
    exchange = grammar.Exchange("facts", "What is the capital of France?", "Paris.", "the capital of France")
    rng, seen = Random(7), set()
    for _ in range(400):
        made = replace(exchange)
        frames.reframe(rng, made)
        assert made.answer == "Paris." and "France" in made.question
        seen.add(made.question)
    assert len(seen) > 60
    heldout = [compose.make("facts", Random(seed), "heldout")[0].question for seed in range(100)]
    plain = [FAMILIES["facts"][1](Random(seed), "heldout").question for seed in range(100)]
    assert heldout == plain


def test_heldout_questions_cover_every_family():
    found = questions("heldout")
    assert len(found) >= 120 and len({question for _, question in found}) == len(found)
    assert {family for family, _ in found} == set(FAMILIES)
    assert found == questions("heldout")


def test_articles_agree_with_the_next_word():
    wrong = Counter()
    for sample in generate("train", 11, 3000):
        for message in sample["messages"]:
            if message["role"] != "assistant":
                continue
            for found, word in re.findall(r"\b([Aa]n?) ([a-z]+)", message["content"]):
                if word != "or" and found.lower() != grammar.article(word):
                    wrong[found, word] += 1
    assert not wrong


def test_sums_are_right():
    rng = Random(2)
    signs = {
        "+": "+",
        "-": "-",
        "x": "*",
        "/": "//",
        "plus": "+",
        "minus": "-",
        "times": "*",
        "divided by": "//",
    }
    checked = 0
    for make in (numbers.arithmetic, numbers.word_problem):
        for _ in range(2000):
            answer = make(rng, "train").answer
            found = re.search(r"(\d+) (\+|-|x|/|plus|minus|times|divided by) (\d+) (?:=|is) (\d+)", answer)
            if found:
                first, sign, second, result = found.groups()
                assert eval(f"{first} {signs[sign]} {second}") == int(result), answer
                checked += 1
    assert checked > 2000


def test_a_story_uses_what_was_asked_for():
    rng = Random(3)
    for _ in range(500):
        exchange = story(rng, "train")
        assert 5 <= len(re.findall(r"[.!?](?:\"|\s|$)", exchange.answer)) <= 24
        name = re.search(r"story about (?:.*(?:named|called) )?([A-Z][a-z]+)", exchange.label)
        if name:
            assert name[1] in exchange.answer
        thing = re.search(r"and (?:a|an) (.+)$", exchange.label)
        if thing:
            assert thing[1].split()[-1] in exchange.answer


def test_heldout_stories_use_reserved_pairs():
    rng = Random(4)
    train = {(s["hero"], s["thing"]) for s in (cast_for(rng, "train") for _ in range(3000))}
    heldout = {(s["hero"], s["thing"]) for s in (cast_for(rng, "heldout") for _ in range(300))}
    assert not train & heldout


def test_name_told_is_the_name_recalled():
    checked = 0
    for sample in islice(generate("train", 21, 6000), 6000):
        name = None
        for message in sample["messages"]:
            text = message["content"]
            told = (
                re.match(f"(?:{TOLD_NAMES}) ([A-Z][a-z]+)\\.$", text) if message["role"] == "user" else None
            )
            name = told[1] if told else name
            recalled = (
                re.search(r"[Yy]our name is ([A-Z][a-z]+)", text) if message["role"] == "assistant" else None
            )
            if recalled and name:
                assert recalled[1] == name
                checked += 1
    assert checked > 50


def test_indirect_questions_keep_the_words_and_stay_clear_of_the_heldout_ones():
    assert indirect.clause_of("Where do owls live?") == "where owls live"
    assert indirect.clause_of("What is the capital of France?") == "what the capital of France is"
    assert indirect.clause_of("How can you help me?") == "how you can help me"
    assert indirect.clause_of("Can you help me?") == indirect.clause_of("What is a clock used for?") == ""
    rng, heldout = Random(8), asked("heldout", 300)
    for _, make in FAMILIES.values():
        for _ in range(300):
            made = make(rng, "train")
            for exchange in made if isinstance(made, list) else [made]:
                form = indirect.ask_indirectly(rng, exchange.question)
                assert indirect.clause_of(exchange.question) in form and normal(form) not in heldout


def test_widening_takes_only_labels_of_one_topic():
    found = grammar.topics("facts", "@ a thing\n? What?\n! Which?\n> This.")
    grammar.widen(found, "@ a thing\n? How so?")
    assert found[0].ask == ["What?", "How so?"] and found[0].heldout == ["Which?"]
    with pytest.raises(ValueError, match="0 topics are called 'another'"):
        grammar.widen(found, "@ another\n? Who?")


def test_a_story_on_a_theme_names_it_in_training():
    rng, found = Random(9), set()
    for _ in range(600):
        exchange = story(rng, "train")
        theme = exchange.label.removeprefix("a story about ")
        if theme in stories.THEMES | stories.MORE_THEMES:
            assert f"story about {theme}." in exchange.answer or f"story is about {theme}." in exchange.answer
            found.add(theme)
    assert len(found) > 20


def test_every_detail_is_asked_for_when_it_was_not_told():
    rng = Random(10)
    for key in memory.DETAILS:
        for _ in range(40):
            exchange = memory.not_told(rng, "train", key, memory.choose(rng, key))
            assert re.search(r"\bnot (?:told|been told|know)\b", exchange.answer), exchange.answer
