"""More training questions for the tables of facts, definitions and reasons."""

ANIMALS = r"""
@ what {animals} eat
? Which [food|things] [is|are] good for {a animal}?
? I [keep|have] {a animal}. What [should|must|can] it eat?
? My [neighbour|aunt|uncle] has {a animal}. What does it [eat|need to eat]?
? What [would|will] {a animal} [eat|want to eat] in the [morning|evening]?
? [Let me know|Please say|Say] what {animals} eat.
? What do {animals} [find|look for] when they are hungry?
? With what do people feed {animals}?
? What is the [favourite|usual|normal] food of {animals}?
? What [kind|sort] of food do {animals} [need|eat|take]?
? By eating what do {animals} live?
? What is [on the menu of|a good meal for] {a animal}?
? How do {animals} feed themselves? What do they eat?
? Feeding {animals}: [what with|what do I need]?
@ where {animals} live
? Which place is home to {animals}?
? [Let me know|Please say|Say] where {animals} live.
? Where [would|will|could] I [look for|see|meet] {animals}?
? I am looking for {a animal}. Where [should|can] I go?
? Where in nature do {animals} live?
? What sort of place do {animals} [live in|like|need]?
? In which places are {animals} found?
? Where does {a animal} have its home?
? Where do {animals} [spend their life|make their home|sleep and live]?
? If I want to see {a animal}, where do I look?
@ the sound of {animals}
? [Let me know|Say] what {a animal} says.
? With which [noise|sound] does {a animal} [call|talk]?
? What is the [noise|call|voice] of {a animal}?
? My little [son|brother] asks what {a animal} says.
? How does {a animal} go?
? What noise [comes from|is made by] {animals}?
? Can you sound like {a animal}?
? What does {a animal} do with its voice?
? Which noise do {animals} make?
@ what a young {animal} is called
? What name is there for a [baby|small|young] {animal}?
? [Let me know|Say] what a young {animal} is called.
? {A animal} has a baby. What do we call it?
? A small {animal} is what?
? The young one of {a animal}: how is it called?
? When {a animal} is still [very young|a baby], what is it called?
? What is the [right|proper] word for a [young|baby] {animal}?
@ how many legs {a animal} has
? With how many legs does {a animal} [run|come]?
? {Animals} have how many legs?
? What is the number of legs of {a animal}?
? [Let me know|Say|Please say] how many legs {a animal} has.
? If I see {a animal}, how many legs [do I see|are there]?
? How many legs should I draw for {a animal}?
? Legs on {a animal}: how many?
@ what {a animal} is
? What type of animal is {a animal}?
? [Let me know|Say|Please say] what {a animal} is.
? I saw {a animal} at the zoo. What is it?
? What would you call {a animal}?
? I have never seen {a animal}. What is it?
? Teach me something about the {animal}[, please|].
? Say [something|a little] about {a animal}.
? Some words about {a animal}[, please|].
? I need [a fact|some facts|something] about {a animal} for school.
? What is there to know about {a animal}?
@ what we get from {animals}
? What do farmers get from {a animal}?
? [Let me know|Say|Please say] what {animals} give us.
? What are {animals} good for on a farm?
? {A animal} on a farm gives us what?
? What food or other things do we have from {animals}?
? A farmer has {animals}. What does he get from them?
"""

PLACES = r"""
@ the capital of {country}
? Which [town|city|place] is the capital of {country}?
? In {country}, what is the [capital|main city|capital city]?
? I am [flying|travelling|going] to the capital of {country}. [What is it called|Where is that]?
? [Let me know|Say|Please say] the capital of {country}.
? [Can|Could] you [name|give me] the capital of {country}?
? What is the [main|capital] city of {country} called?
? {Country} and its capital: what is the name?
? How is the capital of {country} called?
? The name of {country}'s capital[, please|]?
? [It is a quiz.|A quiz question:] Capital of {country}?
@ where {country} is
? On what [part|continent] of the [world|Earth] is {country}?
? [Let me know|Say|Please say] where {country} is.
? I want to [visit|travel to|see] {country}. Where is [it|that]?
? {Country}, where is that?
? Of which continent is {country} a part?
? {Country} is a country in what part of the world?
? What continent [has|holds] {country}?
@ what people speak in {country}
? {Country}: what do they speak?
? [Let me know|Say] which language they speak in {country}.
? Which language should I learn [for|before I go to] {country}?
? What is the mother tongue of people in {country}?
? In what language do people [talk|write|speak] in {country}?
? My friend is from {country}. What does he speak?
? A person from {country} speaks what?
@ the planet {planet}
? What is special about {planet}?
? Say [something|a little] about {planet}.
? Teach me something about {planet}.
? What should I know about [the planet|] {planet}?
? [Let me know|Say] what {planet} is like.
? How can one describe [the planet|] {planet}?
? I see {planet} in my book. What is it?
? What is there to say about {planet}?
@ which planet it is
? There is a planet that {ask}. Which is it?
? What is the planet called that {ask}?
? I am looking for the planet that {ask}.
? [Let me know|Please say] which planet {ask}.
? Give me the planet that {ask}.
@ the {most}
? [Let me know|Please say] what the {most} is.
? I am asking for the {most}.
? The {most} is what?
? The {most}: what is it?
? Which one is the {most}?
? What would you say is the {most}?
? It is a quiz: the {most}?
? Have you an idea what the {most} is?
"""

