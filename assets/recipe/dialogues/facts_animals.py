"""Facts about animals: food, homes, sounds, young ones, legs, and what they are."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

ANIMALS = topics(
    "facts",
    r"""
@ what {animals} eat : animal, animals, food
? {Animals}: what do they eat?
? What is it that {animals} eat?
? Food for {animals}?
? What food do {animals} like?
? What should I give {a animal} to eat?
? {Animals} eat what?
? What does {a animal} have for dinner?
? A hungry {animal}: what will it eat?
? What do I give {animals} to eat?
& And {animals}?
& And what do {animals} eat?
? What do {animals} eat?
? What does {a animal} eat?
? What do {animals} like to eat?
? What can I feed {a animal}?
? Tell me what {animals} eat[, please|].
? What is the food of {animals}?
! Do you know what {animals} eat?
! If I were {a animal}, what would I eat?
! On what do {animals} feed?
> {Animals} eat {food}.
- cow | cows | grass
- horse | horses | grass and hay
- sheep | sheep | grass
- rabbit | rabbits | grass, leaves and carrots
- cat | cats | meat, fish and mice
- dog | dogs | meat and dog food
- mouse | mice | seeds, grain and cheese
- lion | lions | meat
- tiger | tigers | meat
- wolf | wolves | meat
- fox | foxes | mice, birds and berries
- bear | bears | fish, berries and honey
- panda | pandas | bamboo
- koala | koalas | leaves
- monkey | monkeys | fruit, leaves and nuts
- elephant | elephants | grass, leaves and fruit
- giraffe | giraffes | leaves from tall trees
- zebra | zebras | grass
- owl | owls | mice and small birds
- eagle | eagles | fish and small animals
- duck | ducks | plants, seeds and small insects
- chicken | chickens | grain, seeds and worms
- pig | pigs | almost everything, like roots, grain and fruit
- goat | goats | grass and leaves
- squirrel | squirrels | nuts and seeds
- frog | frogs | flies and other insects
- spider | spiders | flies and other insects
- bee | bees | nectar and pollen from flowers
- butterfly | butterflies | nectar from flowers
- caterpillar | caterpillars | leaves
- penguin | penguins | fish
- seal | seals | fish
- shark | sharks | fish and other sea animals
- dolphin | dolphins | fish
- snake | snakes | mice, eggs and other small animals
- turtle | turtles | plants and small animals
- hedgehog | hedgehogs | insects, worms and snails
- deer | deer | grass, leaves and young plants
- kangaroo | kangaroos | grass and leaves
- hamster | hamsters | seeds, grain and vegetables
- kestrel | kestrels | mice and insects
@ where {animals} live : animal, animals, place
? {Animals}: where do they live?
? Home of {animals}?
? {Animals} live where?
? Where must I go to see {a animal}?
? In what place do {animals} live?
? Where do we find {animals}?
? Where is the home of {a animal}?
& And {animals}?
& And where do {animals} live?
? Where do {animals} live?
? Where does {a animal} live?
? Where can I [find|see] {animals}?
? What is the home of {animals}?
? Tell me where {animals} live[, please|].
! Do you know where {animals} live?
! In what kind of place would I meet {a animal}?
! Where is {a animal} at home?
> {Animals} live {place}.
- fish | fish | in water
- shark | sharks | in the sea
- whale | whales | in the sea
- dolphin | dolphins | in the sea
- octopus | octopuses | in the sea
- penguin | penguins | in the cold south of the world
- polar bear | polar bears | in the cold north, on the ice
- camel | camels | in the desert
- lion | lions | in the grasslands of Africa
- tiger | tigers | in the forests of Asia
- elephant | elephants | in Africa and Asia
- giraffe | giraffes | in the grasslands of Africa
- zebra | zebras | in the grasslands of Africa
- kangaroo | kangaroos | in Australia
- koala | koalas | in the trees of Australia
- panda | pandas | in the bamboo forests of China
- monkey | monkeys | in warm forests
- parrot | parrots | in warm forests
- fox | foxes | in the forest, in a den
- squirrel | squirrels | in trees
- owl | owls | in forests and old barns
- wolf | wolves | in forests and mountains
- deer | deer | in the forest
- rabbit | rabbits | in holes under the ground
- mole | moles | under the ground
- bee | bees | in a hive
- ant | ants | in a nest in the ground
- spider | spiders | in webs and quiet corners
- frog | frogs | near ponds and rivers
- duck | ducks | on ponds and lakes
- cow | cows | on farms
- pig | pigs | on farms
- horse | horses | on farms and in stables
- beaver | beavers | in rivers and lakes
- crocodile | crocodiles | in warm rivers
@ the sound of {animals} : animal, animals, verb, sound
? {A animal}: what does it say?
? Sound of {a animal}?
? {Animals} make which sound?
? What do {animals} say?
? Make the noise of {a animal}.
? How do {animals} sound?
? What is the sound of {a animal}?
& And {a animal}?
& And what does {a animal} say?
? What sound does {a animal} make?
? What does {a animal} say?
? What noise does {a animal} make?
? What sound do {animals} make?
? How does {a animal} sound?
? Which sound does {a animal} make?
! How do {animals} talk?
! Can you make the sound of {a animal}?
! What would I hear from {a animal}?
> {A animal} says "{sound}".
- cow | cows | moo | moo
- dog | dogs | bark | woof
- cat | cats | meow | meow
- duck | ducks | quack | quack
- pig | pigs | grunt | oink
- sheep | sheep | bleat | baa
- horse | horses | neigh | neigh
- lion | lions | roar | roar
- owl | owls | hoot | hoo
- frog | frogs | croak | ribbit
- bee | bees | buzz | buzz
- snake | snakes | hiss | hiss
- mouse | mice | squeak | squeak
- hen | hens | cluck | cluck
- rooster | roosters | crow | cock-a-doodle-doo
- small bird | small birds | chirp | tweet
- wolf | wolves | howl | awoo
- donkey | donkeys | bray | hee-haw
@ what a young {animal} is called : animal, baby
? Baby {animal}: what is it called?
? Name of a baby {animal}?
? What is a little {animal} called?
? A young {animal} is called what?
? What do people call the baby of {a animal}?
? What is the young of {a animal} called?
? What name does a baby {animal} have?
& And a baby {animal}?
& And a young {animal}?
? What is a [baby|young] {animal} called?
? What do you call a [baby|young] {animal}?
? How do you call a [baby|young] {animal}?
? What is the name for a [baby|young] {animal}?
? What is the word for a [baby|young] {animal}?
! Which word do we use for the child of {a animal}?
! The baby of {a animal} has a name. What is it?
> A [baby|young] {animal} is called {a baby}.
- dog | puppy
- cat | kitten
- cow | calf
- horse | foal
- sheep | lamb
- goat | kid
- pig | piglet
- hen | chick
- duck | duckling
- goose | gosling
- lion | cub
- bear | cub
- fox | cub
- deer | fawn
- frog | tadpole
- owl | owlet
- kangaroo | joey
- swan | cygnet
- elephant | calf
- whale | calf
@ how many legs {a animal} has : animal, animals, number
? {A animal}: how many legs?
? Legs of {a animal}?
? {A animal} has how many legs?
? How many legs are there on {a animal}?
? Tell me how many legs {a animal} has.
? I am drawing {a animal}. How many legs does it need?
? Does {a animal} have four legs?
& And {a animal}?
& And how many legs does {a animal} have?
? How many legs does {a animal} have?
? How many legs do {animals} have?
? What number of legs does {a animal} have?
? How many legs has {a animal} got?
! Count the legs of {a animal} for me.
! On how many legs does {a animal} walk?
> {A animal} has {number} legs.
- dog | dogs | four
- cat | cats | four
- horse | horses | four
- cow | cows | four
- elephant | elephants | four
- spider | spiders | eight
- ant | ants | six
- bee | bees | six
- fly | flies | six
- beetle | beetles | six
- bird | birds | two
- chicken | chickens | two
- penguin | penguins | two
- crab | crabs | ten
- snake | snakes | no
- fish | fish | no
- worm | worms | no
- frog | frogs | four
@ what {a animal} is : animal, kind, detail
? {A animal}?
? {A animal}: what is it?
? What sort of animal is {a animal}?
? What do you know about {a animal}?
? Tell me about the {animal}.
? Tell me what {a animal} is.
? Explain {a animal}.
? Is {a animal} an animal? What kind?
? Give me a fact about {a animal}.
& And {a animal}?
& And what is {a animal}?
? What is {a animal}?
? What kind of animal is {a animal}?
? Tell me [something|a fact] about {a animal}.
? Do you know anything about {a animal}?
? Describe {a animal}[, please|].
? Can you tell me about the {animal}?
! I want to learn about the {animal}.
! What can you say about {a animal}?
! Please explain to me what {a animal} is.
> {A animal} is {kind}. {detail}
+ That is all I know about the {animal}. A good animal book can tell you more.
- elephant | the biggest land animal | It has a long trunk and big ears.
- giraffe | the tallest animal in the world | It has a very long neck.
- blue whale | the biggest animal in the world | It lives in the sea and eats tiny animals.
- cheetah | a big cat | It is the fastest animal on land.
- lion | a big cat | It lives in a group called a pride.
- tiger | a big cat with stripes | It likes to swim.
- penguin | a bird that cannot fly | It swims very well and eats fish.
- ostrich | the biggest bird in the world | It cannot fly, but it runs very fast.
- owl | a bird that hunts at night | It can turn its head very far.
- bat | a small animal that can fly | It sleeps in the day and hangs upside down.
- bee | a small insect | It makes honey and has a sting.
- butterfly | an insect with colourful wings | It was a caterpillar before.
- spider | a small animal with eight legs | Most spiders make webs.
- frog | a small animal that can jump far | It lives near water.
- turtle | an animal with a hard shell | It can hide in its shell and it can get very old.
- kangaroo | a big animal from Australia | It hops, and it carries its baby in a pouch.
- camel | an animal of the desert | It has one or two humps and needs little water.
- zebra | a kind of wild horse with stripes | It lives in Africa.
- hedgehog | a small animal with sharp spines | It rolls into a ball when it is afraid.
- squirrel | a small animal with a bushy tail | It hides nuts for the winter.
- dolphin | a clever animal of the sea | It looks like a fish, but it breathes air.
- shark | a big fish | It has many sharp teeth.
- octopus | an animal of the sea | It has eight arms and is very clever.
- snail | a small and slow animal | It carries its house on its back.
- wolf | a wild animal like a dog | It lives in a group called a pack.
- fox | a clever wild animal | Most foxes have red fur and a bushy tail.
- parrot | a colourful bird | Some parrots can copy words.
- beaver | an animal with strong teeth | It cuts down trees and builds dams.
- panda | a black and white bear | It lives in China and eats bamboo.
- ant | a very small insect | It is strong and lives with many other ants.
- cow | a big farm animal | It eats grass and gives us milk.
- sheep | a farm animal with soft wool | We make warm clothes from its wool.
- hen | a farm bird | It lays eggs.
- dog | a friendly animal that lives with people | It can guard the house and likes to play.
- cat | a small animal that lives with people | It likes to sleep and to hunt mice.
@ what we get from {animals} : animal, animals, product
? {Animals} give us what?
? {Animals}: what do we get from them?
? What do people get from {a animal}?
? Why are {animals} useful?
? What good things do {animals} give us?
& And from {animals}?
? What do we get from {animals}?
? What does {a animal} give us?
? What do {animals} give us?
? Why do farmers keep {animals}?
! What useful things come from {a animal}?
! For what do people keep {animals}?
> {Animals} give us {product}.
- cow | cows | milk and meat
- hen | hens | eggs
- sheep | sheep | wool and milk
- bee | bees | honey
- goat | goats | milk and cheese
- duck | ducks | eggs and feathers
""",
)
widen(ANIMALS, asks_facts.ANIMALS)
