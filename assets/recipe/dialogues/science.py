# ruff: noqa: E501 - one line an entry
"""Why things happen and what words mean: one short entry a question."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

WHY = topics(
    "facts",
    r"""
@ why {what} : what, asked, because, more
? Why is it that {what}?
? {What}. Why?
? Why, oh why, {asked}?
? Can you say why {what}?
? I do not know why {what}.
? I read that {what}. Why is that?
? Somebody asked me: why {asked}?
? Do you understand why {what}?
? Is there an explanation why {what}?
? Why {asked}?
? Can you tell me why {what}?
? Do you know why {what}?
? Tell me why {what}[, please|].
? Can you explain why {what}?
? Please explain why {what}.
! What is the reason that {what}?
! I have always wondered why {what}.
! My child wants to know why {what}.
> {because}
+ {more}
- the sky is blue | is the sky blue | Light from the sun has many colours. The air spreads the blue light most, so the sky looks blue. | In the evening the light goes a long way through the air. Then mostly red light is left, and the sky looks red.
- it rains | does it rain | Clouds are made of tiny drops of water. When the drops get big and heavy, they fall down as rain. | The water comes from the sea and from rivers. The sun warms it, it rises up and makes new clouds.
- the sea is salty | is the sea salty | Rivers carry a little salt from rocks into the sea. The water goes up into the air, but the salt stays. | After millions of years there is a lot of salt in the sea.
- leaves fall in autumn | do leaves fall in autumn | In autumn there is less light and it gets cold. The tree lets its leaves go to save water for the winter. | Before they fall, many leaves turn red and yellow.
- we sleep | do we sleep | Our body and our head need rest. When we sleep, we get new strength. | Children need more sleep than grown-ups, because they are still growing.
- we eat | do we eat | Food gives our body energy. With it we can move, grow and keep warm. | Fruit and vegetables are good for us, and too much sugar is not.
- ice floats | does ice float | Ice is lighter than the same amount of water. So it stays on top. | Most of a big block of ice is under the water.
- birds fly south | do birds fly south | In winter there is little food in the cold. So many birds fly to warm lands and come back in spring. | Some birds fly thousands of kilometres each year.
- the moon shines | does the moon shine | The moon has no light of its own. It shines because the light of the sun falls on it. | That is why we do not always see the whole moon.
- there is day and night | is there day and night | The Earth turns around once a day. The side that looks at the sun has day, and the other side has night. | One full turn takes 24 hours.
- there are seasons | are there seasons | The Earth is a little tilted and goes around the sun. So each part gets more sun in summer and less in winter. | When it is summer in the north, it is winter in the south.
- plants need light | do plants need light | Plants make their food from light, air and water. Without light they cannot grow. | They take in carbon dioxide from the air and give back oxygen.
- we need water | do we need water | Our body is mostly made of water. We lose some of it every day, so we must drink. | A person can live only a few days without water.
- cats purr | do cats purr | Cats mostly purr when they feel safe and happy. Sometimes they purr to calm down. | You can feel it when you pet a cat.
- dogs wag their tails | do dogs wag their tails | Dogs show with their tail how they feel. Often they wag it when they are happy. | A tail between the legs often means that a dog is afraid.
- bees are important | are bees important | Bees carry pollen from flower to flower. Without them we would have much less fruit. | And they make honey, too.
- we brush our teeth | do we brush our teeth | Small bits of food stay on our teeth and make holes in them. Brushing takes the food away. | It is good to brush for about two minutes, two times a day.
- we wash our hands | do we wash our hands | Tiny germs on our hands can make us sick. Soap and water take them away. | It is good to wash your hands before you eat.
- iron rusts | does iron rust | Iron gets red and weak when water and air touch it for a long time. This is called rust. | Paint or oil keeps the water away from the iron.
- things fall down | do things fall down | The Earth pulls everything towards it. This pull is called gravity. | The moon pulls things too, but much less than the Earth.
- we see lightning before thunder | do we see lightning before thunder | Light is much faster than sound. So we see the lightning first and hear the thunder later. | If you count three seconds between them, the storm is about one kilometre away.
- snow is cold | is snow cold | Snow is made of tiny pieces of ice. Ice is frozen water, so it is cold. | Snow falls when it is cold in the clouds and near the ground.
- we have bones | do we have bones | Bones hold our body up and protect it. Without them we would be soft like a worm. | A grown-up has about 206 bones.
- our heart beats | does our heart beat | The heart pumps blood through the body. With each beat it pushes the blood on. | When you run, your heart beats faster.
- people yawn | do people yawn | People often yawn when they are tired or bored. Nobody knows exactly why. | If you see somebody yawn, you often yawn too.
- onions make us cry | do onions make us cry | When you cut an onion, it sends a sharp gas into the air. It stings the eyes, so they make tears. | A sharp knife and cold onions help a little.
- bears sleep in winter | do bears sleep in winter | In winter bears find little food. They sleep for a long time and live from their fat. | Before winter they eat a lot.
- the sun is important | is the sun important | The sun gives us light and warmth. Without it nothing could live on the Earth. | Plants need its light, and animals need the plants.
- fish live in water | can fish live in water | Fish breathe in water with their gills. The gills take oxygen out of the water. | Most fish cannot breathe in the air.
- boats float | do boats float | A boat is hollow and full of air. So it is light for its size, and the water can carry it. | If a boat has a hole, water comes in and it gets too heavy.
""",
)

DEFINITIONS = topics(
    "facts",
    r"""
