"""Counting, and lists of things of a kind."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, capital, expand, join_list
from kestrel_assets.recipe.dialogues.numbers import WORDS

_COUNT = Ask(
    ("[The|All] numbers from {a} to {b}[, please|].", "{a} to {b}[, please|]: count.", "Count: {a} to {b}.",
     "Give me the numbers from {a} to {b}.", "Begin with {a} and stop at {b}.", "I want to hear {a} to {b}.",
     "List the numbers from {a} to {b}.", "How do I count from {a} to {b}?",
     "Tell me the numbers from {a} to {b}.",
     "Count up from {a} to {b}.", "Which numbers are there from {a} to {b}?", "Let us count from {a} to {b}.",
     "From {a} to {b}, please count.", "What are the numbers from {a} to {b}?",
     "[Count|Please count] from {a} to {b}[, please|].", "Can you count from {a} to {b}?",
     "Count [for me|] from {a} to {b}.", "Write the numbers from {a} to {b}[.|, please.]"),
    ("Say all numbers between {a} and {b}, please.", "Which numbers do I say when I count from {a} to {b}?"),
)  # fmt: skip
_COUNT_TO = Ask(
    (
        "Count for me to {b}.",
        "How do I count to {b}?",
        "Let us count to {b}.",
        "I want you to count to {b}.",
        "The numbers up to {b}[, please|].",
        "Count from one up to {b}.",
        "One, two, three: go on to {b}.",
        "Give me the numbers up to {b}.",
        "Can you say the numbers to {b}?",
        "Count to {b}[, please|].",
        "Can you count to {b}?",
        "Please count [up|] to {b}.",
        "Can you count up to {b}?",
    ),
    ("Start at one and go on until {b}.", "Show me that you can count to {b}."),
)
_COUNT_BACK = Ask(
    (
        "From {a} back to {b}[, please|].",
        "Go backwards from {a} to {b}.",
        "The numbers from {a} down to {b}.",
        "Count the other way, from {a} to {b}.",
        "Give me the numbers from {a} down to {b}.",
        "I want to hear {a} down to {b}.",
        "Let us count down from {a} to {b}.",
        "A countdown from {a} to {b}, please.",
        "How do I count back from {a} to {b}?",
        "Count [back|down|backwards] from {a} to {b}[, please|].",
        "Can you count [back|down|backwards] from {a} to {b}?",
    ),
    ("Start at {a} and count down until {b}, please.",),
)
_COUNT_BY = Ask(
    ("Count up to {b} by {step}s.",
     "By {step}s to {b}, please.", "Steps of {step}, up to {b}.", "Go up to {b} by {step}s.",
     "Let us count by {step}s to {b}.",
     "Count by {step}s to {b}[, please|].", "Can you count [to {b} by {step}s|by {step}s up to {b}]?",
     "Count to {b} in steps of {step}."),
    ("In steps of {step}, please count until {b}.",),
)  # fmt: skip


def counting(rng: Random, split: str) -> Exchange:
    """Return a request to count: up, down, or by twos, fives and tens."""
    kind = rng.random()
    if kind < 0.3:
        a = rng.randint(1, 25)
        b = a + rng.randint(3, 10)
        numbers, ask = range(a, b + 1), _COUNT
        slots, label = {"a": a, "b": b}, f"counting from {a} to {b}"
    elif kind < 0.6:
        b = rng.randint(3, 20)
        numbers, ask = range(1, b + 1), _COUNT_TO
        slots, label = {"b": b}, f"counting to {b}"
    elif kind < 0.8:
        a = rng.randint(4, 20)
        b = rng.randint(max(0, a - 10), a - 3)
        numbers, ask = range(a, b - 1, -1), _COUNT_BACK
        slots, label = {"a": a, "b": b}, f"counting down from {a} to {b}"
    else:
        step = rng.choice((2, 5, 10, 3))
        b = step * rng.randint(4, 10)
        numbers, ask = range(step, b + 1, step), _COUNT_BY
        slots, label = {"step": step, "b": b}, f"counting by {step}s to {b}"
    answer = ", ".join(map(str, numbers)) + "."
    if "step" not in slots and slots["b"] <= 20 and slots.get("a", 0) <= 20 and rng.random() < 0.25:
        slots = {key: WORDS[value] for key, value in slots.items()}
    return Exchange("counting", ask.pick(rng, split, slots), answer, label=label)


LISTS = {
    "fruits": "apples pears bananas cherries oranges grapes plums strawberries lemons peaches melons kiwis",
    "vegetables": "carrots potatoes peas beans onions cabbage tomatoes cucumbers spinach leeks pumpkins",
    "animals": "cats dogs horses cows lions bears foxes rabbits elephants mice wolves monkeys",
    "farm animals": "cows pigs sheep goats hens horses ducks geese",
    "wild animals": "lions tigers bears wolves foxes deer elephants zebras",
    "sea animals": "whales dolphins sharks seals crabs octopuses",
    "birds": "owls eagles ducks swans robins crows parrots kestrels sparrows penguins",
    "insects": "bees ants flies butterflies beetles",
    "colors": "red blue green yellow orange purple pink brown black white",
    "colours": "red blue green yellow orange purple pink brown black white",
    "trees": "oaks pines birches willows maples apple-trees",
    "flowers": "roses tulips daisies sunflowers lilies violets",
    "drinks": "water milk tea coffee juice lemonade cocoa",
    "toys": "balls dolls kites blocks trains puzzles teddy-bears drums",
    "clothes": "shirts trousers socks shoes coats hats dresses gloves scarves",
    "tools": "hammers saws pliers drills screwdrivers",
    "instruments": "pianos guitars drums flutes violins trumpets",
    "sports": "football tennis swimming running basketball hockey skiing",
    "countries": "France Italy Spain Japan China Canada Brazil Egypt India Norway",
    "cities": "London Paris Rome Berlin Tokyo Madrid Cairo Oslo",
    "shapes": "circles squares triangles rectangles hexagons stars",
    "body parts": "arms legs hands feet eyes ears",
    "jobs": "baker doctor teacher farmer cook pilot painter gardener",
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "languages": "English French German Spanish Chinese Arabic Italian",
    "hobbies": "reading painting swimming cooking dancing singing gardening fishing",
    "things in a kitchen": "pots pans spoons forks plates cups bowls",
    "things in a school": "desks books pens chairs blackboards pencils",
    "things that fly": "birds planes bees kites bats balloons",
    "things that are round": "balls wheels coins plates oranges buttons",
    "things that are cold": "ice snow winter ice-cream",
    "things with wheels": "cars bicycles buses trains wagons",
}
_LIST_ASK = Ask(
    ("{n} {kind}[, please|].", "{n} {kind}?", "I want {n} {kind}.", "Which {n} {kind} do you know?",
     "Say {n} {kind}.", "A list of {n} {kind}[, please|].", "Make a list of {n} {kind}.",
     "I am looking for {n} {kind}.",
     "Show me {n} {kind}.", "Give {n} examples of {kind}.", "{kind}: name {n}.", "Please give me {n} {kind}.",
     "We need {n} {kind} for a game.", "Are there {n} {kind} you can name?", "Help me to find {n} {kind}.",
     "What {n} {kind} can you name?",
     "[Name|List|Tell me|Give me] {n} {kind}[, please|].", "Can you [name|list|tell me] {n} {kind}?",
     "What are {n} {kind}?", "Please [name|list] {n} {kind}.", "I need {n} {kind}.",
     "Do you know {n} {kind}?"),
    ("Could you think of {n} {kind}?", "Write down {n} {kind} for me.",
     "Which {n} {kind} come to your mind?"),
)  # fmt: skip


def listing(rng: Random, split: str, kind: str = "") -> Exchange:
    """Return a request for a few things of a kind (a random one by default)."""
    kind = kind or rng.choice(tuple(LISTS))
    members = [word.replace("-", " ") for word in LISTS[kind].split()]
    count = rng.randint(2, min(5, len(members)))
    chosen = rng.sample(members, count)
    names = join_list(chosen)
    number = WORDS[count]
    question = capital(
        _LIST_ASK.pick(rng, split, {"n": number if rng.random() < 0.7 else count, "kind": kind})
    )
    answer = f"{number.capitalize()} {kind}: {names}."  # the asked-for kind first, to hold on to
    return Exchange(
        "lists", question, answer, label=f"{number} {kind}", again=lambda other: [listing(other, split, kind)]
    )


_FIXED = (
    ("the days of the week", "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday"),
    ("the months of the year",
     "January, February, March, April, May, June, July, August, September, October, "
     "November and December"),
    ("the seasons", "spring, summer, autumn and winter"),
    ("the planets", "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune"),
    ("the colours of the rainbow", "red, orange, yellow, green, blue, indigo and violet"),
    ("the continents", "Africa, Antarctica, Asia, Australia, Europe, North America and South America"),
    ("the oceans", "the Pacific, the Atlantic, the Indian, the Southern and the Arctic Ocean"),
    ("the five senses", "seeing, hearing, smelling, tasting and touching"),
    ("the vowels", "A, E, I, O and U"),
    ("the letters of the alphabet", ", ".join("ABCDEFGHIJKLMNOPQRSTUVWXY") + " and Z"),
)  # fmt: skip
_FIXED_ASK = Ask(
    ("{What}?", "{What}, please.", "Tell me all about {what}: what are they?", "I need {what}.",
     "Give me {what}.", "Show me {what}.", "Say {what}.", "I want to hear {what}.",
     "A list of {what}, please.",
     "Which are {what}?", "Please tell me {what}.", "What are {what} called?",
     "[What are|Name|List|Tell me] {what}[, please|].", "What are {what}?",
     "Can you [name|list|tell me] {what}?",
     "Do you know {what}?", "Please [name|list] {what}."),
    ("Could you say {what} for me?", "I forgot {what}. Can you help?"),
)  # fmt: skip


def fixed_list(rng: Random, split: str) -> Exchange:
    """Return a request for a list that is always the same."""
    what, names = rng.choice(_FIXED)
    answer = "{What} are {names}."
    question = _FIXED_ASK.pick(rng, split, {"what": what}).replace(
        "What are " + what + ".", f"What are {what}?"
    )
    return Exchange("lists", question, expand(rng, answer, {"what": what, "names": names}), label=what)
