"""Small sums, word problems, units, counting and lists."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, article, expand, join_list

WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]

_SUM_FORMS = Ask(
    (
        "What is {sum}?",
        "What's {sum}?",
        "How much is {sum}?",
        "Can you [work out|calculate|tell me] {sum}?",
        "{Sum} = ?",
        "{Sum}?",
        "Calculate {sum}[, please|].",
        "Tell me, what is {sum}?",
        "[Hi|Hello], what is {sum}?",
        "Do you know what {sum} is?",
        "What do you get for {sum}?",
    ),
    (
        "I need to know {sum}.",
        "What does {sum} make?",
        "Please do this sum for me: {sum}.",
        "What is the result of {sum}?",
    ),
)
_SUM_ANSWERS = (
    "{said} is {result}.",
    "{sum} = {result}.",
    "That is {result}. {sum} = {result}.",
    "The answer is {result}.",
    "It is {result}, because {sum} = {result}.",
)


def _number(rng: Random, value: int, words: bool) -> str:
    return WORDS[value] if words and value <= 20 else str(value)


def _sum(rng: Random) -> tuple[int, str, int, str, int]:
    """Return first, sign, second, spoken sign and result of a sum in the small range."""
    kind = rng.random()
    if kind < 0.4:
        result = rng.randint(0, 20)
        first = rng.randint(0, result)
        return first, "+", result - first, "plus", result
    if kind < 0.65:
        first = rng.randint(1, 20)
        second = rng.randint(0, first)
        return first, "-", second, "minus", first - second
    first, second = rng.randint(1, 10), rng.randint(1, 10)
    if kind < 0.9:
        return first, "x", second, "times", first * second
    return first * second, "/", second, "divided by", first


def arithmetic(rng: Random, split: str) -> Exchange:
    """Return a sum: addition and subtraction to 20, times tables to 10 and their divisions."""
    first, sign, second, spoken, result = _sum(rng)
    style = rng.random()
    words = style > 0.75
    sign_text = sign if style < 0.4 else spoken
    if sign == "x" and style < 0.4:
        sign_text = rng.choice("x*")
    text = f"{_number(rng, first, words)} {sign_text} {_number(rng, second, words)}"
    question = _SUM_FORMS.pick(rng, split, {"sum": text})
    slots = {"sum": f"{first} {sign} {second}", "said": f"{first} {spoken} {second}", "result": result}
    answer = expand(rng, rng.choice(_SUM_ANSWERS), slots)
    return Exchange(
        "arithmetic", question, answer, label=f"{first} {spoken} {second}",
        plan=f"The user wants {first} {sign} {second}. That is {result}.",
        short=f"{result}.",
    )  # fmt: skip


_THINGS = (
    "apples", "pears", "books", "balls", "eggs", "cookies", "flowers", "stones", "pens", "marbles", "cakes",
    "toys", "stars", "shells", "carrots", "nuts", "cards", "coins", "oranges", "buttons", "sweets", "stamps",
)  # fmt: skip
_PEOPLE = (
    ("Tom", "he"), ("Anna", "she"), ("Ben", "he"), ("Lily", "she"), ("Max", "he"), ("Mia", "she"), ("Sam", "he"),
    ("Emma", "she"), ("Leo", "he"), ("Lucy", "she"), ("Jack", "he"), ("Sara", "she"), ("Paul", "he"),
    ("Nina", "she"), ("Tim", "he"), ("Rosa", "she"), ("Jim", "he"), ("Kate", "she"),
)  # fmt: skip
_MORE = Ask(
    (
        "{name} has {a} {things} and gets {b} more. How many {things} does {he} have[ now|]?",
        "{name} has {a} {things}. {He} [finds|buys|gets] {b} more. How many does {he} have[ now|]?",
        "There are {a} {things} on the table. {name} brings {b} more. How many {things} are there[ now|]?",
        "I have {a} {things} and you give me {b} more. How many {things} do I have?",
    ),
    (
        "{name} picks {a} {things} and later {b} more. How many {things} is that?",
        "If {name} has {a} {things} and I add {b}, how many {things} are there?",
    ),
)
_LESS = Ask(
    (
        "{name} has {a} {things} and gives away {b}. How many {things} does {he} have left?",
        "{name} has {a} {things}. {He} loses {b}. How many are left?",
        "There are {a} {things} on the table. {name} takes {b}. How many {things} are left?",
        "I have {a} {things} and give {b} to {name}. How many do I have left?",
    ),
    (
        "From {a} {things}, {name} takes away {b}. How many stay?",
        "{name} had {a} {things}, but {b} are gone. How many {things} remain?",
    ),
)
_GROUPS = Ask(
    (
        "There are {a} boxes with {b} {things} in each. How many {things} are there?",
        "{name} has {a} bags with {b} {things} in each bag. How many {things} does {he} have?",
        "{a} children have {b} {things} each. How many {things} do they have together?",
    ),
    ("In each of {a} baskets are {b} {things}. How many {things} are in all the baskets?",),
)


def word_problem(rng: Random, split: str) -> Exchange:
    """Return a small word problem with its sum written out in the answer."""
    name, he = rng.choice(_PEOPLE)
    things = rng.choice(_THINGS)
    kind = rng.random()
    if kind < 0.45:
        a, b = rng.randint(2, 10), rng.randint(2, 10)
        forms, sign, result = _MORE, "+", a + b
    elif kind < 0.85:
        a = rng.randint(4, 20)
        b = rng.randint(2, a - 1)
        forms, sign, result = _LESS, "-", a - b
    else:
        a, b = rng.randint(2, 5), rng.randint(2, 5)
        forms, sign, result = _GROUPS, "x", a * b
    thing = things if result != 1 else things[:-1]
    question = forms.pick(rng, split, {"name": name, "he": he, "a": a, "b": b, "things": things})
    answer = expand(
        rng,
        rng.choice(("{a} {sign} {b} = {result}. So the answer is {result} {thing}.", "That is {result} {thing}, "
                    "because {a} {sign} {b} = {result}.", "{a} {sign} {b} = {result}, so [it is|that makes] "
                    "{result} {thing}.")),
        {"a": a, "b": b, "sign": sign, "result": result, "thing": thing},
    )  # fmt: skip
    plan = f"This is {a} {sign} {b}. That is {result}."
    return Exchange("arithmetic", question, answer, label=f"the {things}", plan=plan)


_COMPARE = Ask(
    ("Which is [bigger|more|larger], {a} or {b}?", "What is more, {a} or {b}?", "Is {a} bigger than {b}?",
     "Which number is bigger: {a} or {b}?"),
    ("{a} and {b}: which one is the bigger number?", "Of {a} and {b}, which is larger?"),
)  # fmt: skip
_NEXT = Ask(
    (
        "What [number|] comes after {a}?",
        "Which number comes after {a}?",
        "What is the next number after {a}?",
    ),
    ("I counted to {a}. What is next?",),
)
_BEFORE = Ask(
    ("What [number|] comes before {a}?", "Which number comes before {a}?", "What number is just before {a}?"),
    ("What is one less than {a}?",),
)
_EVEN = Ask(
    ("Is {a} even or odd?", "Is {a} an odd or an even number?", "Is the number {a} even?"),
    ("Tell me if {a} is even or odd.", "{a}: odd or even?"),
)
_DOUBLE = Ask(
    ("What is double {a}?", "What is two times {a}?", "What is twice {a}?", "Double {a}[, please|]."),
    ("If I double {a}, what do I get?",),
)
_HALF = Ask(
    ("What is half of {a}?", "How much is half of {a}?", "Half of {a}?"),
    ("If I cut {a} in half, what do I get?",),
)


def number_fact(rng: Random, split: str) -> Exchange:
    """Return a question about one or two numbers: order, even and odd, double and half."""
    kind = rng.choice(("compare", "next", "before", "even", "double", "half"))
    a = rng.randint(1, 50)
    if kind == "compare":
        b = rng.choice([n for n in range(1, 51) if n != a])
        question = _COMPARE.pick(rng, split, {"a": a, "b": b})
        big, small = max(a, b), min(a, b)
        answer = f"{big} is bigger than {small}."
        if question.startswith("Is "):
            answer = ("Yes, " if a > b else "No, ") + answer
        return Exchange("arithmetic", question, answer, label=f"the numbers {a} and {b}")
    if kind in ("next", "before"):
        result = a + 1 if kind == "next" else a - 1
        ask, word = (_NEXT, "after") if kind == "next" else (_BEFORE, "before")
        answer = rng.choice((f"{result} comes {word} {a}.", f"The number {word} {a} is {result}."))
    elif kind == "even":
        ask, word = _EVEN, "even" if a % 2 == 0 else "odd"
        answer = rng.choice((f"{a} is {article(word)} {word} number.", f"{a} is {word}."))
    elif kind == "double":
        a = rng.randint(1, 20)
        ask, answer = _DOUBLE, f"Double {a} is {2 * a}."
    else:
        a = rng.randint(1, 20) * 2
        ask, answer = _HALF, f"Half of {a} is {a // 2}."
    return Exchange("arithmetic", ask.pick(rng, split, {"a": a}), answer, label=f"the number {a}")


_UNITS = (  # big unit, small unit, factor, largest amount of the big unit
    ("metre", "centimetre", 100, 10), ("kilometre", "metre", 1000, 10), ("kilogram", "gram", 1000, 10),
    ("hour", "minute", 60, 5), ("minute", "second", 60, 5), ("day", "hour", 24, 3), ("week", "day", 7, 10),
    ("year", "month", 12, 5), ("centimetre", "millimetre", 10, 10), ("litre", "millilitre", 1000, 5),
)  # fmt: skip
_CONVERT = Ask(
    ("How many {small}s are [in|] {amount}?", "How many {small}s is {amount}?", "What is {amount} in {small}s?",
     "{Amount} [is|are] how many {small}s?", "Convert {amount} to {small}s[, please|].",
     "Can you tell me how many {small}s [are in|make] {amount}?"),
    ("Turn {amount} into {small}s, please.", "I have {amount}. How much is that in {small}s?"),
)  # fmt: skip
_DOZEN = Ask(
    ("How many is {amount}?", "How many things are in {amount}?", "How many {things} are in {amount}?",
     "What does {amount} mean?"),
    ("If I buy {amount} of {things}, how many do I have?",),
)  # fmt: skip


def _amount(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def conversion(rng: Random, split: str) -> Exchange:
    """Return a unit conversion, from the big unit to the small one or back, or a dozen."""
    if rng.random() < 0.06:
        amount, count = rng.choice((("a dozen", 12), ("two dozen", 24), ("half a dozen", 6)))
        question = _DOZEN.pick(
            rng, split, {"amount": amount, "things": rng.choice(("eggs", "apples", "pens"))}
        )
        return Exchange("conversion", question, f"{amount.capitalize()} is {count}.", label=amount)
    big, small, factor, most = rng.choice(_UNITS)
    count = rng.randint(1, most)
    one, other = _amount(count, big), _amount(count * factor, small)
    if rng.random() < 0.3:
        question = _CONVERT.pick(rng, split, {"amount": other, "small": big})
        one, other = other, one
        verb, label = "is" if count == 1 else "are", one
    else:
        asked = rng.choice((f"{article(big)} {big}", f"one {big}", one)) if count == 1 else one
        question = _CONVERT.pick(rng, split, {"amount": asked, "small": small})
        verb, label = "is" if count == 1 else "are", one
    answer = rng.choice((f"{one} {verb} {other}.", f"{one} = {other}.", f"That is {other}."))
    return Exchange("conversion", question, answer, label=label)


_COUNT = Ask(
    ("[Count|Please count] from {a} to {b}[, please|].", "Can you count from {a} to {b}?",
     "Count [for me|] from {a} to {b}.", "Write the numbers from {a} to {b}[.|, please.]"),
    ("Say all numbers between {a} and {b}, please.", "Which numbers do I say when I count from {a} to {b}?"),
)  # fmt: skip
_COUNT_TO = Ask(
    (
        "Count to {b}[, please|].",
        "Can you count to {b}?",
        "Please count [up|] to {b}.",
        "Can you count up to {b}?",
    ),
    ("Start at one and go on until {b}.", "Show me that you can count to {b}."),
)
_COUNT_BACK = Ask(
    (
        "Count [back|down|backwards] from {a} to {b}[, please|].",
        "Can you count [back|down|backwards] from {a} to {b}?",
    ),
    ("Start at {a} and count down until {b}, please.",),
)
_COUNT_BY = Ask(
    ("Count by {step}s to {b}[, please|].", "Can you count [to {b} by {step}s|by {step}s up to {b}]?",
     "Count to {b} in steps of {step}."),
    ("In steps of {step}, please count until {b}.",),
)  # fmt: skip


def counting(rng: Random, split: str) -> Exchange:
    """Return a request to count: up, down, or by twos, fives and tens."""
    kind = rng.random()
    if kind < 0.3:
        a = rng.randint(1, 30)
        b = a + rng.randint(3, 12)
        numbers, ask = range(a, b + 1), _COUNT
        slots, label = {"a": a, "b": b}, f"counting from {a} to {b}"
    elif kind < 0.6:
        b = rng.randint(3, 25)
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
    answer = rng.choice(("", "", "Sure: ", "Here you are: ")) + ", ".join(map(str, numbers)) + "."
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
    ("[Name|List|Tell me|Give me] {n} {kind}[, please|].", "Can you [name|list|tell me] {n} {kind}?",
     "What are {n} {kind}?", "Please [name|list] {n} {kind}.", "I need {n} {kind}.",
     "Do you know {n} {kind}?"),
    ("Could you think of {n} {kind}?", "Write down {n} {kind} for me.", "Which {n} {kind} come to your mind?"),
)  # fmt: skip


def listing(rng: Random, split: str, kind: str = "") -> Exchange:
    """Return a request for a few things of a kind (a random one by default)."""
    kind = kind or rng.choice(tuple(LISTS))
    members = [word.replace("-", " ") for word in LISTS[kind].split()]
    count = rng.randint(2, min(5, len(members)))
    chosen = rng.sample(members, count)
    names = join_list(chosen)
    number = WORDS[count]
    question = _LIST_ASK.pick(rng, split, {"n": number if rng.random() < 0.7 else count, "kind": kind})
    answer = rng.choice(
        (
            f"{names[:1].upper()}{names[1:]}.",
            f"{number.capitalize()} {kind} are {names}.",
            f"Here are {number} {kind}: {names}.",
            "\n".join(f"{place}. {name[:1].upper()}{name[1:]}" for place, name in enumerate(chosen, 1)),
        )
    )
    return Exchange(
        "lists", question, answer, label=f"{number} {kind}", again=lambda other: [listing(other, split, kind)]
    )


_FIXED = (
    ("the days of the week", "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday"),
    ("the months of the year", "January, February, March, April, May, June, July, August, September, October, "
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
    ("[What are|Name|List|Tell me] {what}[, please|].", "What are {what}?", "Can you [name|list|tell me] {what}?",
     "Do you know {what}?", "Please [name|list] {what}."),
    ("Could you say {what} for me?", "I forgot {what}. Can you help?"),
)  # fmt: skip


def fixed_list(rng: Random, split: str) -> Exchange:
    """Return a request for a list that is always the same."""
    what, names = rng.choice(_FIXED)
    answer = rng.choice(("{What} are {names}.", "{Names}.", "They are {names}."))
    question = _FIXED_ASK.pick(rng, split, {"what": what}).replace(
        "What are " + what + ".", f"What are {what}?"
    )
    return Exchange("lists", question, expand(rng, answer, {"what": what, "names": names}), label=what)
