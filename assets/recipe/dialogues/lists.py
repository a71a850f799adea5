"""Counting, and lists of things of a kind."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import TRAIN, Ask, Exchange, capital, expand, join_list
from kestrel_assets.recipe.dialogues.numbers import WORDS

_COUNT = Ask(
    ("[The|All] numbers from {a} to {b}[, please|].", "{a} to {b}[, please|]: count.", "Count: {a} to {b}.",
     "Give me the numbers from {a} to {b}.", "Begin with {a} and stop at {b}.", "I want to hear {a} to {b}.",
     "List the numbers from {a} to {b}.", "How do I count from {a} to {b}?",
     "Tell me the numbers from {a} to {b}.",
     "Count up from {a} to {b}.", "Which numbers are there from {a} to {b}?", "Let us count from {a} to {b}.",
     "From {a} to {b}, please count.", "What are the numbers from {a} to {b}?",
     "[Count|Please count] from {a} to {b}[, please|].", "Can you count from {a} to {b}?",
     "Count [for me|] from {a} to {b}.", "Write the numbers from {a} to {b}[.|, please.]",
     "Which numbers lie between {a} and {b}?", "Between {a} and {b}, what numbers are there? Count them.",
     "I would like all numbers between {a} and {b}, one by one.", "Count between {a} and {b}[, please|].",
     "[Could|Would] you count from {a} to {b}[, please|]?", "Beginning at {a}, count [up to|on until] {b}.",
     "Begin at {a} and count until you reach {b}.", "Go from {a} to {b}, one by one.",
     "Start counting at {a} and stop at {b}[, please|].", "Say {a} and go on until you come to {b}.",
     "Please say the numbers from {a} [up to|to|until] {b}.", "{a} up to {b}[, please|].",
     "I start with {a} and want to get to {b}. Which numbers do I say?", "Can you get from {a} to {b} by counting?",
     "Show me how to count from {a} to {b}.", "My son wants to count from {a} to {b}. How does it go?",
     "I need to count from {a} to {b}.", "Counting from {a} to {b}: how does it go?", "Please count: {a} to {b}.",
     "Let me hear [the|all] numbers between {a} and {b}.", "First {a}, last {b}: what are the numbers?",
     "Name every number from {a} to {b}.", "Count with me from {a} to {b}.", "I want you to count from {a} to {b}."),
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
        "[Could|Would] you count [up|] to {b}[, please|]?",
        "Begin with one and count until {b}.",
        "From one to {b}[, please|].",
        "Say all numbers up to {b}[, please|].",
        "Begin at one and stop when you get to {b}.",
        "I want to hear how you count to {b}.",
        "Go on counting until you reach {b}.",
        "How does one count to {b}?",
        "Which numbers come up to {b}?",
        "My daughter is learning to count to {b}. Show her.",
        "Please say the numbers [until|up to] {b}.",
        "One to {b}[, please|].",
        "You can count to {b}, I think. Do it.",
        "Let me see you count to {b}.",
        "1, 2, 3 and so on until {b}, please.",
        "Write the numbers up to {b}.",
        "Count with me to {b}.",
        "Are you able to count to {b}?",
        "All numbers until {b}[, please|].",
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
        "Begin with {a} and go down to {b}[, please|].",
        "Beginning at {a}, count backwards until you reach {b}.",
        "Go down from {a} and stop at {b}.",
        "{a}, then one less each time, until {b}.",
        "[Could|Would] you count down from {a} to {b}[, please|]?",
        "I start at {a} and go down. Which numbers come until {b}?",
        "Start with {a}, go back and stop at {b}.",
        "Start your countdown at {a} and end it at {b}.",
        "{a} down to {b}[, please|].",
        "Please count down: from {a} to {b}.",
        "Which numbers do I say from {a} back to {b}?",
        "Count in reverse from {a} to {b}[, please|].",
        "Begin at {a} and count back to {b}.",
        "A rocket starts. Count down from {a} to {b}.",
        "Say the numbers backwards from {a} to {b}.",
        "I want you to go down from {a} to {b}.",
        "Take {a} and count down until you are at {b}.",
        "The other way round: from {a} down to {b}.",
        "Write {a} down to {b}.",
    ),
    ("Start at {a} and count down until {b}, please.",),
)
_COUNT_BY = Ask(
    ("Count up to {b} by {step}s.",
     "By {step}s to {b}, please.", "Steps of {step}, up to {b}.", "Go up to {b} by {step}s.",
     "Let us count by {step}s to {b}.",
     "Count by {step}s to {b}[, please|].", "Can you count [to {b} by {step}s|by {step}s up to {b}]?",
     "Count to {b} in steps of {step}.",
     "Count [up|] in steps of {step} [to|until|up to] {b}[, please|].", "Steps of {step} until {b}[, please|].",
     "[Please|] count to {b}, always {step} more.", "Always add {step} until you come to {b}.",
     "Start with {step} and add {step} each time, up to {b}.", "In {step}s, count to {b}.",
     "[Could|Would|Can] you count in steps of {step} to {b}[, please|]?",
     "Say every number up to {b} in steps of {step}.",
     "Counting by {step}s: how do I get to {b}?", "With steps of {step}, go up to {b}.",
     "Jump by {step} each time until you reach {b}.", "I want to count by {step}s. Go up to {b}.",
     "Which numbers come up to {b} in steps of {step}?", "By steps of {step}, count up to {b}[, please|].",
     "{step} at a time, up to {b}[, please|].", "Each step is {step}. Count to {b}.",
     "The numbers in steps of {step} up to {b}[, please|].", "Write the {step} times table up to {b}.",
     "Show me the steps of {step} up to {b}.", "In jumps of {step}, how do I count to {b}?"),
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
    elif split == TRAIN and "step" in slots and rng.random() < 0.35:
        slots["step"] = WORDS[slots["step"]]
    return Exchange("counting", capital(ask.pick(rng, split, slots)), answer, label=label)


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
     "Do you know {n} {kind}?",
     "[Could|Would|Can] you [name|list|give me|tell me] {n} {kind}[, please|]?", "Let me hear {n} {kind}.",
     "Find {n} {kind}[ for me|].", "Think of {n} {kind}.", "I have to write down {n} {kind}. Help me.",
     "What could be {n} {kind}?", "For school I need {n} {kind}.", "Let us collect {n} {kind}.",
     "Any {n} {kind}[, please|].", "Tell me the names of {n} {kind}.", "I would like [to have|] {n} {kind}.",
     "You know {kind}, don't you? Name {n}.", "Choose {n} {kind}.", "Pick {n} {kind}[ for me|].",
     "If I ask for {n} {kind}, what do you say?", "Quick, {n} {kind}!", "Can you come up with {n} {kind}?",
     "{n} names of {kind}[, please|].", "I am thinking of {n} {kind}. Which could they be?",
     "What do you say for {n} {kind}?", "Some {kind}, please: {n} of them.", "Enumerate {n} {kind}."),
    ("Could you think of {n} {kind}?", "Write down {n} {kind} for me.",
     "Which {n} {kind} come to your mind?"),
)  # fmt: skip


def listing(rng: Random, split: str, kind: str = "") -> Exchange:
    """Return a request for a few things of a kind (a random one by default)."""
    kind = kind or rng.choice(tuple(LISTS))
    members = [word.replace("-", " ") for word in LISTS[kind].split()]
    count = rng.randint(2, min(5, len(members)))
    first = rng.randrange(
        len(members)
    )  # neighbours in the list: easier to learn than any, and none comes twice
    names = join_list([members[(first + i) % len(members)] for i in range(count)])
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
     "Do you know {what}?", "Please [name|list] {what}.",
     "[Could|Would] you [name|list|tell me] {what}[, please|]?", "Let me hear {what}.", "Let me know {what}.",
     "I would like to [hear|know] {what}.", "I am learning {what}. What are they?", "Teach me {what}.",
     "How do we call {what}?", "Write down {what}.", "Recite {what}[, please|].", "All of {what}[, please|].",
     "My child wants to learn {what}.", "For school I need {what}.", "I cannot remember {what}.",
     "Which ones are {what}?", "Count up {what}[ for me|].", "Help me with {what}: what are they?"),
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
