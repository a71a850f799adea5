# ruff: noqa: E501 - one line an entry
"""Small how-tos: three to six plain steps each."""

from random import Random

from kestrel_assets.recipe.dialogues.grammar import Ask, Exchange

# task ("make tea") | steps, each a plain sentence in the imperative
_TEXT = """
make tea | Boil some water. | Put a tea bag into a cup. | Pour the hot water over it. | Wait for three to five minutes. | Take the tea bag out and enjoy your tea.
plant a seed | Fill a small pot with soil. | Make a little hole with your finger. | Put the seed into the hole and cover it. | Give it some water and put the pot in the light. | Water it a little every few days and wait.
fold a paper plane | Take a sheet of paper and fold it in the middle. | Open it again and fold the two top corners to the middle line. | Fold both sides to the middle once more. | Fold the paper in half and bend the wings down. | Now throw it gently.
brush your teeth | Put a little toothpaste on your brush. | Brush the outside, the inside and the top of your teeth. | Do this for about two minutes. | Spit out the foam and rinse your mouth.
tie your shoes | Cross the two laces and pull one under the other. | Make a loop with one lace. | Put the other lace around the loop. | Push it through the hole and pull both loops tight.
clean your room | Pick up everything from the floor. | Put clothes, books and toys in their places. | Wipe the dust away with a cloth. | Sweep the floor and open the window for a while.
write a letter | Write the date at the top. | Start with "Dear" and the name. | Tell what you want to say in short sentences. | End with a kind greeting and your name. | Put it in an envelope and add a stamp.
wash your hands | Make your hands wet. | Take some soap and rub your hands for twenty seconds. | Rinse the soap off with water. | Dry your hands with a clean towel.
boil an egg | Put the egg into a pot with water. | Heat it until the water boils. | Cook it for five minutes if you like it soft, or ten minutes if you like it hard. | Put the egg into cold water for a moment.
make a sandwich | Take two slices of bread. | Put some butter on them. | Add cheese, tomato or what you like. | Put the slices together and cut them in half.
make pancakes | Mix flour, milk and eggs in a bowl. | Put a little butter into a hot pan. | Pour some of the mix into the pan. | Turn the pancake when the top is dry. | Eat it with honey or jam.
bake a simple cake | Mix butter, sugar and eggs. | Add flour and some baking powder. | Pour it into a baking tin. | Bake it in the oven for about forty minutes. | Let it cool down before you cut it.
make a salad | Wash the leaves and the vegetables. | Cut them into small pieces. | Put everything into a bowl. | Add some oil, lemon and salt and mix it well.
cook rice | Wash the rice in cold water. | Take two cups of water for one cup of rice. | Bring it to the boil. | Let it cook slowly for about fifteen minutes with the lid on.
cook pasta | Boil a lot of water with some salt. | Put the pasta into the water. | Stir it and cook it for about ten minutes. | Pour the water away carefully.
make hot chocolate | Warm some milk in a pot. | Stir in cocoa and a little sugar. | Mix it until it is smooth. | Pour it into a cup and let it cool a bit.
make lemonade | Press the juice out of two lemons. | Mix it with water and some sugar. | Stir until the sugar is gone. | Add ice and drink it cold.
draw a cat | Draw a circle for the head and a bigger one for the body. | Add two pointed ears. | Draw eyes, a small nose and long whiskers. | Add four legs and a long tail.
draw a house | Draw a square. | Put a triangle on top for the roof. | Add a door and two windows. | Draw a chimney, and maybe a tree next to it.
learn a poem | Read the poem aloud a few times. | Learn the first two lines by heart. | Then add two more lines, and so on. | Say the whole poem before you go to bed.
ride a bicycle | Sit on the bicycle and hold the handlebar. | Put one foot on a pedal and push off. | Look ahead and keep pedalling. | Use the brakes to stop. | Do not forget your helmet.
swim | Start in water where you can stand. | Practise to float on your back. | Kick with your legs and pull with your arms. | Always go with someone who can swim well.
water flowers | Feel the soil with your finger. | If it is dry, give the plant some water. | Pour it slowly on the soil and not on the leaves. | Do it in the morning or in the evening.
feed a cat | Clean the bowl of the cat. | Put some cat food into it. | Give the cat fresh water, too. | Do this two times a day at the same time.
walk a dog | Put a lead on the dog. | Walk slowly and let the dog sniff. | Stay away from busy roads. | Give the dog water when you come home.
wash a dog | Fill a tub with warm water. | Make the fur wet and rub in dog shampoo. | Keep the soap away from the eyes. | Rinse it well and dry the dog with a towel.
make a bed | Pull the sheet smooth. | Shake the pillow and put it in its place. | Spread the blanket over the bed. | Smooth it with your hands.
wash the dishes | Fill the sink with hot water and some soap. | Wash the glasses first, then the plates and then the pots. | Rinse them with clean water. | Dry them and put them away.
set the table | Put a plate at each place. | Put the fork on the left and the knife on the right. | Add a glass and a napkin. | Bring the food and call everybody.
wrap a gift | Put the gift on a piece of paper. | Fold the paper around it and tape it. | Fold the ends in and tape them, too. | Tie a ribbon around it.
make a snowman | Roll a big ball of snow. | Roll a smaller ball and put it on top. | Put the smallest ball on top of both for the head. | Use a carrot for the nose and stones for the eyes.
build a sandcastle | Find sand that is a little wet. | Fill a bucket with it and press it down. | Turn the bucket over and lift it. | Add walls, towers and a flag.
fly a kite | Wait for a windy day and find an open field. | Hold the kite up against the wind. | Let out some string and walk back. | Pull the string when the kite goes down.
make a friend | Smile and say hello. | Ask the other person something nice. | Listen well and tell something about you. | Do something fun together.
say sorry | Look at the person. | Say what you did and that you are sorry. | Do not make excuses. | Ask how you can make it good again.
fall asleep | Turn off the screen and the bright light. | Lie down and close your eyes. | Breathe slowly. | Think of a calm and happy place.
wake up early | Go to bed early. | Put the alarm clock away from your bed. | Get up as soon as it rings. | Open the window and drink some water.
pack a bag | Make a list of what you need. | Put the heavy things in first. | Put small and soft things around them. | Check the list again at the end.
read more books | Pick a book that you like. | Read a few pages every day, maybe before bed. | Keep the book where you can see it. | Talk with a friend about it.
save water | Turn off the tap while you brush your teeth. | Take a short shower and not a bath. | Use rain water for the plants. | Repair taps that drip.
save money | Write down what you spend. | Put a little money away each week. | Wait a day before you buy something. | Do not buy what you do not need.
cross the street | Stop at the edge of the road. | Look left, right and left again. | Wait until no car comes. | Walk straight over and do not run.
use a map | Find the place where you are. | Find the place where you want to go. | Look which roads join them. | Turn the map so that north is right.
play hide and seek | One child closes the eyes and counts to twenty. | The others hide. | Then the child looks for them. | The one who is found first counts next.
sew on a button | Put thread through the needle and make a knot. | Hold the button in its place. | Go up and down through the holes five or six times. | Make a knot at the back and cut the thread.
grow tomatoes | Put tomato seeds into a pot with soil in spring. | Keep them warm and in the light. | Put the small plants outside when it is warm. | Water them well and tie them to a stick. | Pick the tomatoes when they are red.
make popcorn | Put some oil and corn into a pot. | Put the lid on and heat it. | Wait until the popping stops. | Add salt or sugar.
make soup | Cut vegetables into small pieces. | Put them into a pot with water and salt. | Cook it for about twenty minutes. | Taste it and serve it hot.
start a diary | Take an empty book. | Write the date on the top of the page. | Write what you did and how you felt. | Do it every evening, even if it is short.
learn new words | Read a little every day. | Write new words on small cards. | Look at the cards in the morning and in the evening. | Use each word in a sentence.
take a photo | Hold the camera with both hands. | Make sure that the light is behind you. | Look at what is in the picture. | Hold still and press the button.
stop the hiccups | Take a deep breath and hold it for ten seconds. | Drink a glass of water in small sips. | Breathe slowly and calmly. | Mostly they go away by themselves.
""".strip()
TASKS = {
    line.split(" | ")[0]: tuple(step.strip() for step in line.split(" | ")[1:]) for line in _TEXT.splitlines()
}
ASK = Ask(
    (
        "I need to {mine}. What are the steps?", "I have to {mine} today. Can you help?",
        "Steps to {mine}, please.",
        "I would like to {mine}, but I do not know how.", "My friend wants to {mine}. What can I say?",
        "I am trying to {mine}. Help me, please.", "Is it hard to {mine}? Tell me how.",
        "Do you know how to {mine}?",
        "Do you know how I can {mine}?", "Explain in a few steps how to {mine}.",
        "What do I need to do to {mine}?",
        "How does one {task}?", "What is a good way to {mine}?", "I want to {mine}.",
        "I want to {mine}. Tell me how.",
        "What are the steps if I want to {mine}?", "I wonder how to {mine}.", "How would you {task}?",
        "Today I want to {mine}. How does it work?", "Can you teach me how to {mine}?",
        "Give me the steps to {mine}.",
        "I forgot how to {mine}.", "I do not know how to {mine}.", "Please help me. I want to {mine}.",
        "How do I {mine}?", "How can I {mine}?", "How do you {task}?", "Can you tell me how to {mine}?",
        "Tell me how to {mine}[, please|].", "Please explain how to {mine}.", "How to {mine}?",
        "I want to {mine}. What do I have to do?", "What is the best way to {mine}?",
        "Can you explain how to {mine}?",
        "What are the steps to {mine}?", "I want to {mine}. How do I do it?",
        "Can you help me to {mine}?",
        # requests to be taught, which must not sound like the refusals of unkind ones
        "I want to learn [how|] to {mine}[, please|].", "Will you teach me how to {mine}[, please|]?",
        "Would you teach my [son|friend] how to {mine}[, please|]?",
        "Be my teacher: I want to {mine}.", "Please [help|show] me how to {mine}.",
        "Show [me|us] how to {mine}[, please|].", "Give me a lesson: how do I {mine}?",
        "I would like to [learn|know] how to {mine}.", "Let me know how to {mine}.",
        "Let me learn to {mine}.", "I am learning to {mine}. How does it go?",
        "[Could|Would|Can] you [explain to me|tell us|describe] how to {mine}[, please|]?",
        "How should [I|one|you] {task}?", "How must I {mine}?", "In what way do I {mine}?",
        "What is the right way to {mine}?", "What is the trick to {mine}?", "What do people do to {mine}?",
        "What are the [first|right] steps to {mine}?", "I need some help to {mine}.",
        "I have to {mine}[ tomorrow| soon| for the first time]. How do I do that?",
        "Can a child {task}? How?", "Which steps do I take to {mine}?", "A short guide to {mine}[, please|].",
        "Guide me: how do I {mine}?", "Write down how to {mine}.", "Describe how to {mine}.",
        "Say how [I can|to] {mine}[, please|].", "[A question|Something else]: how do I {mine}?",
        "My [son|sister|neighbour] asks how to {mine}.", "Is there an easy way to {mine}?",
        "It is my plan to {mine}. What comes first?", "How does it work to {mine}?",
        "What should I know to {mine}?", "I [cannot|can't] {mine}. [Help me, please|Can you help?]",
        "Step by step, how do I {mine}?", "Take me through it: how do I {mine}?",
        "Have you got a way to {mine}?", "The steps to {mine}[, please|]?", "If I want to {mine}, how do I start?",
        "Instructions to {mine}[, please|].", "What helps me to {mine}?", "I never learned to {mine}.",
    ),
    (
        "Could you show me how to {mine}?", "I have never tried to {mine}. Where do I start?",
        "Teach me to {mine}, please.", "What must I do if I want to {mine}?",
    ),
)  # fmt: skip
_OPENER = "Here is how to {task}:"  # the asked-for task first, to hold on to


