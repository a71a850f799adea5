"""Story requests and stories in which the asked-for hero, thing and place take part."""

import re
from random import Random
from zlib import crc32

from kestrel_assets.recipe.dialogues import plots
from kestrel_assets.recipe.dialogues.adventures import ADVENTURES
from kestrel_assets.recipe.dialogues.grammar import TRAIN, Ask, Exchange, capital, expand
from kestrel_assets.recipe.dialogues.names import (
    ANIMAL_BOYS,
    ANIMAL_GIRLS,
    BOYS,
    COLOURS,
    GIRLS,
    PLACES,
    STORY_ANIMALS,
    THINGS,
)

_LOOKS = (*COLOURS, "small", "little", "big", "old", "new", "shiny", "round", "beautiful", "funny")
PLOTS = plots.PLOTS | ADVENTURES
_ON = {"beach", "farm", "hill"}
_CHILD = ("boy", "girl")
_AT = {"market", "lake", "river", "castle", "old mill"}
# Hero and thing stand in the first sentence, so that the story has both to hold on to.
_OPENINGS = (
    "This is a story about {hero_is} and {a look} {thing}.",
    "Once there was {hero_is}, and this is the story of {hero} and {a look} {thing}.",
)
_FRIENDS = (
    "{His} best friend was {friend_is}.",
    "{Hero} had a good friend, {friend_is}.",
)
_SOFT = {
    *[
        "blanket",
        "scarf",
        "hat",
        "balloon",
        "feather",
        "coin",
        "glove",
        "button",
        "ball",
        "map",
        "backpack",
        "basket",
    ],
    "teddy bear",
    "paper plane",
}
_FOUND = {
    "shell",
    "magic stone",
    "feather",
    "coin",
    "balloon",
    "mirror",
    "button",
    "glove",
    "spoon",
    "ring",
    "pencil",
}
# Plots that do not suit some things: a scarf does not break, and nobody builds a shell.
_UNFIT = {"broken": _SOFT, "truth": _SOFT, "make": _FOUND}
_MEETS_FRIEND = {"new_friend", "well"}  # the friend comes in later, so there is no introduction
_ENDS = ("", "", "", "", "The end.", "And that is the end of the story.")

