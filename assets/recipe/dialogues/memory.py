"""What the user tells about themselves, and questions about it later in the chat."""

from dataclasses import dataclass, replace
from random import Random

from kestrel_assets.recipe.dialogues import asks_memory
from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange, expand
from kestrel_assets.recipe.dialogues.names import (
    ANIMAL_NAMES,
    ANIMALS,
    BOYS,
    COLOURS,
    FOODS,
    GIRLS,
    HOBBIES,
    JOBS,
    LIKED,
    PETS,
    TOWNS,
)


@dataclass(frozen=True)
class Detail:
    """One kind of thing to remember: how it is told, how it is asked for, how it is answered."""

    label: str  # "your name", as the assistant says it
    values: tuple[str, ...]
    tell: Ask
    reply: tuple[str, ...]
    ask: Ask
    recall: tuple[str, ...]
    unknown: tuple[str, ...]


_NOT_TOLD = (
    "I do not know {label}. [You have not told me yet.|Would you like to tell me?]",
    "You have not told me {label}[ yet|]. [What is it?|Please tell me.|]",
    "I have not been told {label}[ yet|]. [You can tell me now.|]",
)

DETAILS = {
    "name": Detail(
        "your name",
        (*BOYS, *GIRLS),
        Ask(
            ("My name is {value}.", "I am {value}.", "I'm {value}.", "[Hi|Hello|Hey], I am {value}.",
             "[Hi|Hello], my name is {value}.", "You can call me {value}.", "I am called {value}.",
             "Hello! I'm {value}[, nice to meet you|]."),
            ("People call me {value}.", "{value} is my name.", "[Good day|Hi], {value} here."),
        ),
        ("[Nice to meet you|Hello|Hi|It is nice to meet you|Welcome], {value}! [How can I help "
         "you?|What can I do "
         "for you?|How are you today?|What shall we talk about?|I am Kestrel.|]",
         "[Hello|Hi], {value}! I am Kestrel[, a small language model|]. [How are you?|What would you "
         "like to do?|]",
         "{value} is a [nice|good] name! [I will remember it.|How can I help you, {value}?|What can I "
         "do for you?]"),
        Ask(
            ("What is my name?", "What's my name?", "Do you [know|remember] my name?", "Who am I?",
             "Can you tell me my name?", "Do you still know my name?", "What was my name[ again|]?",
             "Tell me my name."),
            ("How did I say I am called?", "Have you kept my name in mind?", "Which name did I give you?"),
        ),
        ("Your name is {value}.", "You are {value}.", "You told me that your name is {value}.",
         "Yes, your name is {value}.", "[Of course|Sure]! You are {value}."),
        _NOT_TOLD,
    ),
    "pet": Detail(
        "the name of your pet",
        tuple(f"{pet}|{name}" for pet in PETS for name in ANIMAL_NAMES),
        Ask(
            ("I have a {pet} [called|named] {value}.", "My {pet} is called {value}.",
             "My {pet}'s name is {value}.",
             "I have a {pet}. [His|Her|Its] name is {value}.", "We have a {pet} and it is called {value}."),
            ("There is a {pet} named {value} in my house.", "{value} is the name of my {pet}."),
        ),
        ("{value} is a [nice|good|lovely|funny] name for a {pet}! [What does {value} like to do?|How "
         "old is {value}?|]",
         "How nice! [I would like to hear more about {value}.|Is {value} big or small?|What does "
         "{value} like to eat?]",
         "[A {pet}, how lovely!|That is nice!] [Does {value} like to play?|Say hello to {value} from me.]"),
        Ask(
            ("What is my {pet} called?", "What is the name of my {pet}?", "What's my {pet}'s name?",
             "Do you [know|remember] the name of my {pet}?", "Can you tell me my {pet}'s name?"),
            ("How did I say my {pet} is called?", "Which name does my {pet} have?"),
        ),
        ("Your {pet} is called {value}.", "The name of your {pet} is {value}.",
         "It is {value}. [You told me about "
         "your {pet} before.|]", "You told me that your {pet} is called {value}."),
        ("You have not told me about your {pet}[ yet|].",
         "I do not know. [What is your {pet} called?|You have not told "
         "me the name of your {pet}.]", "I have not been told the name of your {pet}."),
    ),
    "colour": Detail(
        "your favourite colour",
        tuple(COLOURS),
        Ask(
            ("My favourite colour is {value}.", "My favorite color is {value}.", "I like {value} best.",
             "I love the colour {value}.", "{Value} is my favourite colo[u|]r."),
            ("The colour I love most is {value}.", "No colour is as nice as {value} to me."),
        ),
        ("{Value} is a [nice|lovely|beautiful|great] colour! [I will remember it.|Do you have clothes "
         "in {value}?|]",
         "[How nice|Good choice]! {Value} is [a lovely colour|beautiful]."),
        Ask(
            ("What is my favourite colour?", "What's my favorite color?", "Which colour do I like[ best|]?",
             "Do you [know|remember] my favourite colo[u|]r?", "What colour do I like best?"),
            ("Which colour did I say I love?", "Can you name the colour that I like most?"),
        ),
        ("Your favourite colour is {value}.", "You like {value} best.", "It is {value}.",
         "You told me that your favourite colour is {value}."),
        _NOT_TOLD,
    ),
    "food": Detail(
        "your favourite food",
        tuple(FOODS),
        Ask(
            ("My favourite food is {value}.", "My favorite food is {value}.", "I love to eat {value}.",
             "I like {value} most of all food.", "The food I like best is {value}."),
            ("Nothing tastes better to me than {value}.", "When I am hungry, I like {value} best."),
        ),
        ("{Value}! That sounds [good|tasty|very good]. [I cannot eat, but I will remember it.|Do you "
         "make it yourself?|]",
         "[How nice|Yum]! [Many people like {value}.|Do you eat {value} often?]"),
        Ask(
            ("What is my favourite food?", "What's my favorite food?", "What do I like to eat?",
             "Do you [know|remember] my favourite food?", "Which food do I like best?"),
            ("What did I say I love to eat?", "Can you name the food that I like most?"),
        ),
        ("Your favourite food is {value}.", "You like {value} best.", "You told me that you love {value}.",
         "It is {value}."),
        _NOT_TOLD,
    ),
    "animal": Detail(
        "your favourite animal",
        tuple(ANIMALS),
        Ask(
            ("My favourite animal is the {value}.", "My favorite animal is the {value}.",
             "The animal I like best is the {value}.", "The {value} is my favourite animal."),
            ("Of all animals I love the {value} most.", "No animal is nicer than the {value}."),
        ),
        ("The {value} is a [wonderful|great|beautiful] animal! [Why do you like it?|I will remember that.|]",
         "[How nice|Good choice]! [What do you like about the {value}?|I can tell you a story about it.]"),
        Ask(
            ("What is my favourite animal?", "What's my favorite animal?", "Which animal do I like best?",
             "Do you [know|remember] my favourite animal?"),
            ("Which animal did I say I love?", "Can you name the animal that I like most?"),
        ),
        ("Your favourite animal is the {value}.", "You like the {value} best.", "It is the {value}.",
         "You told me that you like the {value} best."),
        _NOT_TOLD,
    ),
    "age": Detail(
        "your age",
        tuple(str(age) for age in range(6, 70)),
        Ask(
            ("I am {value} years old.", "I'm {value} years old.", "I am {value}.", "My age is {value}."),
            ("I have lived for {value} years now.", "Last week I turned {value}."),
        ),
        ("[{value} is a good age!|{value} years, how nice!] [What do you like to do?|]",
         "Thank you for telling me. [I am a program, so I have no age.|I will remember that you are "
         "{value}.]"),
        Ask(
            ("How old am I?", "What is my age?", "Do you [know|remember] how old I am?",
             "Can you tell me my age?"),
            ("What age did I say I have?", "How many years have I lived, as I told you?"),
        ),
        ("You are {value} years old.", "You told me that you are {value}.", "You are {value}."),
        ("I do not know how old you are. [You have not told me.|How old are you?]",
         "You have not told me your age[ yet|].", "I have not been told your age."),
    ),
    "town": Detail(
        "where you live",
        tuple(TOWNS),
        Ask(
            ("I live in {value}.", "I am from {value}.", "My home is in {value}.", "I come from {value}.",
             "We live in {value}."),
            ("{Value} is where I live.", "My family and I have a flat in {value}."),
        ),
        ("{Value}! [What do you like about it?|Is it nice there?|Do you like it there?]",
         "[How nice|Thank you for telling me]! [Have you lived in {value} for a long time?|Do you like "
         "to live in "
         "{value}?]"),
        Ask(
            ("Where do I live?", "Do you [know|remember] where I live?", "Where am I from?",
             "Can you tell me where I live?", "Where is my home?"),
            ("In which place did I say I live?", "What did I tell you about my home?"),
        ),
        ("You live in {value}.", "You told me that you live in {value}.", "Your home is in {value}."),
        ("I do not know where you live. [You have not told me.|]",
         "You have not told me where you live[ yet|].",
         "I have not been told where you live. [Where is your home?|]"),
    ),
    "hobby": Detail(
        "your hobby",
        tuple(HOBBIES),
        Ask(
            ("My hobby is {value}.", "My favourite hobby is {value}.", "The hobby I like best is {value}.",
             "I love {value}, it is my hobby."),
            ("In my free time I do a lot of {value}.", "As a hobby I have chosen {value}."),
        ),
        ("{Value} is a [nice|great|good] hobby! [How often do you do it?|What do you like about it?|]",
         "[That sounds like fun|How nice]! [Do you do it often?|How did you start with {value}?]"),
        Ask(
            ("What is my hobby?", "Do you [know|remember] my hobby?",
             "What do I like to do[ in my free time|]?",
             "Which hobby do I have?"),
            ("What did I say I do in my free time?", "Can you name my hobby?"),
        ),
        ("Your hobby is {value}.", "You told me that your hobby is {value}.", "It is {value}."),
        _NOT_TOLD,
    ),
    "likes": Detail(
        "what you like",
        (*LIKED * len(LIKED), *(f"{one} and {other}" for one in LIKED for other in LIKED if one != other)),
        Ask(
            ("I like {value}.", "I love {value}.", "I really like {value}.", "I like {value} a lot.",
             "I like {value} very much."),
            ("I have a liking for {value}.", "I have always loved {value}."),
        ),
        ("[How nice|That sounds good|That is nice]! [I will remember it.|Tell me more about it.|]",
         "{Value}! [How nice.|That sounds good.|I will remember that.]",
         "So you like {value}. [How nice!|That is good to know.|]"),
        Ask(
            ("What do I like?", "Do you [know|remember] what I like?", "Can you tell me what I like?",
             "What was it that I like?", "Tell me what I like."),
            ("Which things did I say I love?", "What are the things I like?"),
        ),
        ("You like {value}.", "You told me that you like {value}.", "You said that you like {value}."),
        ("I do not know what you like. [You have not told me yet.|Would you like to tell me?]",
         "You have not told me what you like[ yet|]."),
    ),
    "friend": Detail(
        "the name of your best friend",
        (*BOYS, *GIRLS),
        Ask(
            ("My best friend is {value}.", "My best friend is called {value}.",
             "My best friend's name is {value}.",
             "I have a best friend called {value}."),
            ("{value} is my very best friend.", "The friend I like most is {value}."),
        ),
        ("[How nice|It is good to have a friend]! [What do you do with {value}?|How did you meet {value}?|]",
         "{value} sounds like a good friend. [What do you do together?|Do you see {value} often?]"),
        Ask(
            ("Who is my best friend?", "What is my best friend called?",
             "What is the name of my best friend?",
             "Do you [know|remember] the name of my best friend?"),
            ("Which friend did I tell you about?", "How did I say my best friend is called?"),
        ),
        ("Your best friend is {value}.", "Your best friend is called {value}.", "It is {value}.",
         "You told me that {value} is your best friend."),
        _NOT_TOLD,
    ),
    "sibling": Detail(
        "the name of your {who}",
        tuple(f"brother|{name}" for name in BOYS) + tuple(f"sister|{name}" for name in GIRLS),
        Ask(
            ("I have a {who} [called|named] {value}.", "My {who} is called {value}.",
             "My {who}'s name is {value}.",
             "My [little|big|] {who} is {value}."),
            ("{value} is the name of my {who}.", "In my family there is also my {who} {value}."),
        ),
        ("[How nice|It is nice to have a {who}]! [Do you play with {value}?|What do you do together?|]",
         "{value} is a nice name. [Is {value} older than you?|What does {value} like to do?]"),
        Ask(
            ("What is my {who} called?", "What is the name of my {who}?", "What's my {who}'s name?",
             "Do you [know|remember] my {who}'s name?"),
            ("How did I say my {who} is called?", "Which name does my {who} have?"),
        ),
        ("Your {who} is called {value}.", "The name of your {who} is {value}.", "It is {value}.",
         "You told me that your {who} is called {value}."),
        ("You have not told me about your {who}[ yet|].",
         "I do not know the name of your {who}. [What is it?|]",
         "I have not been told the name of your {who}."),
    ),
    "job": Detail(
        "your job",
        tuple(JOBS),
        Ask(
            ("I am a {value}.", "I'm a {value}.", "I work as a {value}.", "My job is {value}."),
            ("I earn my money as a {value}.", "By trade I am a {value}."),
        ),
        ("[That is a good job|How interesting]! [Do you like it?|What is the best part of it?|]",
         "So you are a {value}. [What do you like about it?|How nice!]"),
        Ask(
            ("What is my job?", "What do I do for work?", "Do you [know|remember] my job?",
             "What do I work as?"),
            ("Which job did I say I have?", "How do I earn my money?"),
        ),
        ("You are a {value}.", "You told me that you are a {value}.", "You work as a {value}."),
        _NOT_TOLD,
    ),
}  # fmt: skip
DETAILS = {
    key: replace(
        detail,
        tell=detail.tell.widened(asks_memory.TELL[key]),
        ask=detail.ask.widened(asks_memory.asks(key)),
    )
    for key, detail in DETAILS.items()
}
SECOND_FIELD = {"pet": "pet", "sibling": "who"}
_OFTEN = {"likes": 4, "hobby": 2, "name": 2}


