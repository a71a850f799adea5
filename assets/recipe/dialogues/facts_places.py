"""Facts about countries, planets and the biggest and smallest things."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

PLACES = topics(
    "facts",
    r"""
@ the capital of {country} : country, city, continent
? Capital of {country}?
? Which city is {country}'s capital?
? {Country}: what is the capital?
? What is {country}'s capital city?
? The capital of {country} is which city?
? What city is the capital of {country}?
? Where does the government of {country} sit, in which capital?
? {Country} has which capital?
? What do you call the capital of {country}?
? For {country}, which city is the capital?
& And of {country}?
& And the capital of {country}?
& And {country}?
& What about {country}?
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
? Is {country} in Europe or somewhere else?
? {Country}: which continent is it in?
? Where in the world is {country}?
? {Country} is in which continent?
? Where does {country} lie?
? Where do I go if I travel to {country}?
& And {country}?
& And where is {country}?
? Where is {country}?
? [On|In] which continent is {country}?
? In what part of the world is {country}?
? Can you tell me where {country} is?
? What continent is {country} in?
! Where can I find {country} on the map?
! To which continent does {country} belong?
> {country} is in {continent}.
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
? {Country}: which language do people speak there?
? What is spoken in {country}?
? Which language do the people of {country} speak?
? What language is spoken in {country}?
? I am going to {country}. What do people speak there?
? How do people talk in {country}, in which language?
& And in {country}?
? What language do [people|they] speak in {country}?
? Which language is spoken in {country}?
? What do people speak in {country}?
? What is the language of {country}?
! In {country}, what language would I hear?
! Which language do I need in {country}?
> [Most people in {country} speak {language}.|People in {country} speak {language}.]
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
@ the planet {planet} : planet, detail
? What sort of planet is {planet}?
? Is {planet} a planet?
? The planet {planet}[, please|].
? Explain what {planet} is.
? Give me a fact about {planet}.
? Something about {planet}, please.
? {Planet}?
& And {planet}?
? What is {planet}?
? Tell me about [the planet|] {planet}.
? What do you know about [the planet|] {planet}?
? What kind of planet is {planet}?
? Can you tell me something about [the planet|] {planet}?
! I want to learn about the planet {planet}.
! Which planet is {planet}?
> {planet} is a planet. {detail}
- Mercury | It is the planet nearest to the sun, and it is the smallest one.
- Venus | It is the hottest planet, and it shines brightly in the evening or morning sky.
- Earth | It is our home, with air, water and life.
- Mars | It is called the red planet, because its dust is red.
- Jupiter | It is the biggest planet of all.
- Saturn | It has wide rings of ice and rock.
- Uranus | It is a cold blue planet far from the sun.
- Neptune | It is the planet farthest from the sun.
@ which planet it is : ask, answer
? Of all the planets, which {ask}?
? The planet that {ask}?
? I wonder which planet {ask}.
? Which one of the planets {ask}?
? Say which planet {ask}.
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
@ the {most} : most, answer
? {Most}?
? The {most}?
? The {most}, please.
? Tell me what the {most} is.
? Say the {most}.
? I wonder what the {most} is.
? I am looking for the {most}.
? Could you tell me the {most}?
? What can be called the {most}?
? What do people call the {most}?
& And the {most}?
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
widen(PLACES, asks_facts.PLACES)