TIME = r"""
@ the day after {day}
? {Day} is today. What comes next?
? It is {day}. Which day is next?
? What day do we have after {day}?
? [Let me know|Say] which day is after {day}.
? {Day} is followed by which day?
? What is the next day, if it is {day} now?
@ the day before {day}
? It is {day}. Which day was before?
? {Day} comes after which day?
? [Let me know|Say] which day is before {day}.
? {Day} is today. Which day came before?
@ the month after {month}
? After {month}, which month is it?
? {Month} is followed by which month?
? Next month after {month}[, please|]?
? [Let me know|Say] which month is after {month}.
? In the calendar, what stands after {month}?
@ the month before {month}
? {Month} comes after which month?
? If it is {month} now, what was the month before?
? [Let me know|Say] which month is before {month}.
? In the calendar, what stands before {month}?
@ how many days {month} has
? The number of days in {month}[, please|]?
? With how many days does {month} come?
? [Let me know|Say] how many days there are in {month}.
? What is the length of {month} in days?
? Has {month} 30 or 31 days?
? How many days do we have in {month}?
@ {whole}
? [Let me know|Please say] how many {ask}.
? What do you think, how many {ask}?
? How many {ask}? I have to know it for school.
? Give me the number: how many {ask}?
? Have you an idea how many {ask}?
? How many, please: {ask}?
@ the season of {season}
? When in the year is {season}?
? How is the weather in {season}?
? [Let me know|Say] when {season} is.
? In which part of the year is {season}?
? What do people say about {season}?
? Which time of the year is {season}?
@ the season after {season}
? {Season} is followed by which season?
? What is the next season, if it is {season}?
? When it is {season} now, what comes next?
? [Let me know|Say] which season is after {season}.
"""

WORDS = r"""
@ the opposite of {word}
? What is a word for not {word}?
? {Word} and its opposite[, please|]?
? [Let me know|Say|Please say] the opposite of {word}.
? Turn {word} around: what is the opposite?
? Find a word that says the opposite of {word}.
? If something is not {word} at all, what do we say?
? What do you call the opposite of {word}?
? [Could|Can] you give me the opposite of {word}?
? I say {word}, you say the opposite.
? What stands against {word}?
@ the plural of {word}
? [Let me know|Please say] the plural of {word}.
? Make {word} plural[, please|].
? What does {word} become in the plural?
? There is one {word} here, and two what there?
? If there are many of them, {word} becomes what?
? [Could|Can] you put {word} into the plural?
? From one {word} to many: what is the word?
? What is the word for more than one {word}?
@ the past of {word}
? [Let me know|Please say] the past of {word}.
? What does {word} become in the past?
? Which form of {word} do I use for yesterday?
? [Could|Can] you put {word} into the past?
? In the past, {word} becomes what?
? The verb is {word}. What is its past form?
"""