def any_key(rng: Random) -> str:
    """Return the key of a detail; those that are told most often come up most."""
    return rng.choices(tuple(DETAILS), [_OFTEN.get(key, 1) for key in DETAILS])[0]


def choose(rng: Random, key: str) -> dict[str, str]:
    """Return the slots of one detail: ``value``, and ``pet`` or ``who`` where there is one."""
    value = rng.choice(DETAILS[key].values)
    slots = {"value": value}
    if key in SECOND_FIELD:
        second, slots["value"] = value.split("|")
        slots[SECOND_FIELD[key]] = second
    slots["label"] = expand(rng, DETAILS[key].label, slots)
    return slots


def tell(rng: Random, split: str, key: str, slots: dict[str, str]) -> Exchange:
    """The user tells a detail and the assistant takes note."""
    detail = DETAILS[key]
    answer = expand(rng, rng.choice(detail.reply), slots)
    return Exchange("memory", detail.tell.pick(rng, split, slots), answer, label=slots["label"])


def _recalled(rng: Random, detail: Detail, question: str, slots: dict[str, str]) -> str:
    """Answer from memory; a yes is an answer only to "do you", "can you" and "have you"."""
    yes_no = question.startswith(("Do ", "Can ", "Have "))
    forms = [form for form in detail.recall if yes_no or not form.startswith(("Yes", "[Of course"))]
    return expand(rng, rng.choice(forms), slots)


