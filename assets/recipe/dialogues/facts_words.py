"""Facts about words: opposites, plurals, past forms."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

WORDS = topics(
    "facts",
    r"""
@ the opposite of {word} : word, other
? Opposite of {word}?
? {Word}: what is the opposite?
? What is the contrary of {word}?
? Not {word}, but what?
? The opposite of {word} is what?
? I need the opposite of {word}.
? Which word is opposite to {word}?
? What do I say for the opposite of {word}?
? Find the opposite of {word}.
& And of {word}?
& And the opposite of {word}?
? What is the opposite of {word}?
? What's the opposite of {word}?
? Tell me the opposite of {word}[, please|].
? Which word is the opposite of {word}?
? What is the opposite of the word {word}?
? Give me the opposite of {word}[, please|].
! Do you know the opposite of {word}?
! If it is not {word}, what is it?
! Which word means the other thing than {word}?
> The opposite of {word} is {other}.
- big | small
- small | big
- hot | cold
- cold | hot
- tall | short
- long | short
- fast | slow
- slow | fast
- happy | sad
- sad | happy
- good | bad
- bad | good
- old | young
- young | old
- new | old
- light | dark
- dark | light
- day | night
- night | day
- up | down
- down | up
- left | right
- open | closed
- full | empty
- empty | full
- wet | dry
- dry | wet
- hard | soft
- soft | hard
- loud | quiet
- quiet | loud
- strong | weak
- weak | strong
- rich | poor
- clean | dirty
- dirty | clean
- thick | thin
- high | low
- low | high
- near | far
- early | late
- late | early
- inside | outside
- first | last
- begin | end
- push | pull
- buy | sell
- give | take
- love | hate
- win | lose
- laugh | cry
- easy | difficult
- heavy | light
- sweet | sour
- true | false
- yes | no
- black | white
- always | never
- beautiful | ugly
- brave | afraid
- kind | mean
- awake | asleep
- before | after
- summer | winter
- north | south
- east | west
@ the plural of {word} : word, plural
? Plural of {word}?
? {Word}: what is the plural?
? What are two of them called: one {word}, two ...?
? More than one {word}: what do I say?
? The plural of {word} is what?
? How do I write the plural of {word}?
? Say {word} in the plural.
? What do I call two of them, if one is a {word}?
& And of {word}?
& And the plural of {word}?
? What is the plural of {word}?
? What's the plural of {word}?
? What is the plural form of {word}?
? Tell me the plural of {word}[, please|].
? How do you say {word} in the plural?
? One {word}, two what?
! Do you know the plural of {word}?
! I have one {word}. How do I say it when I have three?
> The plural of {word} is {plural}.
- mouse | mice
- child | children
- man | men
- woman | women
- foot | feet
- tooth | teeth
- goose | geese
- sheep | sheep
- fish | fish
- leaf | leaves
- knife | knives
- wolf | wolves
- baby | babies
- city | cities
- story | stories
- box | boxes
- bus | buses
- cat | cats
- dog | dogs
- house | houses
- apple | apples
- cherry | cherries
- potato | potatoes
- tomato | tomatoes
- watch | watches
- lady | ladies
- fox | foxes
- glass | glasses
- day | days
- key | keys
- loaf | loaves
- puppy | puppies
- dish | dishes
- book | books
@ the past of {word} : word, past
? Past of {word}?
? Past tense of {word}?
? {Word}: what is the past?
? Put {word} into the past.
? The past tense of {word} is what?
? Yesterday I ... What is the right form of {word}?
? I need the past of {word}.
& And of {word}?
& And the past of {word}?
? What is the past [tense|form] of {word}?
? What is the past of {word}?
? How do you say {word} in the past?
? Tell me the past form of {word}.
! Today I {word}. What did I do yesterday?
! Do you know the past tense of {word}?
> The past of {word} is {past}.
- go | went
- eat | ate
- see | saw
- run | ran
- write | wrote
- read | read
- sing | sang
- swim | swam
- come | came
- give | gave
- take | took
- find | found
- sleep | slept
- buy | bought
- think | thought
- drink | drank
- fly | flew
- play | played
- walk | walked
- make | made
- sit | sat
- speak | spoke
- begin | began
- win | won
""",
)
widen(WORDS, asks_facts.WORDS)
