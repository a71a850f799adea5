"""Small sums, word problems, number facts and units."""

import re
from random import Random

from kestrel_assets.recipe.dialogues import asks_sums
from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, article, capital, expand

WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip

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
        "[Please|] work out {sum}.",
        "Tell me {sum}[, please|].",
        "{Sum} is how much?",
        "{Sum} makes what?",
        "How much do I get for {sum}?",
        "My homework says {sum}. What is it?",
        "What is the answer to {sum}?",
        "Give me the answer: {sum}.",
        "{Sum}, what is that?",
        "I cannot work out {sum}.",
        "A sum for you: {sum}.",
        "Solve {sum}[, please|].",
        "{Sum} =",
        "Do you know how much {sum} is?",
        "What will I get if I work out {sum}?",
    ),
    (
        "I need to know {sum}.",
        "What does {sum} make?",
        "Please do this sum for me: {sum}.",
        "What is the result of {sum}?",
    ),
).widened(asks_sums.SUM)
# One form, so that every sum is one thing to learn: the operands again, then at once the result.
_SUM_ANSWER = "{sum} = {result}."


_PARTS = tuple((whole, part) for whole in range(21) for part in range(whole + 1))


def _number(rng: Random, value: int, words: bool) -> str:
    return WORDS[value] if words and value <= 20 else str(value)


def _sum(rng: Random) -> tuple[int, str, int, str, int]:
    """Return first, sign, second, spoken sign and result of a sum in the small range."""
    kind = rng.random()
    if kind < 0.66:
        result, first = rng.choice(_PARTS)
        if kind < 0.33:
            return first, "+", result - first, "plus", result
        return result, "-", first, "minus", result - first
    first, second = rng.randint(1, 10), rng.randint(1, 10)
    if kind < 0.85:
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
    question = capital(_SUM_FORMS.pick(rng, split, {"sum": text}))
    slots = {"sum": f"{first} {sign} {second}", "result": result}
    answer = expand(rng, _SUM_ANSWER, slots)
    return Exchange(
        "arithmetic", question, answer, label=f"{first} {spoken} {second}",
        plan=f"The user wants {first} {sign} {second}. That is {result}.",
    )  # fmt: skip


_THINGS = (
    "apples", "pears", "books", "balls", "eggs", "cookies", "flowers", "stones", "pens", "marbles", "cakes",
    "toys", "stars", "shells", "carrots", "nuts", "cards", "coins", "oranges", "buttons", "sweets", "stamps",
)  # fmt: skip
_PEOPLE = (
    ("Tom", "he"), ("Anna", "she"), ("Ben", "he"), ("Lily", "she"), ("Max", "he"), ("Mia", "she"), ("Sam",
     "he"),
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
).widened(asks_sums.MORE)
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
).widened(asks_sums.LESS)
_GROUPS = Ask(
    (
        "There are {a} boxes with {b} {things} in each. How many {things} are there?",
        "{name} has {a} bags with {b} {things} in each bag. How many {things} does {he} have?",
        "{a} children have {b} {things} each. How many {things} do they have together?",
    ),
    ("In each of {a} baskets are {b} {things}. How many {things} are in all the baskets?",),
).widened(asks_sums.GROUPS)


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
        "{a} {sign} {b} = {result}. [That is|So it is] {result} {thing}.",
        {"a": a, "b": b, "sign": sign, "result": result, "thing": thing},
    )  # fmt: skip
    plan = f"This is {a} {sign} {b}. That is {result}."
    return Exchange("arithmetic", question, answer, label=f"the {things}", plan=plan)