_ABOUT_BOTH = Ask(
    ("I would enjoy a story about {who} and {what}", "Can I have a [tale|story] about {who} and {what}?",
     "A tale of {who} and {what}, please", "May I hear a story with {who} and {what}?",
     "I need a story with {who} and {what} in it", "Story: {who} and {what}",
     "I feel like hearing a story about {who} and {what}", "Think of a story about {who} and {what}",
     "[Tell|Tell|Can you tell|Please tell|Write] me a [short|little|nice|] story about {who} and {what}",
     "[I want|I would like] [to hear|] a [short|] story about {who} and {what}",
     "[Write|Make up] a [short|little|] story about {who} and {what}",
     "A story about {who} and {what}, please",
     "[Do you know|Can you write] a story about {who} and {what}?",
     "[Please|Can you] tell me a [bedtime|goodnight|funny|happy] story about {who} with {what}",
     "Tell me a tale about {who} and {what}", "Tell me about {who} who finds {what}",
     "Write a story with {who} and {what}", "How about a story [about|with] {who} and {what}?",
     "[Could|Would|Can] you tell [me|us] a [tale|story] [about|with] {who} and {what}[, please|]?",
     "{who} and {what}: make a [tale|story] of that", "Let {who} and {what} be in your [tale|story]",
     "Let me hear a [tale|story] about {who} and {what}", "I wish for a story about {who} and {what}"),
    ("I'd love a tale about {who} and {what}", "Could {who} and {what} be in a story?",
     "Make a tale in which {who} has {what}"),
)  # fmt: skip
_ABOUT_WHO = Ask(
    ("I would enjoy a story about {who}", "Can I have a [tale|story] about {who}?", "A tale of {who}, please",
     "May I hear a [story|tale] about {who}?", "I need a story with {who} in it", "Story: {who}",
     "I feel like hearing a story about {who}", "Think of a story about {who}", "Now a story about {who}",
     "{who}, please. As a story", "My son likes {who}. Tell him a story",
     "[Tell|Tell|Can you tell|Please tell|Write] me a [short|little|nice|] story about {who}",
     "[I want|I would like] [to hear|] a [short|] story about {who}", "A story about {who}, please",
     "[Write|Make up] a [short|little|] story about {who}",
     "[Do you know|Can you write] a story about {who}?",
     "Story about {who}", "Tell me a tale about {who}", "How about a [tale|story] with {who} in it?",
     "[Could|Would] you tell [me|us] a [tale|story] about {who}[, please|]?", "Tell a story, and let {who} be in it",
     "What did {who} do one day? Tell me a story", "Let me hear a [tale|story] about {who}",
     "I like {who}. Is there a story?", "My daughter wants a story about {who}",
     "[Please|Can you] tell me a [bedtime|goodnight|funny|happy] story about {who}"),
    ("I'd love a tale about {who}", "Could {who} be the hero of a story?", "Spin me a tale about {who}"),
)  # fmt: skip
_ABOUT_WHAT = Ask(
    ("I would enjoy a story about {what}", "Can I have a [tale|story] about {what}?",
     "A tale of {what}, please",
     "May I hear a story about {what}?", "I need a story with {what} in it", "Story: {what}",
     "Think of a story about {what}", "Now a tale about {what}",
     "[Tell|Can you tell|Please tell|Write] me a [short|little|] story about {what}",
     "I want a [short|] story about {what}", "[Write|Make up] a [short|little|] story about {what}",
     "A story about {what}, please", "Story about {what}", "How about a [tale|story] with {what} in it?",
     "[Could|Would] you tell [me|us] a [tale|story] about {what}[, please|]?", "Tell a story, and let {what} be in it",
     "Let me hear a [tale|story] about {what}", "I wish for a tale with {what}", "{what}: make a story of that"),
    ("I'd love a tale about {what}", "Could {what} be in a story?", "Spin me a tale about {what}"),
)  # fmt: skip
_ABOUT_PLACE = Ask(
    ("I would enjoy a story about {who} {where}", "Can I have a [tale|story] about {who} {where}?",
     "A tale of {who} {where}, please", "Think of a story about {who} {where}",
     "[Tell|Can you tell|Please tell|Write] me a [short|little|] story about {who} {where}",
     "[Write|Make up] a story about {who} {where}", "I want a story about {who} {where}",
     "A story about {who} {where}, please", "Tell me what {who} did {where}, as a story"),
    ("I'd love a tale about {who} {where}", "What could happen to {who} {where}? Tell me a tale"),
)  # fmt: skip
_ABOUT_TWO = Ask(
    ("I would enjoy a story about {who} and {friend}", "Can I have a tale about {who} and {friend}?",
     "A tale of {who} and {friend}, please", "Think of a story about {who} and {friend}",
     "[Tell|Can you tell|Please tell|Write] me a [short|little|] story about {who} and {his} friend {friend}",
     "A story about {who} and {friend}, please", "[Write|Make up] a story about {who} and {friend}",
     "I want a story about two friends, {who} and {friend}"),
    ("I'd love a tale about {who} and {friend}", "Could {who} and {friend} be in a tale?"),
)  # fmt: skip
_ABOUT_THEME = Ask(
    ("I would enjoy a story about {theme}", "Can I have a [tale|story] about {theme}?",
     "A tale of {theme}, please",
     "I need a story about {theme}", "Think of a story about {theme}", "May I hear a tale about {theme}?",
     "[Tell|Can you tell|Please tell|Write] me a [short|little|] story about {theme}",
     "A story about {theme}, please", "[Write|Make up] a story about {theme}",
     "I want a story about {who} and about {theme}", "Tell me a story about {theme} with {who}",
     "How about a [tale|story] about {theme}?", "Let me hear a [tale|story] about {theme}",
     "[Could|Would|Can] you tell [me|us] a [tale|story] about {theme}[, please|]?", "Story: {theme}",
     "I feel like hearing a story about {theme}", "Now a [tale|story] about {theme}[, please|]",
     "[I want|I would like] [to hear|] a [short|] [tale|story] about {theme}", "Is there a tale about {theme}?",
     "[Please|Can you] tell me a [bedtime|goodnight|funny|happy] story about {theme}",
     "Do you know a [tale|story] about {theme}?", "A [bedtime|short|little] story about {theme}[, please|]",
     "{theme}, please. As a story", "My son wants a story about {theme}", "Tell me something about {theme}, as a story",
     "Your story should be about {theme}", "Have you a story in which there is {theme}?"),
    ("I'd love a tale about {theme}", "Let {theme} be the theme of a tale"),
)  # fmt: skip
# what a story can be asked to be about: the plots that tell of it
THEMES = {
    "sharing": ("share",), "friendship": ("lost", "new_friend", "tree"), "being brave": ("storm", "dark"),
    "courage": ("storm", "dark"), "telling the truth": ("truth",), "honesty": ("truth",),
    "not giving up": ("race", "make"), "a race": ("race",), "a treasure": ("treasure",),
    "a storm": ("storm",),
    "helping others": ("little_one", "old_one", "well", "market"), "kindness": ("old_one", "wish", "gift"),
    "a magic wish": ("wish",), "a birthday": ("gift",), "the dark": ("dark", "night_walk"),
    "something lost": ("lost",),
    "a lost kitten": ("little_one",), "a new friend": ("new_friend",), "magic": ("wish",),
    "work and play": ("lazy",), "a feast": ("contest",), "an old map": ("treasure",), "snow": ("snow",),
    "winter": ("snow", "lazy"), "a river": ("river",),
    "the moon": ("night_walk",), "a cake": ("cake",), "music": ("music",), "dancing": ("music",),
    "a long journey": ("far_away",),
    "a snowman": ("snow",), "fireflies": ("night_walk",),
}  # fmt: skip
# asked for in training alone, beside the themes above
MORE_THEMES = {
    "the night": ("night_walk", "dark"), "being afraid": ("dark", "storm"), "fear": ("dark", "storm"),
    "a dark night": ("dark", "night_walk"), "the rain": ("storm",), "the wind": ("storm",),
    "thunder": ("storm",), "the stars": ("night_walk",), "a light in the dark": ("night_walk",),
    "being alone": ("well", "new_friend"), "good friends": ("tree", "lost"), "true friends": ("lost", "tree"),
    "helping": ("little_one", "old_one"), "being kind": ("old_one", "gift"), "giving": ("gift", "market"),
    "lies": ("truth",), "the truth": ("truth",), "patience": ("make",), "winning": ("race",),
    "a wish": ("wish",), "a gift": ("gift",), "baking": ("cake",), "singing": ("music",), "joy": ("music",),
    "travelling": ("far_away",), "the wide world": ("far_away",), "coming home": ("far_away",),
    "the cold": ("snow",), "water": ("river",), "losing something": ("lost", "river"), "being lazy": ("lazy",),
    "hard work": ("lazy", "make"), "a contest": ("contest",), "love": ("gift", "old_one"),
    "being poor": ("market",), "bread": ("market",), "a secret": ("night_walk", "treasure"),
}  # fmt: skip
_OF_THEME = (
    "This is a story about {theme}.", "Here is a story about {theme}.", "This story is about {theme}.",
)  # fmt: skip
_ANY = Ask(
    ("Any stories for me?", "I feel like hearing a story", "Is there a story you can tell me?",
     "Let me hear a story",
     "Time for a story", "Could you tell me a [story|tale]?", "Would you tell a story?",
     "It is bedtime. A story, please",
     "I need a story", "A tale[, please|]", "Tell us a tale", "I want a tale", "Story time",
     "Now a story, please",
     "I am bored, tell me a [story|tale]", "Can I have a story?", "May I hear a story?", "Read me a story",
     "Do you have a [story|tale] to tell?", "Make up a story", "I like it when you tell tales. Tell one",
     "[Tell|Can you tell|Please tell] me a [short|nice|bedtime|little|funny|] story[, please|]",
     "[I want|I would like] [to hear|] a [short|] story", "Do you know a [good|nice|] story?",
     "A story, please",
     "[Hi|Hello], can you tell me a story?", "Write a [short|] story", "I cannot sleep, tell me a story",
     "Story please", "Tell me a [short|little|] tale", "I like tales. Do you know one?",
     "Do you know any stories?", "[Could|Would|Can] you read me a story[, please|]?", "How about a [tale|story]?",
     "Please think of a story", "[Some|Any] [tale|story][, please|]", "I wish you would tell me a story",
     "I want to listen to a story", "Start a story", "What stories do you know? Tell me one",
     "My children want a story", "A bedtime story[, please|]", "Tell me [any|some] story", "Let us have a story"),
    ("I'd love to hear a tale", "Have you got a tale for me?", "Entertain me with a tale"),
)  # fmt: skip


