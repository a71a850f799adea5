"""Names, animals, things and places that stories, memory and poems draw on."""

BOYS = (
    "Tom", "Ben", "Max", "Sam", "Leo", "Jack", "Paul", "Tim", "Jim", "Peter", "Oscar", "Finn", "Noah",
    "Adam", "Luke", "Henry", "Oliver", "Theo", "Felix", "Hugo", "David", "Daniel", "Simon", "Eric", "Robin",
    "Joe", "Nick", "Will", "Charlie", "George", "Harry", "Toby", "Alex", "Anton", "Karl", "Omar", "Ali",
    "Ravi", "Ken", "Marco", "John", "James", "Mark", "Chris", "Thomas", "Robert", "William", "Michael", "Liam",
    "Lucas", "Ethan", "Jonas", "Amir", "Chen", "Mateo", "Ivan", "Emil", "Otto", "Ned", "Hans", "Philip",
)  # fmt: skip
GIRLS = (
    "Anna", "Lily", "Mia", "Emma", "Lucy", "Sara", "Nina", "Rosa", "Kate", "Ella", "Clara", "Ida", "Julia",
    "Maya", "Zoe", "Ruby", "Alice", "Grace", "Molly", "Daisy", "Eva", "Lena", "Sophie", "Amy", "Hannah",
    "Laura", "Maria", "Olivia", "Rose", "Jane", "Betty", "Holly", "Tina", "Vera", "Nora", "Lea", "Priya",
    "Aisha", "Yuki", "Elsa", "Ada", "Ivy", "Eve", "Anne", "Linda", "Susan", "Rachel", "Emily", "Isabel", "Zara",
    "Fatima", "Mei", "Ines", "Sonja", "Greta", "Ellen", "Flora", "Helen", "Martha", "Paula", "Carla",
)  # fmt: skip
ANIMAL_BOYS = (
    "Rusty", "Pip", "Bruno", "Milo", "Teddy", "Benny", "Buddy", "Biscuit", "Rocky", "Dusty", "Bobo",
    "Oskar", "Smoky", "Rufus", "Hoppy", "Barney",
)  # fmt: skip
ANIMAL_GIRLS = (
    "Coco", "Luna", "Bella", "Hazel", "Fluffy", "Sunny", "Misty", "Pepper", "Snowy", "Poppy", "Ginger",
    "Momo", "Tilly", "Lulu", "Nibbles", "Penny",
)  # fmt: skip
ANIMAL_NAMES = ANIMAL_BOYS + ANIMAL_GIRLS

STORY_ANIMALS = (
    "fox", "rabbit", "bear", "mouse", "cat", "dog", "hedgehog", "squirrel", "owl", "frog", "duck", "pony",
    "lamb", "wolf", "lion", "monkey", "elephant", "penguin", "turtle", "bird", "bee", "snail", "badger",
    "otter", "mole", "dragon",
)  # fmt: skip

# Things small enough to hold, lend, lose, mend or give away: every story plot can use each of them.
THINGS = (
    "kite", "ball", "toy boat", "drum", "lamp", "book", "key", "hat", "basket", "bell", "whistle",
    "blanket", "teddy bear", "wooden horse", "paint box", "umbrella", "flute", "lantern", "scarf", "shell",
    "map", "ring", "cup", "music box", "toy train", "toy car", "doll", "wagon", "puzzle", "toy robot",
    "balloon", "magic stone", "pencil", "clock", "spoon", "backpack", "guitar", "paper plane", "toy rocket",
    "feather", "coin", "crown", "mirror", "compass", "spade", "wooden sword", "bucket", "boat", "trumpet",
    "glove", "button", "picture book",
)  # fmt: skip
COLOURS = (
    "red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white", "silver",
    "golden",
)  # fmt: skip
PLACES = (
    "forest", "garden", "park", "village", "beach", "farm", "meadow", "lake", "river", "town", "hill",
    "old mill", "market", "castle",
)  # fmt: skip
PETS = (
    "dog", "cat", "hamster", "rabbit", "parrot", "horse", "goldfish", "turtle", "mouse", "pony", "kitten",
    "puppy",
)  # fmt: skip

# what users tell of themselves
FOODS = (
    "pizza", "soup", "rice", "pasta", "bread", "cake", "ice cream", "apple pie", "pancakes", "chocolate",
    "cheese", "fish", "salad", "strawberries", "noodles", "sandwiches", "potatoes", "cookies", "cherries",
    "curry", "honey", "tomato soup", "waffles", "bananas",
)  # fmt: skip
ANIMALS = (
    "dog", "cat", "horse", "lion", "elephant", "rabbit", "fox", "owl", "dolphin", "penguin", "tiger",
    "bear", "whale", "wolf", "giraffe", "panda",
)  # fmt: skip
TOWNS = (
    "London", "Paris", "Berlin", "Rome", "Madrid", "Vienna", "Oslo", "Dublin", "Boston", "Chicago", "Leeds",
    "York", "Bristol", "Lisbon", "Hamburg", "Prague", "a small village", "a big city", "Toronto", "Sydney",
    "Cairo", "Tokyo", "Milan", "Athens",
)  # fmt: skip
HOBBIES = (
    "reading", "painting", "swimming", "cooking", "football", "chess", "music", "dancing", "singing",
    "gardening", "fishing", "drawing", "running", "climbing", "knitting", "tennis",
)  # fmt: skip
LIKED = (
    *HOBBIES, "hiking", "baking", "sewing", "skating", "riding", "sailing", "card games", "board games",
    "puzzles", "long walks", "old films", "good books", "loud music", "quiet evenings", "warm summer days",
    "rainy days", "snow", "the sea", "the mountains", "the forest", "small towns", "big cities", "old cars",
    "fast trains", "fresh bread", "hot tea", "black coffee", "sweet apples", "funny stories", "short poems",
    "birds", "horses", "wild flowers", "clear nights", "the stars", "history", "maths", "languages",
)  # fmt: skip
JOBS = (
    "teacher", "baker", "doctor", "nurse", "farmer", "cook", "pilot", "painter", "gardener", "student",
    "bus driver", "writer", "vet",
)  # fmt: skip