def recall(rng: Random, split: str, key: str, slots: dict[str, str]) -> Exchange:
    """The user asks for a detail told before."""
    detail = DETAILS[key]
    question = detail.ask.pick(rng, split, slots)
    plan = f"The user told me before. It is {slots['value']}."
    return Exchange("memory", question, _recalled(rng, detail, question, slots), slots["label"], plan=plan)


def not_told(rng: Random, split: str, key: str, slots: dict[str, str]) -> Exchange:
    """The user asks for a detail that was never told."""
    detail = DETAILS[key]
    answer = expand(rng, rng.choice(detail.unknown), slots)
    plan = f"The user has not told me {slots['label']}."
    return Exchange("memory", detail.ask.pick(rng, split, slots), answer, label=slots["label"], plan=plan)


_AT_ONCE = Ask(
    ("{told} {asked}", "{told} Now tell me: {asked}", "{told} Do you know it now? {asked}"),
    ("Listen. {told} And one question: {asked}",),
).widened(asks_memory.AT_ONCE)


def at_once(rng: Random, split: str, key: str, slots: dict[str, str]) -> Exchange:
    """The user tells a detail and asks for it in the same message."""
    detail = DETAILS[key]
    told, asked = detail.tell.pick(rng, split, slots), detail.ask.pick(rng, split, slots)
    question = _AT_ONCE.pick(rng, split, {"told": told, "asked": asked})
    plan = f"The user just told me. It is {slots['value']}."
    return Exchange("memory", question, _recalled(rng, detail, asked, slots), slots["label"], plan=plan)


_ALL = Ask(
    ("What do you know about me?", "What have I told you[ about me|]?", "Tell me what you know about me."),
    ("Sum up what I said about myself.", "Which things do you remember about me?"),
).widened(asks_memory.ALL)
SENTENCES = {
    "name": "Your name is {value}.", "pet": "You have a {pet} called {value}.",
    "colour": "Your favourite colour is {value}.", "food": "Your favourite food is {value}.",
    "animal": "Your favourite animal is the {value}.", "age": "You are {value} years old.",
    "town": "You live in {value}.", "hobby": "Your hobby is {value}.",
    "friend": "Your best friend is {value}.", "sibling": "You have a {who} called {value}.",
    "job": "You are a {value}.", "likes": "You like {value}.",
}  # fmt: skip


def recall_all(rng: Random, split: str, told: dict[str, dict[str, str]]) -> Exchange:
    """The user asks for everything told so far."""
    answer = " ".join(expand(rng, SENTENCES[key], slots) for key, slots in told.items())
    if not told:
        answer = rng.choice(
            (
                "You have not told me anything about you yet.",
                "Nothing yet. Would you like to tell me something?",
            )
        )
    return Exchange("memory", _ALL.pick(rng, split), answer, label="what I know about you")