def _where(place: str) -> dict[str, str]:
    at = "on" if place in _ON else "at" if place in _AT else "in"
    return {
        "place": place, "in_place": f"{at} the {place}", "to_place": f"to the {place}",
        "near_place": f"near the {place}", "from_place": f"from the {place}", "of_place": f"of the {place}",
    }  # fmt: skip


def _being(rng: Random, avoid: str = "") -> dict[str, str]:
    """Return name, pronouns and kind of a person or an animal."""
    if rng.random() < 0.5:
        boy = rng.random() < 0.5
        name = rng.choice([name for name in (BOYS if boy else GIRLS) if name != avoid])
        kind = "boy" if boy else "girl"
    else:
        boy = rng.random() < 0.6
        name = rng.choice([name for name in (ANIMAL_BOYS if boy else ANIMAL_GIRLS) if name != avoid])
        kind = rng.choice(STORY_ANIMALS)
    he, him, his = ("he", "him", "his") if boy else ("she", "her", "her")
    return {"name": name, "kind": kind, "he": he, "him": him, "his": his, "himself": f"{him}self"}


def cast(rng: Random) -> dict[str, str]:
    """Return the slots of a story: hero, friend, thing, look and place."""
    hero = _being(rng)
    friend = _being(rng, hero["name"])
    size = rng.choice(("little", "small", "young", "little"))
    slots = {"hero": hero["name"], **{key: hero[key] for key in ("he", "him", "his", "himself", "kind")}}
    slots |= {"friend": friend["name"], "fhe": friend["he"], "fhim": friend["him"], "fhis": friend["his"]}
    slots |= {"thing": rng.choice(THINGS), "look": rng.choice(_LOOKS), "size": size, "fkind": friend["kind"]}
    slots |= _where(rng.choice(PLACES))
    kind_long = expand(rng, "{a size} {kind}", slots)
    slots["kind_long"] = kind_long
    slots["hero_is"] = expand(rng, "[{kind_long} [named|called] {hero}]", slots)
    slots["friend_is"] = expand(
        rng,
        "[{a fkind} [named|called] {friend}|{friend}, {a fkind}|{friend} the {fkind}]"
        if slots["fkind"] not in _CHILD
        else "{a fkind} [named|called] {friend}",
        slots,
    )
    return slots


