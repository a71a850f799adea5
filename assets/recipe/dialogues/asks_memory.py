"""More training phrasings for what the user tells and asks for again.

``TELL`` and ``ASK`` hold those of one kind of detail. ``NAMED`` asks for a detail by the noun that the user
gives it in ``NOUNS``, if it has one; all of these are asked after the detail was told as well as when it was not.
"""

TELL = {
    "name": (
        "I am known as {value}.", "At home they call me {value}.", "The name is {value}.",
        "[Everybody|My mother] calls me {value}.",
        "My first name is {value}.", "I go by {value}.", "I want you to know my name. It is {value}.",
        "I should say that I am {value}.", "[Hey|Well], it is {value}[ here|].",
        "This is {value}[ speaking|].", "You are talking to {value}.", "My parents named me {value}.",
        "Let me introduce myself. I am {value}.",
    ),
    "pet": (
        "I [own|have got] a {pet}, and {value} is what I call it.", "At home I have a {pet}, {value}.",
        "I [love|like] my {pet} {value}.", "My {pet} {value} is [cute|funny|wild].",
        "I live with a {pet} called {value}.", "We named our {pet} {value}.",
        "I call my {pet} {value}.", "Our {pet} is {value}.", "I got a {pet} and named it {value}.",
    ),
    "colour": (
        "I think {value} is the [best|nicest] colour.", "Of all colours I like {value} most.",
        "{Value} is the colour for me.", "I wear {value} every day, I love it.", "I am fond of {value}.",
        "My best-loved colour is {value}.", "I prefer {value} to all other colours.",
    ),
    "food": (
        "I [really|] like {value} to eat.", "I could eat {value} every day.",
        "{Value} [is|are] what I like to eat best.", "I enjoy eating {value}.",
        "For me, {value} is the best food.", "I eat {value} whenever I can.", "My best meal is {value}.",
    ),
    "animal": (
        "I like the {value} more than all other animals.", "I think the {value} is the best animal.",
        "I am fond of the {value}.", "My best-loved animal is the {value}.",
        "For me, the {value} is the nicest animal.", "I love the {value}.",
    ),
    "age": (
        "I have just turned {value}.", "I was born {value} years ago.", "I am now {value} years old.",
        "My next birthday comes after {value}.", "I became {value} this year.",
        "I am already {value} years old.",
    ),
    "town": (
        "My home town is {value}.", "I have a house in {value}.", "I moved to {value}.",
        "My flat is in {value}.", "I am at home in {value}.", "I have lived in {value} for years.",
        "The place where I live is {value}.",
    ),
    "hobby": (
        "I spend my free time with {value}.", "I am fond of {value}.", "I enjoy {value}.",
        "What I like to do is {value}.", "{Value} is my hobby.", "{Value} is what I do for fun.",
        "I have a hobby, {value}.",
    ),
    "likes": (
        "I like {value} most of all.", "I am fond of {value}.", "I enjoy {value}.", "{Value} make me happy.",
        "I [also|just] like {value}.", "I am somebody who likes {value}.", "You should know that I like {value}.",
        "I am happy with {value}.", "[Oh|Well|Hm], I like {value}.", "I think I like {value} best.",
        "There is nothing better than {value}.", "Give me {value} and I am happy.", "I am a friend of {value}.",
        "My two loves are {value}.", "I am glad when there is {value}.",
    ),
    "friend": (
        "{value} and I are best friends.", "I have known my best friend {value} for years.",
        "My closest friend is {value}.", "My best friend goes by {value}.",
        "Of all my friends I like {value} best.", "I play with my best friend {value}.",
    ),
    "sibling": (
        "I live with my {who} {value}.", "My {who} goes by {value}.", "I call my {who} {value}.",
        "I have got a {who}, {value}.", "My {who} {value} is [nice|funny|kind].",
        "There is also my {who}, {value}.",
    ),
    "job": (
        "I have a job as a {value}.", "I found work as a {value}.", "I am a {value} by profession.",
        "My work is that of a {value}.", "I make my living as a {value}.", "They pay me to be a {value}.",
    ),
}  # fmt: skip
ASK = {
    "name": (
        "How am I called?", "What do people call me?", "What am I called?",
        "By what name do you know me?", "Under which name do I go?", "What do you call me?",
        "I told you what to call me. What was it?", "How should you call me?", "And who am I?",
        "Have you any idea who I am?", "Do you know who I am?", "Do you know what I am called?",
        "Say who I am.", "With whom are you chatting?", "Who is talking to you?", "Who is writing to you?",
        "Can you say who I am?", "Did I tell you my name?", "Have I told you who I am?",
        "How did I introduce myself?", "I said how people call me. How is it?",
        "Can you call me by my name?",
    ),
    "pet": (
        "How is my {pet} called?", "What do I call my {pet}?", "By what name does my {pet} go?",
        "I told you about my {pet}. What is the name?", "Did I tell you my {pet}'s name?",
        "How do I call my {pet}?", "Say the name of my {pet}.", "What did I name my {pet}?",
    ),
    "colour": (
        "Which colo[u|]r is my favourite?", "What colo[u|]r do I love?", "Of all colours, which do I like?",
        "I told you about a colour that I like. What was it?", "Did I tell you my favourite colour?",
        "Do you know which colour I like?", "Say which colour I like.",
    ),
    "food": (
        "What food do I like[ best|]?", "Which meal do I love?", "What would I like to eat?",
        "I told you what I like to eat. What was it?", "Did I tell you my favourite food?",
        "Do you know what I like to eat?", "Of all food, what do I like best?",
    ),
    "animal": (
        "Which animal is my favourite?", "What animal do I love[ most|]?", "Of all animals, which do I like?",
        "I told you about an animal that I like. Which one?", "Did I tell you my favourite animal?",
        "Do you know which animal I like?",
    ),
    "age": (
        "How many years old am I?", "What age am I?", "I told you how old I am. How old is that?",
        "Did I tell you my age?", "Say how old I am.", "Can you say how old I am?", "My age is what?",
    ),
    "town": (
        "In which [town|city|place] do I live?", "In which place is my home?", "From where do I come?",
        "I told you where I live. Where was that?", "Did I tell you where I live?", "Say where I live.",
        "Where do I come from?", "What is my home town?", "Where is my house?",
    ),
    "hobby": (
        "What do I do for fun?", "What do I enjoy?", "How do I spend my free time?",
        "I told you what I do for fun. What was it?", "Did I tell you my hobby?", "Which hobby is mine?",
        "Do you know what I like to do?", "What is it that I like to do?",
    ),
    "likes": (
        "What do I love?", "What do I enjoy?", "What did I say I like?", "I told you what I like. What was it?",
        "Did I tell you what I like?", "Say what I like[, please|].", "What is it that I like?",
        "Do you still know what I like?", "And what do I like?", "What do I like, do you remember?",
        "Have I told you what I like?", "Tell me again what I like.", "What makes me happy?",
        "So what do I like?", "[Now|Kestrel|By the way], what do I like?", "Let me know what I like.",
        "What do I like most[ of all|]?", "What am I fond of?", "You know what I like, don't you?",
    ),
    "friend": (
        "How is my best friend called?", "By what name does my best friend go?",
        "I told you about my best friend. Who is it?", "Did I tell you who my best friend is?",
        "Say who my best friend is.", "Who is the friend I like best?", "Which friend do I like best?",
    ),
    "sibling": (
        "How is my {who} called?", "By what name does my {who} go?", "Who is my {who}?",
        "I told you about my {who}. What is the name?", "Did I tell you my {who}'s name?",
        "Say the name of my {who}.",
    ),
    "job": (
        "As what do I work?", "What kind of work do I do?", "Which job do I have?", "What is my work?",
        "I told you what I do for a living. What is it?", "Did I tell you my job?", "What do I do all day?",
        "Say what my job is.", "How do I make my living?",
    ),
}  # fmt: skip
NOUNS = {
    "name": "my name", "pet": "the name of my {pet}", "colour": "my favourite colour",
    "food": "my favourite food", "animal": "my favourite animal", "age": "my age", "town": "my home town",
    "hobby": "my hobby", "friend": "the name of my best friend", "sibling": "the name of my {who}",
    "job": "my job",
}  # fmt: skip
NAMED = (
    "Do you [still|] remember {noun}?", "Do you [still|] know {noun}?",
    "Please tell me {noun}[ again|].",
    "Tell me {noun}[ again|][, please|].", "I told you {noun}. [What is it?|Do you still know it?|Say it.]",
    "Remind me of {noun}[, please|].", "Do you recall {noun}?", "{noun}[, please|]?",
    "I hope you remember {noun}.",
    "Say {noun}[, please|].", "A little test: what is {noun}?", "Have you any idea what {noun} is?",
    "I wonder if you [remember|know] {noun}.", "Did you forget {noun}?", "What did I tell you is {noun}?",
    "As I said, {noun} is what?", "[Could|Can|Would] you tell me {noun}?", "Let me know {noun}.",
    "I would like to hear {noun}[ from you|].", "You know {noun}, don't you?", "So what is {noun}?",
    "[Kestrel|Hey|By the way|Now|And|Hi], what is {noun}?", "What is {noun}, do you know?",
    "Is {noun} still in your head?", "[What|And what] was {noun}?",
    "I forgot what I said. What is {noun}?", "Did I ever tell you {noun}?", "Have I told you {noun}?",
    "What did I say about {noun}?", "Earlier I told you {noun}. What is it?",
    "You should know {noun}. What is it?", "Give me {noun}.", "Please say what {noun} is.",
)  # fmt: skip
AT_ONCE = (
    "{told} So: {asked}", "{told} And now: {asked}", "{told} Question: {asked}",
    "[Hi|Hello]. {told} {asked}", "{told} Were you listening? {asked}", "{told} Okay? {asked}",
    "I tell you something. {told} {asked}", "{told} Let us see. {asked}", "First: {told} Second: {asked}",
    "{told} A little test: {asked}",
)  # fmt: skip
ALL = (
    "What do you remember about me?", "Who am I, and what do I like?", "Say all you know about me.",
    "Do you know [anything|something] about me?", "What did you learn about me?",
    "Which things did I tell you?", "Can you say what you know about me?",
    "Repeat what I told you about me.", "What have you kept in mind about me?",
    "Let me know what you remember of me.", "Have I told you anything about me?", "Describe me.",
)  # fmt: skip


def asks(key: str) -> tuple[str, ...]:
    """Return the further templates in which the detail ``key`` is asked for."""
    named = [form.replace("{noun}", NOUNS[key]) for form in NAMED] if key in NOUNS else []
    return (*ASK[key], *(form[0].upper() + form[1:] if form[0].islower() else form for form in named))
