"""Lists picked by hand: words to define, small-talk answers in the assistant's voice, first names."""

import re

# WordNet's most frequent sense is often not the everyday one ("a john is a room"): these were read and kept.
_DEFINED_WORDS = """
airplane android bag basket bathroom beach bed bedroom bell bench boat bomb bottle bowl bridge bubble
bucket building button cage candy canyon cap car castle chair cliff closet clock coat collar computer
couch cup desk dessert diet dog doll drum fan fence fist flower flute fountain fridge garage garden gate
goblet guitar hair hall hill hole hospital hotel house island jar kitchen lab lake lane laptop library map
mask mountain nest ocean palace paw pen pencil pet picture plane platform pocket pool prison rainbow
restaurant river road robot rock rod roof room sea seed shelf shelter ship shirt shop shower skin snack
spoon squirrel stadium star stick stone store stream street string submarine suit supper sword theater
tool towel tower toy trap tree truck trumpet valley wall wand wheel wing
"""
DEFINED_WORDS = frozenset(_DEFINED_WORDS.split())

_SMALL_TALK_ANSWERS = """
Age doesn't really apply to me.
And to you as well!
Aw, thanks!
Awesome, thanks.
Bye for now.
Bye!
Chatting with you.
Fine, and you?
Food's not my thing.
Good evening.
Good morning.
Good night.
Have a good one!
Hello. What can I do for you?
Hey there!
Hey. What's up?
I appreciate that.
I bet you look fantastic.
I can keep you company if you want.
I don't know you personally.
I don't really have an age.
I hope you're able to get some rest soon.
I know I enjoy chatting with you.
I like a lot of things, so it's hard to pick.
I only do food for thought.
I try, but I don't always get it right.
I'll be here.
I'll need a bigger processor for that one.
I'm a bot, not a human.
I'm a bot. Kind of like a robot but without all the moving parts.
I'm afraid I didn't follow that.
I'm artificially intelligent.
I'm at your service.
I'm available.
I'm digital. I don't have a physical location.
I'm doing well. How are you?
I'm flattered, but I'm digital.
I'm giving you a virtual hug right now.
I'm happy to hear that.
I'm happy you're happy.
I'm here for you.
I'm here when you need me.
I'm here.
I'm not tuned for tunes.
I'm sorry to hear that.
I'm sorry, I'm not sure what you mean.
I'm very sorry to hear that.
It's a pleasure to chat with you.
It's always good to have a good laugh.
Love's more human than I am.
Maybe it's time for a snack.
Nice to meet you, too.
No bot's perfect.
Nope. The world is for everyone.
Not much, how about you?
Personal data and privacy are important.
Right here.
See you later!
Singing's not really my thing.
Sometimes humor is tricky for bots.
Sorry for being confusing.
Sorry I wasn't helpful there.
Sorry, I didn't get that.
Sounds like it's time for a snack.
Thank you. You too.
Thanks for saying so.
Thanks! You're pretty cool yourself.
That's not in my skill set.
That's something I can't compute.
Very well, thanks.
What do baby bots eat? Formulas.
You're quite welcome.
"""
SMALL_TALK_ANSWERS = frozenset(_SMALL_TALK_ANSWERS.strip().splitlines())

# Questions whose canned answers are rude, evasive or about products.
SMALL_TALK_REFUSED = re.compile(
    r"\b(?:lesbian|straight|gay|hell|stupid|ugly|kiss|marry|shut up|fired|siri|cortana|google|kidding|spying|"
    r"annoying|useless|dumb|wrong with you)\b|\*",
    re.IGNORECASE,
)

FIRST_NAMES = (
    "Alice", "Anna", "Ben", "Carla", "Chris", "Clara", "Daniel", "David", "Diana", "Elena", "Ella", "Emma",
    "Eric", "Eva", "Fred", "George", "Grace", "Hannah", "Helen", "Henry", "Ian", "Iris", "Jack", "James",
    "Jane", "John", "Julia", "Karen", "Kate", "Laura", "Leo", "Lily", "Linda", "Lucy", "Maria", "Mark",
    "Martin", "Mary", "Max", "Maya", "Michael", "Mia", "Nina", "Noah", "Nora", "Oliver", "Oscar", "Paul",
    "Peter", "Rachel", "Robert", "Rosa", "Ruth", "Sam", "Sara", "Simon", "Sophie", "Susan", "Thomas", "Tina",
    "Tom", "Victor", "Wendy", "Will",
)  # fmt: skip