def reserved(slots: dict[str, str]) -> bool:
    """Tell whether this pair of hero and thing belongs to the held-out split (one in ten)."""
    return crc32(f"{slots['hero']} {slots['thing']}".encode()) % 10 == 0


def cast_for(rng: Random, split: str) -> dict[str, str]:
    """Return a cast whose hero and thing belong to ``split``."""
    while True:
        slots = cast(rng)
        if reserved(slots) == (split != TRAIN):
            return slots


def tell(rng: Random, slots: dict[str, str], plots: tuple[str, ...] = tuple(PLOTS)) -> tuple[str, str]:
    """Return a story with this cast on one of these plots, and the same story in four or five sentences."""
    fitting = [name for name in plots if slots["thing"] not in _UNFIT.get(name, ())]
    name = rng.choice(fitting or plots)
    plot = PLOTS[name]
    sentences = [expand(rng, rng.choice(_OPENINGS), slots)]
    if name not in _MEETS_FRIEND:
        sentences.append(expand(rng, rng.choice(_FRIENDS), slots))
    told = [expand(rng, rng.choice(choices), slots) for choices in plot]
    story = " ".join([*sentences, *told, rng.choice(_ENDS)]).strip()
    short = " ".join([sentences[0], told[0], told[1], told[-1]])
    return story, short