_COMPARE = Ask(
    ("Which is [bigger|more|larger], {a} or {b}?", "What is more, {a} or {b}?", "Is {a} bigger than {b}?",
     "Which number is bigger: {a} or {b}?"),
    ("{a} and {b}: which one is the bigger number?", "Of {a} and {b}, which is larger?"),
).widened(asks_sums.COMPARE)  # fmt: skip
_NEXT = Ask(
    (
        "{a}, and then? Which number comes next?",
        "Which number follows {a}?",
        "What is one more than {a}?",
        "The number after {a}?",
        "What [number|] comes after {a}?",
        "Which number comes after {a}?",
        "What is the next number after {a}?",
    ),
    ("I counted to {a}. What is next?",),
).widened(asks_sums.NEXT)
_BEFORE = Ask(
    (
        "The number before {a}?",
        "Which number is right before {a}?",
        "Tell me the number before {a}.",
        "What [number|] comes before {a}?",
        "Which number comes before {a}?",
        "What number is just before {a}?",
    ),
    ("What is one less than {a}?",),
).widened(asks_sums.BEFORE)
_EVEN = Ask(
    (
        "Is {a} odd?",
        "Even or odd: {a}?",
        "What is {a}, odd or even?",
        "Is {a} even or odd?",
        "Is {a} an odd or an even number?",
        "Is the number {a} even?",
    ),
    ("Tell me if {a} is even or odd.", "{a}: odd or even?"),
).widened(asks_sums.EVEN)
_DOUBLE = Ask(
    ("What is double {a}?", "What is two times {a}?", "What is twice {a}?", "Double {a}[, please|]."),
    ("If I double {a}, what do I get?",),
).widened(asks_sums.DOUBLE)
_HALF = Ask(
    ("What is half of {a}?", "How much is half of {a}?", "Half of {a}?"),
    ("If I cut {a} in half, what do I get?",),
).widened(asks_sums.HALF)


def number_fact(rng: Random, split: str) -> Exchange:
    """Return a question about one or two numbers: order, even and odd, double and half."""
    kind = rng.choice(("compare", "next", "before", "even", "double", "half"))
    a = rng.randint(1, 30)
    if kind == "compare":
        b = rng.choice([n for n in range(1, 31) if n != a])
        question = _COMPARE.pick(rng, split, {"a": a, "b": b})
        big, small = max(a, b), min(a, b)
        answer = f"{big} is bigger than {small}."
        if question.startswith("Is "):
            answer = ("Yes, " if a > b else "No, ") + answer
        return Exchange("arithmetic", question, answer, label=f"the numbers {a} and {b}")
    if kind in ("next", "before"):
        result = a + 1 if kind == "next" else a - 1
        ask, word = (_NEXT, "after") if kind == "next" else (_BEFORE, "before")
        answer = f"The number {word} {a} is {result}."
    elif kind == "even":
        ask, word = _EVEN, "even" if a % 2 == 0 else "odd"
        answer = f"{a} is {article(word)} {word} number."
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
_CONVERSIONS = tuple(
    (big, small, factor, count) for big, small, factor, most in _UNITS for count in range(1, most + 1)
)
_CONVERT = Ask(
    ("{Amount} in {small}s?", "{Amount} in {small}s[, please|].", "How much is {amount} in {small}s?",
     "{Amount}: how many {small}s is that?", "Change {amount} to {small}s.", "Give me {amount} in {small}s.",
     "What do I get if I change {amount} to {small}s?", "If I have {amount}, how many {small}s is it?",
     "How many {small}s do I have if I have {amount}?", "{Amount} makes how many {small}s?",
     "I need {amount} in {small}s.", "Tell me {amount} in {small}s.",
     "How many {small}s are there in {amount}?",
     "How many {small}s are [in|] {amount}?", "How many {small}s is {amount}?",
     "What is {amount} in {small}s?",
     "{Amount} [is|are] how many {small}s?", "Convert {amount} to {small}s[, please|].",
     "Can you tell me how many {small}s [are in|make] {amount}?"),
    ("Turn {amount} into {small}s, please.", "I have {amount}. How much is that in {small}s?"),
).widened(asks_sums.CONVERT)  # fmt: skip
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
    big, small, factor, count = rng.choice(_CONVERSIONS)
    if rng.random() < 0.15:  # American spelling, in question and answer alike
        big, small = (re.sub(r"(met|lit)re$", r"\1er", unit) for unit in (big, small))
    one, other = _amount(count, big), _amount(count * factor, small)
    if rng.random() < 0.4:
        question = _CONVERT.pick(rng, split, {"amount": other, "small": big})
        one, other = other, one
    else:
        asked = rng.choice((f"{article(big)} {big}", f"one {big}", one)) if count == 1 else one
        if rng.random() < 0.25:
            asked = asked.replace(str(count), WORDS[count])
        question = _CONVERT.pick(rng, split, {"amount": asked, "small": small})
    return Exchange("conversion", question, f"{one} = {other}.", label=one)
