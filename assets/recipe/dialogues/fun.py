"""Jokes, riddles and short poems."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import TRAIN, Ask, Exchange, capital, expand

JOKES = tuple(
    tuple(part.strip() for part in line.split("|"))
    for line in """
Why did the chicken cross the road? | To get to the other side.
Why is six afraid of seven? | Because seven eight nine.
What do you call a bear without teeth? | A gummy bear.
Why did the book go to the doctor? | Because it had hurt its back.
What has a neck but no head? | A bottle.
Why do bees hum? | Because they forgot the words.
What is brown and sticky? | A stick.
Why did the teddy bear say no to cake? | Because it was stuffed.
What do you call a sleeping cow? | A bulldozer.
Why can a nose not be twelve inches long? | Because then it would be a foot.
What kind of key opens a banana? | A monkey.
Why did the clock go to school? | To learn to tell the time.
What do cats like to eat for breakfast? | Mice crispies.
Where do sheep go to get a haircut? | To the baa-baa shop.
Why did the tomato turn red? | Because it saw the salad dressing.
What is a cat's favourite colour? | Purrple.
Why do fish live in salt water? | Because pepper makes them sneeze.
What do you get when you cross a snowman and a dog? | Frostbite.
Why did the banana go to the doctor? | Because it was not peeling well.
What did one wall say to the other wall? | I will meet you at the corner.
How do you make a lemon drop? | You just let it fall.
What is a snake's best subject at school? | Hiss-tory.
Why was the broom late? | It over-swept.
What did the zero say to the eight? | Nice belt!
What do you call a fish without an eye? | A fsh.
Why did the cookie go to the nurse? | Because it felt crumby.
What animal can you always find at a ball game? | A bat.
Why do birds fly south? | Because it is too far to walk.
What time is it when the clock strikes thirteen? | Time to get a new clock.
What do you call a dog that can do magic? | A labracadabrador.
Why did the computer sneeze? | It had a virus.
Why was the computer cold? | It left its windows open.
What did the big flower say to the little flower? | Hello, bud!
What do elves learn at school? | The elf-abet.
How does the moon cut its hair? | Eclipse it.
Why did the student eat his homework? | Because the teacher said it was a piece of cake.
What has four wheels and flies? | A garbage truck.
Why do cows wear bells? | Because their horns do not work.
""".strip().splitlines()
)
RIDDLES = tuple(
    tuple(part.strip() for part in line.split("|"))
    for line in """
