"""Facts about things: colours, uses, shapes, jobs, parts of the body, materials."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

THINGS = topics(
    "facts",
    r"""
@ the colour of {thing} : thing, is, color
? What colour does {thing} have?
? Colo[u|]r of {thing}?
? {Thing} {is} which colo[u|]r?
? Which colo[u|]r does {thing} have?
? Say the colour of {thing}.
? Is {thing} red, green or what?
? I am painting {thing}. Which colour do I take?
? I want to draw {thing}. What colour {is} it?
? What do we say about the colour of {thing}?
& And {thing}?
& And the colour of {thing}?
? What colo[u|]r {is} {thing}?
? Which colo[u|]r {is} {thing}?
? What is the colo[u|]r of {thing}?
? Tell me the colo[u|]r of {thing}[, please|].
? Do you know what colo[u|]r {thing} {is}?
! In which colour would I paint {thing}?
! {Thing}: which colour is that?
> {Thing} {is} {color}.
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
? {One} and {two} make which colour?
? {One} with {two}?
? {One} plus {two}: which colour is it?
? If you mix {one} and {two}, what is it?
? I mix {one} with {two}. What will I see?
? Which colour do {one} and {two} make?
? What can I get from {one} and {two}?
& And {one} and {two}?
? What colour do you get when you mix {one} and {two}?
? What do {one} and {two} make?
? What happens when I mix {one} and {two}[ paint|]?
? Mix {one} and {two}. What colour is it?
? What is {one} and {two} mixed[ together|]?
! I have {one} and {two} paint. What can I make from both?
! Which colour comes out of {one} with {two}?
> {One} and {two} make {result}.
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
@ {a thing} : thing, use
? What do people do with {a thing}?
? What does one do with {a thing}?
? {A thing}: what is it for?
? Why do we have {a thing}?
? What do I need {a thing} for?
? How is {a thing} useful?
? {A thing} is used for what?
? How do people use {a thing}?
? Tell me what {a thing} is for.
? What does {a thing} help us to do?
& And {a thing}?
& And what is {a thing} for?
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
? {A shape}: how many corners?
? Sides of {a shape}?
? How many sides are there in {a shape}?
? Tell me how many sides {a shape} has.
? What kind of shape is {a shape}?
? Describe {a shape}.
& And {a shape}?
? How many sides does {a shape} have?
? How many sides has {a shape} got?
? How many corners does {a shape} have?
? What is {a shape}?
? Tell me about the {shape}.
! Count the sides of {a shape} for me.
! What does {a shape} look like?
> {A shape} {sides}.
- triangle | has three sides and three corners
- square | has four equal sides and four corners
- rectangle | has four sides and four corners
- pentagon | has five sides and five corners
- hexagon | has six sides and six corners
- octagon | has eight sides and eight corners
- circle | is round and has no corners
@ {who} : who, does
? {A who}: what does he or she do?
? What work does {a who} do?
? What is {a who} good at?
? Tell me what {a who} does.
? Who is {a who}?
? What does {a who} do at work?
? Describe the job of {a who}.
? What do you know about the job of {a who}?
& And {a who}?
& And what does {a who} do?
? What does {a who} do?
? What is {a who}?
? What is the job of {a who}?
? What does {a who} do all day?
? What kind of work does {a who} do?
! Explain the work of {a who}.
! Why do we need {a who}?
> {A who} {does}.
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
? {Part}: what are they for?
? How do we use our {part}?
? What are {part} good for?
? Tell me what our {part} do.
? What is the use of our {part}?
& And our {part}?
? What do we use our {part} for?
? What are our {part} for?
? What do our {part} do?
? Why do we have {part}?
? What can we do with our {part}?
! What would be hard without {part}?
! How do {part} help us?
> We use our {part} to {use}.
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
? {A thing} is made of what?
? {A thing}: what is it made of?
? What do people use to make {a thing}?
? Tell me what {a thing} is made of.
? Of what do we make {a thing}?
& And {a thing}?
? What is {a thing} made of?
? From what is {a thing} made?
? What do you need to make {a thing}?
! Which material is in {a thing}?
! What stuff do people make {a thing} from?
> {A thing} is [mostly|often|] made of {material}.
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
? {Thing} comes from where?
? {Thing}: where does it come from?
? From where do we get {thing}?
? Tell me where {thing} comes from.
? Where is {thing} from?
? What gives us {thing}?
& And {thing}?
& And where does {thing} come from?
? Where does {thing} come from?
? Where do we get {thing} from?
? What is {thing} made from?
? How do we get {thing}?
! Do you know where {thing} comes from?
! What is the source of {thing}?
> {Thing} comes from {from}.
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
? Is it true? Is {thing}?
? Yes or no: is {thing}?
? Somebody said no, but is {thing}?
? I am not sure. Is {thing}?
? Can you say if it is so: is {thing}?
? Quick, is {thing}?
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
""",
)
widen(THINGS, asks_facts.THINGS)