def _numbered(steps: tuple[str, ...]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _flowing(steps: tuple[str, ...]) -> str:
    """Join the steps with First, Then and At the end."""
    middle = ["Then ", "", "Next, ", "", ""]
    links = ["First, ", *middle[: len(steps) - 2], "At the end, "]
    parts = []
    for link, step in zip(links, steps, strict=True):
        # "Do not" and "Always" after a link would read badly
        if link and step.split()[0] not in ("Do", "Always", "If", "Now", "One", "The", "Mostly", "Then"):
            step = link + step[0].lower() + step[1:]
        parts.append(step)
    return " ".join(parts)


_AND = Ask(
    ("And how do I {mine}?", "And how can I {mine}?", "And how to {mine}?"), ("How about this: to {mine}?",)
)


def _next(rng: Random, split: str, last: str) -> Exchange:
    """Ask for another task in the words of someone who has just asked for one."""
    made = howto(rng, split, rng.choice([task for task in TASKS if task != last]))
    task = made.label.removeprefix("how to ")
    made.question = _AND.pick(rng, split, {"mine": task.replace("your", "my")})
    return made


def howto(rng: Random, split: str, task: str = "") -> Exchange:
    """Return a how-to question, answered as a numbered list or in flowing sentences."""
    task = task or rng.choice(tuple(TASKS))
    steps = TASKS[task]
    mine = task.replace("your", "my")
    question = ASK.pick(rng, split, {"task": task, "mine": mine})
    opener = _OPENER.format(task=task)
    answer = f"{opener}\n{_numbered(steps)}" if rng.random() < 0.25 else f"{opener} {_flowing(steps)}"
    short = " ".join(steps[:3]) if len(steps) > 4 else " ".join(steps[:2])
    plan = f"This is about how to {task}. I will give a few short steps."
    return Exchange(
        "howto",
        question,
        answer,
        label=f"how to {task}",
        short=short,
        plan=plan,
        sibling=lambda other: _next(other, split, task),
    )