What has hands but cannot clap? | a clock
What has teeth but cannot bite? | a comb
What has legs but cannot walk? | a table
What has an eye but cannot see? | a needle
What gets wet while it dries? | a towel
What is full of holes but still holds water? | a sponge
What has keys but opens no door? | a piano
What goes up but never comes down? | your age
What can you catch but not throw? | a cold
What has a face but no eyes? | a clock
What runs but never walks? | water
What has leaves but is not a tree? | a book
What is yours, but other people use it more? | your name
What has many rings but no fingers? | a tree
What is always coming but never arrives? | tomorrow
What follows you in the sun but not in the dark? | your shadow
What is light as a feather, but nobody can hold it for long? | your breath
What has one foot but no legs? | a snail
What has wings, flies at night and is not a bird? | a bat
What is white when it is dirty and black when it is clean? | a blackboard
What must be broken before you can use it? | an egg
What has a bed but never sleeps? | a river
What has a head and a tail but no body? | a coin
What can travel around the world and stay in a corner? | a stamp
What goes through a town but never moves? | a road
What gets bigger the more you take away? | a hole
What has ears but cannot hear? | a corn field
What falls in winter but never gets hurt? | snow
What carries its house on its back? | a snail
What has a thumb and four fingers but is not alive? | a glove
What is red and round and grows on a tree? | an apple
What has stripes and looks like a horse? | a zebra
""".strip().splitlines()
)

_JOKE_ASK = Ask(
    ("I need a laugh.", "Any jokes?", "Joke, please.", "Is there a joke you know?", "I want to laugh.",
     "Time for a joke.", "Can you make me laugh?", "Can you be funny?", "Let me hear a joke.", "Joke?",
     "I am sad. Tell me a joke.", "Do you have a funny joke?", "I feel like laughing.",
     "A funny one, please.",
     "[Tell|Can you tell|Please tell] me a [joke|funny joke|short joke][, please|]", "Do you know a joke?",
     "Make me laugh[, please|].", "I want to hear a joke.", "Say something funny.",
     "Give me a joke[, please|].",
     "Do you know any jokes?", "[Tell|Please tell] me something funny.", "A joke, please.",
     "[Hi|Hello], tell me a joke.", "[Could|Would] you tell [me|us] a joke[, please|]?", "How about a joke?",
     "I want [to hear|] something funny.", "Please say something that makes me laugh.", "Let us laugh a bit.",
     "What is a good joke?", "My friends want to hear a joke.", "Is there something funny you can tell?",
     "Cheer me up with a joke.", "I would like [to hear|] a joke.", "Let me laugh.", "What is funny?",
     "Be funny[, please|].", "A laugh would do me good.", "Can I hear a joke?"),
    ("I could use a good laugh.", "Have you got a joke for me?",
     "Would you tell me something to laugh about?"),
)  # fmt: skip
_RIDDLE_ASK = Ask(
    ("Riddle, please.", "Any riddles?", "I want to guess something.", "Time for a riddle.",
     "Riddle me something.",
     "Do you have a riddle?", "A riddle for me, please.", "Is there a riddle you know?",
     "I am good at riddles.",
     "Let us play a riddle game.", "Can I hear a riddle?", "Make me guess.", "I love riddles. Ask me one.",
     "[Tell|Give|Ask] me a riddle[, please|].", "Do you know a riddle?",
     "Can you [tell|give|ask] me a riddle?",
     "[Could|Would] you [give|ask|tell] me a riddle[, please|]?", "How about a riddle?", "I would like a riddle.",
     "Something to guess, please.", "Let us have a riddle.", "Is a riddle there for me?", "I want to solve something.",
     "What riddles do you know? Ask me one.", "Is there a riddle for me?", "Give me something to guess.",
     "I want [to hear|to solve|] a riddle.", "A riddle, please.", "I like riddles. Do you have one?"),
    ("Let me guess a riddle.", "Have you got a riddle for me?", "Test me with a riddle."),
)  # fmt: skip
_GIVE_UP = Ask(
    ("I do not know.", "What is it?", "Tell me the answer[, please|].", "I give up.", "No idea.",
     "What is the answer?",
     "I don't know[. What is it?|, tell me.|]", "[Say|Tell me] what it is.", "It is too hard for me.",
     "I have no idea[. What is it?|]", "What could it be?", "Let me know the answer.", "[So|Well], what is it?"),
    ("You got me. What is it?", "I cannot guess it."),
)  # fmt: skip
_GUESS = Ask(
    ("Is it {answer}?", "{Answer}[!|?|.]", "I think it is {answer}.", "It is {answer}."),
    ("My guess is {answer}.", "Could it be {answer}?"),
)


def joke(rng: Random, split: str) -> Exchange:
    """Return a request for a joke, told with its answer."""
    setup, punch = rng.choice(JOKES)
    answer = rng.choice(("", "Here is one. ")) + f"{setup} {punch}"
    question = _JOKE_ASK.pick(rng, split)
    if question.startswith("Can you tell") and question[-1] != "?":
        question += "?"
    elif question[-1] not in ".?":
        question += "."
    return Exchange(
        "joke",
        question,
        answer,
        label="a joke",
        again=lambda other: [joke(other, split)],
        plan="The user wants a joke. I know one.",
    )


def riddle(rng: Random, split: str) -> list[Exchange]:
    """Return a riddle and the turn in which it is solved, given up or guessed wrong."""
    setup, solution = rng.choice(RIDDLES)
    opener = rng.choice(("Here is a riddle: ", "Here is a riddle: ", ""))
    first = Exchange("riddle", _RIDDLE_ASK.pick(rng, split), opener + setup, label="a riddle")
    kind = rng.random()
    if kind < 0.5:
        answer = rng.choice(("It is {x}.", "The answer is {x}.", "{X}!", "The answer is {x}. Was it hard?"))
        second = Exchange(
            "riddle", _GIVE_UP.pick(rng, split), expand(rng, answer, {"x": solution}), label="the riddle"
        )
    elif kind < 0.8:
        answer = rng.choice(
            ("[Yes|Right|Correct], it is {x}! [Well done!|You are clever!|]", "[Yes|Right]! [Well done.|]")
        )
        question = _GUESS.pick(rng, split, {"answer": solution})
        second = Exchange("riddle", question, expand(rng, answer, {"x": solution}), label="the riddle")
    else:
        wrong = rng.choice([other for _, other in RIDDLES if other != solution])
        answer = expand(rng, "[No, it is not {w}.|Not quite.|A good try, but no.] [It is|The answer is] {x}.",
                        {"w": wrong, "x": solution})  # fmt: skip
        second = Exchange("riddle", _GUESS.pick(rng, split, {"answer": wrong}), answer, label="the riddle")
    second.again = lambda other: riddle(other, split)
    return [first, second]


_GUESS_RIDDLE = Ask(
    (
        "Do you know this one? {q}",
        "Riddle: {q}",
        "Solve this: {q}",
        "Can you guess? {q}",
        "Now I ask you: {q}",
        "Try this riddle: {q}",
        "Here is one for you: {q}",
        "My sister knows this one: {q}",
        "{q} What is it?",
        "Here is a riddle: {q}",
        "I have a riddle for you: {q}",
        "{q}",
        "Can you solve this riddle? {q}",
        "My [brother|teacher|mother] has a riddle: {q}",
        "What is the answer? {q}",
        "I will test you: {q}",
        "[Do you know|Tell me]: {q}",
        "Answer my riddle: {q}",
        "{q} Do you know it?",
        "{q} Can you guess it?",
        "I bet you do not know this: {q}",
        "Now it is your turn to guess. {q}",
        "Listen to my riddle. {q}",
    ),
    ("Guess this: {q}", "My friend asked me: {q}"),
)


def solve_riddle(rng: Random, split: str) -> Exchange:
    """The user asks the riddle."""
    setup, solution = rng.choice(RIDDLES)
    answer = expand(rng, "[It is {x}.|I think it is {x}.]", {"x": solution})
    return Exchange("riddle", _GUESS_RIDDLE.pick(rng, split, {"q": setup}), answer, label="your riddle")


_SUBJECTS = tuple(
    [
        "the sun",
        "the moon",
        "the rain",
        "the snow",
        "the wind",
        "the sea",
        "the sky",
        "a cat",
        "a dog",
        "a bird",
        "a fox",
        "a tree",
        "a flower",
        "a river",
        "a boat",
        "a horse",
        "a bee",
        "a butterfly",
        "a mouse",
        "a rabbit",
        "a bear",
        "a kite",
        "a garden",
        "a mountain",
        "spring",
        "summer",
        "autumn",
        "winter",
        "the morning",
        "the night",
        "a friend",
        "a cloud",
        "a star",
        "a frog",
        "an owl",
        "a rose",
        "a ship",
        "a little house",
        "home",
        "a train",
        "a book",
        "a song",
        "an apple",
        "a candle",
        "a kestrel",
        "the forest",
        "the beach",
        "my mother",
        "my garden",
        "the rainbow",
    ]
)
# Couplets: the first lines name the subject {x}, the later ones fit any subject.
_FIRST = (
    "I think of {x} when the day is done,\nI think of {x} in the morning sun.",
    "I like {x}, yes I do,\nand I hope you like it too.",
    "Here is a song for you and me,\nabout {x}, as you can see.",
    "{X}, oh {x}, so fine and dear,\nI am so happy that you are near.",
    "When I see {x}, I want to sing,\nit makes me glad like a bird in spring.",
    "One little poem, short and sweet,\n{x} is something nice to meet.",
    "What is better, come and say,\nthan {x} on a happy day?",
    "I wrote these words with a happy heart,\nand {x} is how they start.",
    "I closed my eyes and what did I see?\nI saw {x}, and it smiled at me.",
    "A little poem, a little light,\nabout {x}, by day and night.",
    "I look at {x} and I start to dream\nof a quiet wood and a silver stream.",
    "Far away or close to me,\n{x} is a lovely thing to see.",
)
_LATER = (
    "The world is wide, the world is round,\nand there is joy to be found.",
    "The clouds go by, the grass is green,\nthe nicest day I have ever seen.",
    "The wind is soft, the air is clear,\nit is so good that you are here.",
    "And when the night is dark and deep,\nI think of it before I sleep.",
    "So let us laugh and let us play,\nand sing a little song today.",
    "It makes me smile, it makes me glad,\neven when the day was bad.",
    "I keep it safe inside my heart,\nand there it stays, a little part.",
    "A happy thought, a gentle word,\nas light and free as any bird.",
    "The day was long, the day was bright,\nand now I say to all: good night.",
    "I do not need a golden ring,\nI only need this little thing.",
    "The time goes by, the seasons turn,\nand there is always more to learn.",
    "So take my hand and come with me,\nthere is so much for us to see.",
    "And if you listen, you can hear\na quiet tune, so soft and near.",
    "It is not big, it is not much,\na little look, a little touch.",
    "And when the rain is on the pane,\nI know the sun will come again.",
)
_POEM_ASK = Ask(
    ("Some verses about {x}[, please|].", "I want to read a few lines on {x}.", "Compose a poem about {x}.",
     "Poem about {x}", "Let us have a poem about {x}.", "Poem: {x}", "Give me a poem [on|about] {x}.",
     "Rhymes about {x}, please.", "Do you have a verse about {x}?", "I would like a poem about {x}.",
     "I like {x}. Write a poem about it.", "A short poem on {x}[, please|].", "Make up a poem about {x}.",
     "Say something about {x} in rhyme.", "Can I have a poem [on|about] {x}?", "May I hear a poem about {x}?",
     "I need a poem about {x}.", "Tell me a poem about {x}.", "Write verses on {x}.",
     "{X}, as a poem, please.",
     "[Write|Make|Tell me] a [short|little|] poem about {x}[, please|].",
     "Can you write [me|] a [short|] poem about {x}?",
     "I want a poem about {x}.", "Please write a poem about {x}.", "Do you know a poem about {x}?",
     "A poem about {x}, please.", "Write me a few lines about {x}.", "Make a rhyme about {x}[, please|].",
     "[Could|Would] you write [me|us|] a [short|little|] poem [about|on] {x}[, please|]?", "Let {x} be in your poem.",
     "Let me hear a poem [about|on] {x}.", "How about a poem [about|on] {x}?", "I wish for a poem about {x}.",
     "Please write [something in rhyme|some lines|a few verses] about {x}.", "A rhyme on {x}[, please|].",
     "My mother likes {x}. I need a poem for her.", "Turn {x} into a poem.", "Think of a poem about {x}.",
     "Can you rhyme about {x}?", "In a poem, what would you say about {x}?", "A few lines on {x}[, please|].",
     "Your poem should be about {x}.", "I want to hear a poem with {x} in it.", "Put {x} into a poem."),
    ("Could {x} be in a poem?", "I would love to read a poem on {x}.",
     "Please rhyme something about {x} for me."),
)  # fmt: skip
_POEM_ANY = Ask(
    (
        "A poem, please.",
        "I want a poem.",
        "Give me a poem.",
        "Can I hear a poem?",
        "Do you have a poem for me?",
        "Make up a poem.",
        "Say a poem.",
        "I like poems. Do you know one?",
        "[Write|Tell me] a [short|] poem[, please|].",
        "Can you write [a poem|poems]?",
        "Do you know a poem?",
        "[Could|Would] you [write|tell me|say] a poem[, please|]?",
        "How about a poem?",
        "Let me hear a poem.",
        "I would like [to hear|to read|] a poem.",
        "Some rhymes[, please|].",
        "Is there a poem that you know?",
        "Please write me something in rhyme.",
    ),
    ("I am in the mood for a poem.", "May I have some verses?"),
)


_AND = ("And one about {x}[, please|]?", "Now one about {x}[, please|].", "Another one about {x}[, please|].")


def _another_about(rng: Random, split: str, last: str) -> Exchange:
    """The user wants another poem, about this subject."""
    subject = rng.choice([other for other in _SUBJECTS if other != last])
    made = poem(rng, split, subject)
    made.question, made.label = expand(rng, rng.choice(_AND), {"x": subject}), f"a poem about {subject}"
    return made


def poem(rng: Random, split: str, subject: str = "") -> Exchange:
    """Return a request for a poem on a subject (a random one by default), and two or three couplets."""
    subject = subject or rng.choice(_SUBJECTS)
    told = subject.replace("my ", "your ")
    asked = rng.random() < 0.9
    question = _POEM_ASK.pick(rng, split, {"x": subject}) if asked else _POEM_ANY.pick(rng, split)
    couplets = [expand(rng, rng.choice(_FIRST), {"x": told})]
    couplets.append(rng.choice(_LATER))
    # the asked-for subject first, to hold on to
    lines = [f"A poem about {told}:"]
    lines += [capital(line) for couplet in couplets for line in couplet.split("\n")]
    label = f"a poem about {told}" if asked else "a poem"
    plan = f"The user wants {label}. I will write a few lines that rhyme."
    return Exchange("poem", question,
    "\n".join(lines), label=label, plan=plan, again=lambda other: [poem(other, split, subject)],
                    short="\n".join(lines[:3]),
                    sibling=(lambda other: _another_about(other, split, subject))
                    if split == TRAIN else None)  # fmt: skip