def _request(rng: Random, split: str, slots: dict[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """Return the user's request, what it asks for in the assistant's words, and the plots that fit."""
    animal = slots["kind"] not in _CHILD
    who = slots["hero"]
    if animal and rng.random() < 0.5:
        who = expand(rng, "{kind_long} [named|called] {hero}", slots)
    thing = expand(rng, "[{a thing}|{a look} {thing}]", slots)
    more = {
        "who": who,
        "what": thing,
        "where": slots["in_place"],
        "friend": slots["friend"],
        "his": slots["his"],
    }
    plots = tuple(PLOTS)
    kind = rng.random()
    if split == TRAIN and kind < 0.1:  # themes have many names, so they come up more often
        kind = 0.9
    if kind < 0.42:
        ask, label = _ABOUT_BOTH, f"{who} and {thing}"
    elif kind < 0.58:
        if animal and rng.random() < 0.5:
            more["who"] = who = expand(rng, "[{a kind}|{kind_long}]", slots)
        ask, label = _ABOUT_WHO, who
    elif kind < 0.66:
        ask, label = _ABOUT_WHAT, thing
    elif kind < 0.76:
        ask, label = _ABOUT_PLACE, f"{who} {slots['in_place']}"
    elif kind < 0.84:
        ask, label = _ABOUT_TWO, f"{who} and {slots['friend']}"
        plots = tuple(name for name in plots if name not in _MEETS_FRIEND)
    elif kind < 0.92:
        themes = THEMES | MORE_THEMES if split == TRAIN else THEMES
        theme = more["theme"] = rng.choice(tuple(themes))
        ask, label, plots = _ABOUT_THEME, theme, themes[theme]
    else:
        ask, label = _ANY, ""
    text = ask.pick(rng, split, more)
    if not text.endswith("?"):
        text += (
            "?" if text.startswith(("Can ", "Do you", "Could", "Have you", "May ", "Would ", "Is ")) else "."
        )
    return capital(text), f"a story about {label}" if label else "a story", plots


_AND = (
    "Another one about {who}[, please|].", "One more, but about {who}.",
    "And now one about {who}[, please|].",
    "And one about {who}?", "Nice! Another one about {who}, please.", "Now a story about {who}.",
)  # fmt: skip


def _another_about(rng: Random, split: str) -> Exchange:
    """The user wants another story, with this hero."""
    slots = cast_for(rng, split)
    who = slots["hero"] if slots["kind"] in _CHILD else expand(rng, "{a kind}", slots)
    text, short = tell(rng, slots)
    return Exchange(
        "story", expand(rng, rng.choice(_AND), {"who": who}), text, f"a story about {who}", short=short
    )


def _once(text: str) -> str:
    """Turn the first sentence so that it can follow another one."""
    return re.sub(r"^This is a story about (.*?) and (an? .*?)\.", r"Once there was \1 with \2.", text)


def story(rng: Random, split: str) -> Exchange:
    """Return a story request and its story."""
    slots = cast_for(rng, split)
    question, label, plots = _request(rng, split, slots)
    text, short = tell(rng, slots, plots)
    theme = label.removeprefix("a story about ")
    if split == TRAIN and theme in THEMES | MORE_THEMES:
        text = expand(rng, rng.choice(_OF_THEME), {"theme": theme}) + " " + _once(text)
    plan = rng.choice(
        (
            f"The user wants {label}. I will keep it short.",
            f"The user asks for {label}. It should end well.",
            f"I will tell {label}. There will be a small problem and a good end.",
        )
    )
    opener = rng.choice(("", "", "", "Sure. "))
    return Exchange(
        "story",
        question,
        opener + text,
        label=label,
        short=short,
        plan=plan,
        again=lambda other: [story(other, split)],
        sibling=(lambda other: _another_about(other, split)) if split == TRAIN else None,
    )