@ {label} : label, asked, answer
? What is {asked}, in simple words?
? Do you know what {asked} is?
& And {asked}?
& And what is {asked}?
& What about {asked}?
? What is {asked}?
? What's {asked}?
? [Can you explain|Explain|Please explain] what {asked} is[, please|].
? Tell me what {asked} is[, please|].
? Do you know what {asked} is?
? What does the word {label} mean?
! How would you explain {asked}?
! What do people mean when they say {label}?
! A child asks what {asked} is. What do you say?
> {answer}
- rain | rain | Rain is water that falls from the clouds in small drops.
- snow | snow | Snow is frozen water. It falls from the clouds in soft white flakes.
- wind | wind | Wind is air that moves.
- cloud | a cloud | A cloud is made of very many tiny drops of water in the sky.
- rainbow | a rainbow | A rainbow is a band of colours in the sky. We see it when the sun shines on rain.
- thunder | thunder | Thunder is the loud sound of lightning.
- lightning | lightning | Lightning is a big spark in the sky during a storm.
- fog | fog | Fog is a cloud that is close to the ground. You cannot see far in it.
- ice | ice | Ice is water that is frozen and hard.
- steam | steam | Steam is water that is so hot that it turns into gas.
- gravity | gravity | Gravity is the pull that brings things down to the ground.
- volcano | a volcano | A volcano is a mountain from which hot melted rock can come out.
- earthquake | an earthquake | An earthquake is when the ground shakes.
- desert | a desert | A desert is a dry place where it almost never rains.
- island | an island | An island is land with water all around it.
- river | a river | A river is a long stream of water that flows to the sea or to a lake.
- lake | a lake | A lake is a big area of water with land all around it.
- mountain | a mountain | A mountain is a very high piece of land, higher than a hill.
- forest | a forest | A forest is a large place with many trees.
- ocean | an ocean | An ocean is a very big and deep sea.
- star | a star | A star is a big ball of hot gas that shines. The sun is a star.
- planet | a planet | A planet is a big ball that goes around a star. The Earth is a planet.
- moon | the moon | The moon is a ball of rock that goes around the Earth.
- sun | the sun | The sun is a star. It gives the Earth light and warmth.
- Earth | the Earth | The Earth is the planet on which we live.
- shadow | a shadow | A shadow is a dark place where something keeps the light away.
- echo | an echo | An echo is a sound that comes back to you from a wall or a mountain.
- seed | a seed | A seed is a small part of a plant from which a new plant can grow.
- root | a root | A root is the part of a plant under the ground. It drinks water.
- leaf | a leaf | A leaf is a flat green part of a plant. It catches the light.
- flower | a flower | A flower is the colourful part of a plant. It makes the seeds.
- tree | a tree | A tree is a tall plant with a trunk of wood, branches and leaves.
- insect | an insect | An insect is a small animal with six legs, like an ant or a bee.
- mammal | a mammal | A mammal is an animal that gives milk to its babies, like a cow or a cat.
- bird | a bird | A bird is an animal with feathers and wings. It lays eggs.
- fish | a fish | A fish is an animal that lives in water and breathes with gills.
- nest | a nest | A nest is a home that birds build for their eggs.
- egg | an egg | An egg is a round thing from which a young bird can come out.
- heart | the heart | The heart is the part of the body that pumps the blood.
- brain | the brain | The brain is the part of the body with which we think. It is in the head.
- blood | blood | Blood is the red liquid in our body. It carries food and oxygen.
- skin | the skin | The skin is the outside of our body. It keeps us safe and lets us feel.
- stomach | the stomach | The stomach is the part of the body where food goes after we eat.
- dream | a dream | A dream is a story that our head makes while we sleep.
- friend | a friend | A friend is a person you like and trust, and who likes you too.
- family | a family | A family is a group of people who belong together, like parents and children.
- school | a school | A school is a place where children go to learn.
- library | a library | A library is a place with many books that you can read or take home for some time.
- museum | a museum | A museum is a place where people can look at old or beautiful things.
- hospital | a hospital | A hospital is a place where doctors and nurses help sick people.
- farm | a farm | A farm is a place where people grow food and keep animals.
- market | a market | A market is a place where people buy and sell things.
- city | a city | A city is a very big town where many people live.
- village | a village | A village is a small place with a few houses.
- bridge | a bridge | A bridge is a way over a river or a road.
- castle | a castle | A castle is a big old house with thick walls and towers.
- king | a king | A king is a man who rules a country.
- queen | a queen | A queen is a woman who rules a country, or the wife of a king.
- money | money | Money is what we use to pay for things.
- letter | a letter | A letter is a written message. It can also be a sign like A or B.
- word | a word | A word is a group of letters or sounds that means something.
- sentence | a sentence | A sentence is a group of words that says something. It ends with a full stop.
- story | a story | A story tells what happened to somebody. It has a beginning, a middle and an end.
- poem | a poem | A poem is a short text with a nice sound. Often its lines rhyme.
- rhyme | a rhyme | A rhyme is when two words end with the same sound, like cat and hat.
- riddle | a riddle | A riddle is a tricky question. You must think to find the answer.
- joke | a joke | A joke is a short story or a question that makes people laugh.
- secret | a secret | A secret is something that you do not tell to other people.
- promise | a promise | A promise is when you say that you will surely do something.
- computer | a computer | A computer is a machine that works with numbers, words and pictures.
- program | a program | A program is a list of steps that a computer follows.
- robot | a robot | A robot is a machine that can do work by itself.
- internet | the internet | The internet joins computers all over the world, so that they can send words and pictures.
- magnet | a magnet | A magnet is a piece of metal that pulls iron.
- electricity | electricity | Electricity is a kind of energy. It makes lamps, phones and machines work.
- energy | energy | Energy is what we need to move, to work and to make heat or light.
- air | air | Air is the gas around us. We breathe it.
- oxygen | oxygen | Oxygen is a gas in the air. People and animals need it to live.
- water | water | Water is a clear liquid. All people, animals and plants need it.
- fire | fire | Fire is hot and bright. It burns wood, paper and other things.
- soil | soil | Soil is the earth in which plants grow.
- map | a map | A map is a picture of a place from above. It helps you to find the way.
- calendar | a calendar | A calendar shows the days, weeks and months of a year.
- alphabet | the alphabet | The alphabet is the list of all letters, from A to Z.
- vegetable | a vegetable | A vegetable is a plant that we eat, like a carrot or a cabbage.
- fruit | a fruit | A fruit is a part of a plant with seeds in it, like an apple. Many fruits are sweet.
- breakfast | breakfast | Breakfast is the first meal of the day.
- birthday | a birthday | A birthday is the day of the year on which a person was born.
- holiday | a holiday | A holiday is a day or a time when you do not have to work or go to school.
- courage | courage | Courage is when you do something although you are afraid.
- patience | patience | Patience is when you can wait without getting angry.
- kindness | kindness | Kindness is when you are good to others and help them.
- honesty | honesty | Honesty is when you tell the truth.
- falcon | a falcon | A falcon is a quick bird that hunts. A kestrel is a small falcon.
- dinosaur | a dinosaur | A dinosaur was an animal that lived very long ago. Some were huge. Birds come from dinosaurs.
- fossil | a fossil | A fossil is what is left of a very old plant or animal in stone.
- pirate | a pirate | A pirate is a robber on a ship.
- orchestra | an orchestra | An orchestra is a big group of people who make music together.
- piano | a piano | A piano is a big instrument with black and white keys.
- guitar | a guitar | A guitar is an instrument with strings that you play with your fingers.
- football | football | Football is a game with two teams. They try to kick the ball into the goal.
- chess | chess | Chess is a board game for two players. You try to catch the other king.
""",
)
widen(WHY, asks_facts.WHY)
widen(DEFINITIONS, asks_facts.DEFINITIONS)
