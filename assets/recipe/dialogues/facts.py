# ruff: noqa: E501 - one line an entry
"""Facts about countries, animals, time, space, words and things: one table a relation."""

from kestrel_assets.recipe.dialogues.grammar import topics

FACTS = topics(
    "facts",
    r"""
@ the capital of {country} : country, city, continent
? What is the capital[ city|] of {country}?
? Which city is the capital of {country}?
? What's the capital of {country}?
? [Can you tell me|Tell me|Please tell me] the capital of {country}[, please|].
? Name the capital of {country}[, please|].
? What is the name of the capital of {country}?
! Do you know {country}'s capital?
! I would like to know the capital of {country}.
! Which town is {country}'s capital city?
> The capital of {country} is {city}.
> {city} is the capital[ city|] of {country}.
> It is {city}. [{country} is in {continent}.|{city} is the capital of {country}.]
+ {country} is a country in {continent}, and {city} is its capital.
- France | Paris | Europe
- Germany | Berlin | Europe
- Italy | Rome | Europe
- Spain | Madrid | Europe
- Portugal | Lisbon | Europe
- England | London | Europe
- Scotland | Edinburgh | Europe
- Ireland | Dublin | Europe
- Norway | Oslo | Europe
- Sweden | Stockholm | Europe
- Finland | Helsinki | Europe
- Denmark | Copenhagen | Europe
- Poland | Warsaw | Europe
- Austria | Vienna | Europe
- Hungary | Budapest | Europe
- Greece | Athens | Europe
- Belgium | Brussels | Europe
- Switzerland | Bern | Europe
- Russia | Moscow | Europe and Asia
- Ukraine | Kyiv | Europe
- Romania | Bucharest | Europe
- Bulgaria | Sofia | Europe
- Croatia | Zagreb | Europe
- Iceland | Reykjavik | Europe
- Turkey | Ankara | Asia and Europe
- China | Beijing | Asia
- Japan | Tokyo | Asia
- India | New Delhi | Asia
- Thailand | Bangkok | Asia
- South Korea | Seoul | Asia
- Nepal | Kathmandu | Asia
- Egypt | Cairo | Africa
- Kenya | Nairobi | Africa
- Morocco | Rabat | Africa
- Ethiopia | Addis Ababa | Africa
- Ghana | Accra | Africa
- Canada | Ottawa | North America
- Mexico | Mexico City | North America
- Cuba | Havana | North America
- Brazil | Brasilia | South America
- Argentina | Buenos Aires | South America
- Peru | Lima | South America
- Chile | Santiago | South America
- Australia | Canberra | Australia
- New Zealand | Wellington | the South Pacific
@ where {country} is : country, continent
? Where is {country}?
? [On|In] which continent is {country}?
? In what part of the world is {country}?
? Can you tell me where {country} is?
? What continent is {country} in?
! Where can I find {country} on the map?
! To which continent does {country} belong?
> {country} is in {continent}.
> {country} is a country in {continent}.
> You can find {country} in {continent}.
- France | Europe
- Germany | Europe
- Italy | Europe
- Spain | Europe
- Norway | Europe
- Poland | Europe
- Greece | Europe
- China | Asia
- Japan | Asia
- India | Asia
- Thailand | Asia
- Egypt | Africa
- Kenya | Africa
- Ghana | Africa
- Morocco | Africa
- Canada | North America
- Mexico | North America
- Brazil | South America
- Peru | South America
- Chile | South America
- Argentina | South America
@ what people speak in {country} : country, language
? What language do [people|they] speak in {country}?
? Which language is spoken in {country}?
? What do people speak in {country}?
? What is the language of {country}?
! In {country}, what language would I hear?
! Which language do I need in {country}?
> [Most people in {country} speak {language}.|People in {country} speak {language}.]
> In {country}, most people speak {language}.
- France | French
- Germany | German
- Austria | German
- Italy | Italian
- Spain | Spanish
- Mexico | Spanish
- Argentina | Spanish
- Peru | Spanish
- Chile | Spanish
- Brazil | Portuguese
- Portugal | Portuguese
- England | English
- Australia | English
- Japan | Japanese
- China | Chinese
- Poland | Polish
- Greece | Greek
- Russia | Russian
- Sweden | Swedish
- Norway | Norwegian
- Denmark | Danish
- Hungary | Hungarian
- Egypt | Arabic
- Turkey | Turkish
@ what {animals} eat : animal, animals, food
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
> {A animal} eats {food}.
> {Animals} like to eat {food}.
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
? Where do {animals} live?
? Where does {a animal} live?
? Where can I [find|see] {animals}?
? What is the home of {animals}?
? Tell me where {animals} live[, please|].
! Do you know where {animals} live?
! In what kind of place would I meet {a animal}?
! Where is {a animal} at home?
> {Animals} live {place}.
> {A animal} lives {place}.
> You can find {animals} {place}.
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
> {Animals} {verb}. [It sounds like "{sound}".|They go "{sound}".]
> {A animal} goes "{sound}, {sound}"!
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
? What is a [baby|young] {animal} called?
? What do you call a [baby|young] {animal}?
? How do you call a [baby|young] {animal}?
? What is the name for a [baby|young] {animal}?
? What is the word for a [baby|young] {animal}?
! Which word do we use for the child of {a animal}?
! The baby of {a animal} has a name. What is it?
> A [baby|young] {animal} is called {a baby}.
> It is called {a baby}.
> We call a [baby|young] {animal} {a baby}.
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
? How many legs does {a animal} have?
? How many legs do {animals} have?
? What number of legs does {a animal} have?
? How many legs has {a animal} got?
! Count the legs of {a animal} for me.
! On how many legs does {a animal} walk?
> {A animal} has {number} legs.
> {Animals} have {number} legs.
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
> The {animal} is {kind}. {detail}
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
? What do we get from {animals}?
? What does {a animal} give us?
? What do {animals} give us?
? Why do farmers keep {animals}?
! What useful things come from {a animal}?
! For what do people keep {animals}?
> {Animals} give us {product}.
> We get {product} from {animals}.
- cow | cows | milk and meat
- hen | hens | eggs
- sheep | sheep | wool and milk
- bee | bees | honey
- goat | goats | milk and cheese
- duck | ducks | eggs and feathers
@ the colour of {thing} : thing, is, color
? What colo[u|]r {is} {thing}?
? Which colo[u|]r {is} {thing}?
? What is the colo[u|]r of {thing}?
? Tell me the colo[u|]r of {thing}[, please|].
? Do you know what colo[u|]r {thing} {is}?
! In which colour would I paint {thing}?
! {Thing}: which colour is that?
> {Thing} {is} {color}.
> The colour of {thing} is {color}.
- grass | is | green
- the sky on a clear day | is | blue
- snow | is | white
- a ripe banana | is | yellow
- a lemon | is | yellow
- a ripe tomato | is | red
- a strawberry | is | red
- a carrot | is | orange
- an orange | is | orange
- a leaf in summer | is | green
- a frog | is | often green
- milk | is | white
- coal | is | black
- chocolate | is | brown
- a pig | is | pink
- a crow | is | black
- an elephant | is | grey
- blood | is | red
- the sea | is | blue or green
- a plum | is | often purple
- the sun in the sky | is | yellow or white
- a zebra | is | black and white
- a fire engine | is | most often red
- a sunflower | is | yellow
- a cucumber | is | green
@ mixing {one} and {two} : one, two, result
? What colour do you get when you mix {one} and {two}?
? What do {one} and {two} make?
? What happens when I mix {one} and {two}[ paint|]?
? Mix {one} and {two}. What colour is it?
? What is {one} and {two} mixed[ together|]?
! I have {one} and {two} paint. What can I make from both?
! Which colour comes out of {one} with {two}?
> {One} and {two} make {result}.
> When you mix {one} and {two}, you get {result}.
- red | yellow | orange
- yellow | red | orange
- blue | yellow | green
- yellow | blue | green
- red | blue | purple
- blue | red | purple
- red | white | pink
- white | red | pink
- black | white | grey
- white | black | grey
@ the day after {day} : day, next, before
? What day comes after {day}?
? Which day comes after {day}?
? What is the day after {day}?
? What day follows {day}?
? If today is {day}, what day is tomorrow?
! Today is {day}. What will it be tomorrow?
! When {day} is over, which day begins?
> {next} comes after {day}.
> The day after {day} is {next}.
> After {day} comes {next}.
- Monday | Tuesday | Sunday
- Tuesday | Wednesday | Monday
- Wednesday | Thursday | Tuesday
- Thursday | Friday | Wednesday
- Friday | Saturday | Thursday
- Saturday | Sunday | Friday
- Sunday | Monday | Saturday
@ the day before {day} : day, next, before
? What day comes before {day}?
? Which day is before {day}?
? What is the day before {day}?
? If today is {day}, what day was yesterday?
! Today is {day}. What was it yesterday?
! Which day ends when {day} begins?
> {before} comes before {day}.
> The day before {day} is {before}.
- Monday | Tuesday | Sunday
- Tuesday | Wednesday | Monday
- Wednesday | Thursday | Tuesday
- Thursday | Friday | Wednesday
- Friday | Saturday | Thursday
- Saturday | Sunday | Friday
- Sunday | Monday | Saturday
@ the month after {month} : month, next, before
? What month comes after {month}?
? Which month comes after {month}?
? What is the month after {month}?
? What month follows {month}?
! When {month} is over, which month begins?
! It is {month}. What is the next month?
> {next} comes after {month}.
> The month after {month} is {next}.
> After {month} comes {next}.
- January | February | December
- February | March | January
- March | April | February
- April | May | March
- May | June | April
- June | July | May
- July | August | June
- August | September | July
- September | October | August
- October | November | September
- November | December | October
- December | January | November
@ the month before {month} : month, before
? What month comes before {month}?
? Which month is before {month}?
? What is the month before {month}?
! It is {month}. What was the last month?
> {before} comes before {month}.
> The month before {month} is {before}.
- February | January
- March | February
- April | March
- May | April
- June | May
- July | June
- August | July
- September | August
- October | September
- November | October
- December | November
- January | December
@ how many days {month} has : month, days
? How many days does {month} have?
? How many days are [there|] in {month}?
? How long is {month}?
? How many days has {month} got?
! Count the days of {month}.
! {month} is how many days long?
> {month} has {days} days.
> There are {days} days in {month}.
- January | 31
- March | 31
- April | 30
- May | 31
- June | 30
- July | 31
- August | 31
- September | 30
- October | 31
- November | 30
- December | 31
- February | 28 or 29
@ {whole} : whole, ask, answer
? How many {ask}?
? Can you tell me how many {ask}?
? Do you know how many {ask}?
? Tell me how many {ask}[, please|].
! I would like to know how many {ask}.
! What is the number? I mean, how many {ask}?
> {answer}
- the days of the week | days are in a week | There are seven days in a week.
- the months of the year | months are in a year | There are twelve months in a year.
- the days of a year | days are in a year | There are 365 days in a year, and 366 in a leap year.
- the weeks of a year | weeks are in a year | There are 52 weeks in a year.
- the hours of a day | hours are in a day | There are 24 hours in a day.
- the minutes of an hour | minutes are in an hour | There are 60 minutes in an hour.
- the seconds of a minute | seconds are in a minute | There are 60 seconds in a minute.
- the seasons | seasons are in a year | There are four seasons: spring, summer, autumn and winter.
- fingers | fingers are on one hand | There are five fingers on one hand.
- toes | toes are on two feet | There are ten toes on two feet.
- the letters of the alphabet | letters are in the English alphabet | There are 26 letters in the English alphabet.
- the planets | planets go around the sun | Eight planets go around the sun.
- the continents | continents are on the Earth | There are seven continents.
- the oceans | oceans are on the Earth | There are five oceans.
- the colours of the rainbow | colours are in a rainbow | There are seven colours in a rainbow.
- wheels of a car | wheels are on a car | A car has four wheels.
- wheels of a bicycle | wheels are on a bicycle | A bicycle has two wheels.
- a dozen | eggs are in a dozen | There are twelve eggs in a dozen.
- a pair | shoes are in a pair | There are two shoes in a pair.
- years of a century | years are in a century | There are 100 years in a century.
@ the season of {season} : season, months, weather
? When is {season}?
? Which months are [in|] {season}?
? In which months is it {season}?
? What is {season} like?
? Tell me about {season}.
! What happens in {season}?
! What can you say about the season {season}?
> In the north of the world, {season} is in {months}. {weather}
> {weather} In the north, it is in {months}.
- spring | March, April and May | The days get longer and the first flowers come out.
- summer | June, July and August | The days are long and it is warm.
- autumn | September, October and November | The leaves turn red and yellow and fall from the trees.
- winter | December, January and February | The days are short and cold, and sometimes there is snow.
@ the season after {season} : season, next
? What season comes after {season}?
? Which season comes after {season}?
? What is the season after {season}?
! When {season} is over, which season begins?
> {Next} comes after {season}.
> After {season} comes {next}.
- spring | summer
- summer | autumn
- autumn | winter
- winter | spring
@ the planet {planet} : planet, detail
? What is {planet}?
? Tell me about [the planet|] {planet}.
? What do you know about [the planet|] {planet}?
? What kind of planet is {planet}?
? Can you tell me something about [the planet|] {planet}?
! I want to learn about the planet {planet}.
! Which planet is {planet}?
> {planet} is a planet. {detail}
> {planet} is one of the eight planets. {detail}
- Mercury | It is the planet nearest to the sun, and it is the smallest one.
- Venus | It is the hottest planet, and it shines brightly in the evening or morning sky.
- Earth | It is our home, with air, water and life.
- Mars | It is called the red planet, because its dust is red.
- Jupiter | It is the biggest planet of all.
- Saturn | It has wide rings of ice and rock.
- Uranus | It is a cold blue planet far from the sun.
- Neptune | It is the planet farthest from the sun.
@ which planet it is : ask, answer
? Which planet {ask}?
? What planet {ask}?
? What is the planet that {ask}?
? Can you tell me which planet {ask}?
? Do you know which planet {ask}?
! One of the planets {ask}. Which one?
! Name the planet that {ask}.
> {answer}
- is the biggest | Jupiter is the biggest planet.
- is the smallest | Mercury is the smallest planet.
- is nearest to the sun | Mercury is nearest to the sun.
- is farthest from the sun | Neptune is farthest from the sun.
- is red | Mars is called the red planet.
- has big rings | Saturn has big rings of ice and rock.
- is the hottest | Venus is the hottest planet.
- do we live on | We live on the Earth.
@ the opposite of {word} : word, other
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
> {Other} is the opposite of {word}.
> It is {other}.
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
? What is the plural of {word}?
? What's the plural of {word}?
? What is the plural form of {word}?
? Tell me the plural of {word}[, please|].
? How do you say {word} in the plural?
? One {word}, two what?
! Do you know the plural of {word}?
! I have one {word}. How do I say it when I have three?
> The plural of {word} is {plural}.
> We say one {word} and two {plural}.
> It is {plural}.
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
? What is the past [tense|form] of {word}?
? What is the past of {word}?
? How do you say {word} in the past?
? Tell me the past form of {word}.
! Today I {word}. What did I do yesterday?
! Do you know the past tense of {word}?
> The past of {word} is {past}. [Today I {word}, yesterday I {past}.|]
> It is {past}. We say: yesterday I {past}.
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
@ {a thing} : thing, use
? What is {a thing} for?
? What is {a thing} used for?
? What do we use {a thing} for?
? Why do people use {a thing}?
? What can I do with {a thing}?
? What is the use of {a thing}?
! For what would you need {a thing}?
! I found {a thing}. What is it good for?
! When do people need {a thing}?
> {A thing} is used to {use}.
> We use {a thing} to {use}.
> You can use {a thing} to {use}.
> People use {a thing} to {use}.
- hammer | hit nails
- saw | cut wood
- spoon | eat soup
- fork | pick up food
- knife | cut food
- pen | write and draw
- pencil | write and draw
- broom | sweep the floor
- umbrella | stay dry in the rain
- clock | tell the time
- key | open and close a lock
- bed | sleep in
- lamp | make light
- towel | dry yourself
- comb | make your hair neat
- toothbrush | clean your teeth
- needle | sew clothes
- ladder | climb up high
- bucket | carry water
- shovel | dig holes
- map | find the way
- fridge | keep food cold
- oven | bake bread and cakes
- phone | talk to people who are far away
- camera | take pictures
- boat | travel on water
- bicycle | ride from place to place
- coat | keep warm
- basket | carry things
- mirror | see yourself
- candle | make a small light
- rope | tie things
- bag | carry things
- ruler | measure how long things are
- kettle | boil water
- cup | drink tea or milk
- chair | sit on
- pillow | rest your head on
- blanket | keep warm at night
- brush | paint or clean
- compass | find north
- telescope | look at the stars
- microscope | see very small things
- thermometer | measure how hot or cold it is
- stamp | send a letter
- whistle | make a loud sound
- dictionary | look up words
@ {a shape} : shape, sides
? How many sides does {a shape} have?
? How many sides has {a shape} got?
? How many corners does {a shape} have?
? What is {a shape}?
? Tell me about the {shape}.
! Count the sides of {a shape} for me.
! What does {a shape} look like?
> {A shape} {sides}.
> {A shape} is a shape. It {sides}.
- triangle | has three sides and three corners
- square | has four equal sides and four corners
- rectangle | has four sides and four corners
- pentagon | has five sides and five corners
- hexagon | has six sides and six corners
- octagon | has eight sides and eight corners
- circle | is round and has no corners
@ {who} : who, does
? What does {a who} do?
? What is {a who}?
? What is the job of {a who}?
? What does {a who} do all day?
? What kind of work does {a who} do?
! Explain the work of {a who}.
! Why do we need {a who}?
> {A who} {does}.
> {A who} is a person who {does}.
- baker | bakes bread and cakes
- doctor | helps sick people to get well
- nurse | cares for sick people
- teacher | helps children to learn
- farmer | grows food and keeps animals
- firefighter | puts out fires and saves people
- police officer | keeps people safe
- pilot | flies planes
- cook | makes meals for people
- painter | paints pictures or walls
- gardener | looks after plants
- tailor | makes clothes
- sailor | works on a ship
- dentist | looks after our teeth
- vet | helps sick animals
- carpenter | makes things from wood
- writer | writes books and stories
- singer | sings songs for people
- builder | builds houses
- bus driver | drives a bus
- librarian | looks after books in a library
- postman | brings letters to people
- astronaut | flies into space
- scientist | tries to find out how the world works
- shoemaker | makes and mends shoes
@ our {part} : part, verb, use
? What do we use our {part} for?
? What are our {part} for?
? What do our {part} do?
? Why do we have {part}?
? What can we do with our {part}?
! What would be hard without {part}?
! How do {part} help us?
> We use our {part} to {use}.
> Our {part} help us to {use}.
- eyes | are | see
- ears | are | hear
- legs | are | walk and run
- hands | are | hold things
- teeth | are | bite and chew food
- lungs | are | breathe
- feet | are | stand and walk
- fingers | are | touch and hold small things
- lips | are | speak and kiss
- muscles | are | move
- bones | are | stand up and be strong
@ what {a thing} is made of : thing, material
? What is {a thing} made of?
? From what is {a thing} made?
? What do you need to make {a thing}?
! Which material is in {a thing}?
! What stuff do people make {a thing} from?
> {A thing} is [mostly|often|] made of {material}.
> People make {a thing} from {material}.
- window | glass
- table | wood
- book | paper
- tyre | rubber
- snowman | snow
- coin | metal
- candle | wax
- sweater | wool
- brick wall | bricks
- shoe | leather
- omelette | eggs
- nail | iron
@ where {thing} comes from : thing, from
? Where does {thing} come from?
? Where do we get {thing} from?
? What is {thing} made from?
? How do we get {thing}?
! Do you know where {thing} comes from?
! What is the source of {thing}?
> {Thing} comes from {from}.
> We get {thing} from {from}.
- milk | cows
- honey | bees
- wool | sheep
- bread | flour, and flour comes from grain
- cheese | milk
- butter | milk
- paper | wood
- wood | trees
- silk | silkworms
- chocolate | the beans of the cocoa tree
- cotton | a plant
- sugar | plants like sugar cane and sugar beet
- salt | the sea and from mines
- wine | grapes
- rain | the clouds
- light | the sun and from lamps
@ your yes or no question : thing, answer
? Is {thing}?
? Tell me, is {thing}?
? Please tell me: is {thing}?
? Can I ask you something? Is {thing}?
! What do you think, is {thing}?
! I want to know: is {thing}?
> {answer}
- a tomato a fruit | Yes. A tomato is a fruit, because it has seeds inside. In the kitchen we call it a vegetable.
- a whale a fish | No, a whale is not a fish. It breathes air and gives milk to its babies.
- a spider an insect | No, a spider is not an insect. It has eight legs, and insects have six.
- a penguin a bird | Yes, a penguin is a bird. It cannot fly, but it swims very well.
- a bat a bird | No, a bat is not a bird. It has fur and no feathers.
- the sun a star | Yes, the sun is a star. It is the star nearest to us.
- the moon a planet | No, the moon is not a planet. It goes around the Earth.
- the Earth flat | No, the Earth is round like a ball.
- a potato a vegetable | Yes, a potato is a vegetable. It grows under the ground.
- ice colder than water | Yes, ice is frozen water, and it is colder.
- gold a metal | Yes, gold is a yellow metal.
- glass hard | Yes, glass is hard, but it breaks easily.
- an elephant bigger than a mouse | Yes, an elephant is much bigger than a mouse.
- a mouse bigger than a horse | No, a horse is much bigger than a mouse.
- fire cold | No, fire is hot. Be careful with it.
- the sea salty | Yes, the water of the sea is salty.
- a dolphin a fish | No, a dolphin is not a fish. It breathes air.
- a kestrel a bird | Yes, a kestrel is a bird. It is a small falcon.
@ the {most} : most, answer
? What is the {most}?
? What's the {most}?
? Which is the {most}?
? Tell me the {most}[, please|].
? Do you know the {most}?
! Can you name the {most}?
! I would like to know the {most}.
> {answer}
- biggest animal in the world | The blue whale is the biggest animal in the world.
- biggest land animal | The elephant is the biggest land animal.
- tallest animal | The giraffe is the tallest animal.
- fastest animal on land | The cheetah is the fastest animal on land.
- biggest bird | The ostrich is the biggest bird.
- highest mountain in the world | Mount Everest is the highest mountain in the world.
- biggest ocean | The Pacific Ocean is the biggest ocean.
- biggest country in the world | Russia is the biggest country in the world.
- smallest country in the world | Vatican City is the smallest country in the world.
- biggest continent | Asia is the biggest continent.
- smallest continent | Australia is the smallest continent.
- biggest desert with hot sand | The Sahara in Africa is the biggest hot desert.
- biggest planet | Jupiter is the biggest planet.
- star nearest to us | The sun is the star nearest to us.
- shortest month of the year | February is the shortest month.
- first month of the year | January is the first month of the year.
- last month of the year | December is the last month of the year.
- first letter of the alphabet | The first letter of the alphabet is A.
- last letter of the alphabet | The last letter of the alphabet is Z.
- hardest natural stone | The diamond is the hardest natural stone.
- coldest place on Earth | Antarctica is the coldest place on Earth.
- longest river in Africa | The Nile is the longest river in Africa.
- king of the animals in stories | In stories, the lion is the king of the animals.
""",
)