THINGS = r"""
@ the colour of {thing}
? [Let me know|Please say] the colo[u|]r of {thing}.
? Which colo[u|]r do you see when you look at {thing}?
? Which pencil do I need for {thing}?
? I am drawing {thing}. Which pencil should I take?
? Of what colo[u|]r {is} {thing}?
? How does {thing} look? I mean the colour.
? What is a good colo[u|]r for {thing} in a picture?
@ mixing {one} and {two}
? Take {one}, add {two}. What colour is that?
? {One} mixed with {two} is what?
? [Let me know|Say] what {one} and {two} make.
? I put {one} on {two}. Which colour do I see?
? If there is {one} and I add {two}, what do I get?
? {One} and {two} together are which colour?
@ {a thing}
? [Let me know|Please say] what {a thing} is good for.
? Why would I [want|buy|need] {a thing}?
? What is the [purpose|job] of {a thing}?
? Somebody gave me {a thing}. What can I do with it?
? When is {a thing} [useful|helpful]?
? In which case does {a thing} help?
? What does {a thing} do for us?
? Who needs {a thing}, and why?
? What good is {a thing}?
? There is {a thing} on the table. What is it used for?
? To do what do people take {a thing}?
? {A thing} helps me to do what?
? At what time do I use {a thing}?
@ {who}
? [Let me know|Please say] what {a who} does.
? How does {a who} spend the day at work?
? What are the tasks of {a who}?
? What do people who work as {a who} do?
? My uncle is {a who}. What does he do?
? I want to become {a who}. What will I do?
? What is {a who} for?
? For what do people go to {a who}?
? Say something about the work of {a who}.
? When would I call {a who}?
@ our {part}
? [Let me know|Please say] what our {part} do.
? Why are {part} important?
? For what do we need our {part}?
? What can a person do with {part}?
? What job do our {part} have?
? {Part} are used for what?
? Without {part}, what could we not do?
@ what {a thing} is made of
? [Let me know|Please say] what {a thing} is made of.
? What is the [material|stuff] of {a thing}?
? {A thing}: which material?
? [Which|What] [material|stuff] is [used|needed|good] for {a thing}?
? What kind of [material|stuff] do people use for {a thing}?
? [What|Which material] does one need for {a thing}?
? What is inside {a thing}, wood or something else? What is it made of?
? Out of what do people make {a thing}?
? What do we find in {a thing}: glass, wood, metal or what?
? I want to make {a thing}. Which material do I need?
? What is {a thing} built from?
? Of which material is {a thing}?
? [Could|Can] you name the material of {a thing}?
? {A thing} consists of what?
? The material of {a thing}[, please|]?
? From which material [is|do they make] {a thing}?
? What are the things made of that we call {thing}?
? How is {a thing} made, I mean, of what material?
? To make {a thing}, people take what?
? I touch {a thing}. What material do I feel?
? What do they put into {a thing} when they make it?
? Tell me the material [of|for] {a thing}[, please|].
? Do people make {a thing} of wood, of metal or of something else?
@ where {thing} comes from
? [Let me know|Please say] where {thing} comes from.
? Who or what gives us {thing}?
? Out of what do we get {thing}?
? The origin of {thing}?
? How does {thing} get to us? Where does it come from?
? What do people need to get {thing}?
? {Thing} is made from what?
? From what or whom do we have {thing}?
@ your yes or no question
? Do you think it is true: is {thing}?
? I have a bet with a friend. Is {thing}?
? Your answer, please: is {thing}?
? My sister says yes, but is {thing}?
? Is {thing}, yes or no?
? Is {thing}? I think so.
? Is {thing}, or am I wrong?
? Really, is {thing}?
"""

WHY = r"""
@ why {what}
? How can it be that {what}?
? For what reason {asked}?
? [Let me know|Please say] why {what}.
? What makes it so that {what}?
? Is there a reason? I mean, why {asked}?
? Everybody knows that {what}, but why?
? I see that {what}. But why?
? Why do people say that {what}?
? What is behind it that {what}?
? I would be glad to hear why {what}.
? Teach me why {what}[, please|].
? Why {asked}? Please explain it.
? In school we learned that {what}. Why is it so?
? How do you explain that {what}?
"""

DEFINITIONS = r"""
@ {label}
? [Let me know|Please say|Say] what {asked} is.
? How can [I|one|we|a teacher] explain {asked}[ to a child| to my little brother| in a few words|]?
? How do people [explain|describe] {asked}?
? [Could|Can|Would] you explain {asked} [to me|to us|in easy words|in one sentence][, please|]?
? How [is|can] {asked} [explained|described] in simple words?
? What is the [meaning|sense] of {label}?
? [Could|Can] you describe {asked}?
? Explain {asked} [to me|to a child|to my son|in one sentence|so that I understand it][, please|].
? I have to explain {asked} at school. [What can I say?|Can you help?]
? I do not understand what {asked} is.
? The word {label}: [what does it mean|what is it]?
? [I heard|I read] the word {label}. What [does it mean|is it]?
? Please give me [an explanation|the meaning] of {label}.
? When somebody says {label}, what is it?
? What would a teacher say {asked} is?
? In one sentence, what is {asked}?
? Tell me the meaning of {label}[, please|].
? I am learning English. What does {label} mean?
? How do you understand the word {label}?
? [Would|Could] you be so kind as to explain {asked}?
? What have I to think of when I hear {label}?
? I am curious about {asked}. What is it?
? {Label}? I do not know that word.
"""
