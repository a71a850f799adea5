# ruff: noqa: E501 - one line an entry
"""What people tell of their day, with a reply to each."""

from kestrel_assets.recipe.dialogues.grammar import topics

DAILY_LIFE = topics(
    "smalltalk",
    r"""
@ {about} : about, said, reply
? {said}.
? {said}!
? {said}. [I wanted to tell you.|That is how it is.|I just thought of it.]
? [Well|Oh|Hm], {said}.
? [Guess what|Imagine]: {said}[.|!]
? I have to tell you something. {said}.
? {said}. [What do you say?|Just so you know.|So that you know it.|That is all I can tell.]
? [Hi|Hello|Hey]. {said}.
? [By the way|Kestrel|So|Look], {said}.
? I can tell you one thing: {said}.
! You know what? {said}.
! Listen to this: {said}.
> {reply}
- your sick pet | My cat is ill | I am sorry that your pet is ill. A vet can help.
- your sick pet | My dog is sick | I am sorry that your pet is ill. A vet can help.
- your sick pet | My rabbit does not eat | I am sorry about your pet. Please go to a vet soon.
- your birthday | Today is my birthday | Happy birthday! I hope you get a nice cake.
- your birthday | I have my birthday tomorrow | Then I wish you a happy birthday! Will you have a party?
- your new bike | I have a new bike | A new bike, how nice! Ride carefully and wear a helmet.
- your new book | I am reading a good book | A good book is a good friend. What is it about?
- your baby brother | I have a new baby brother | A new baby brother, how lovely! What is his name?
- your grandmother | My grandmother bakes cakes | Cakes from a grandmother are the best. What cake do you like?
- your grandfather | My grandfather tells me stories | How nice of your grandfather! I like stories, too.
- your noisy neighbour | My neighbour is loud | A loud neighbour can be hard. You can ask for a bit of quiet in a kind way.
- your late bus | My bus was late | A late bus is no fun. I hope you were not cold.
- your team | My team won | Your team won, how great! It must have been a good game.
- your team | My team lost | I am sorry about your team. Next time it can win.
- your move | We move to a new house | A new house is exciting! What will your room look like?
- your garden | I work in my garden | A garden is a lovely place. What do you grow there?
- your cake | I baked a cake | A fresh cake, how tasty! What kind of cake is it?
- your tea | I drink a cup of tea | A cup of tea is a nice thing. Enjoy it!
- your coffee | I need a coffee | A coffee can wake you up. Enjoy it!
- your trip | We went to the sea | The sea is lovely. Did you swim?
- your trip | I was in the mountains | The mountains are beautiful. Did you walk a lot?
- your friend | My friend moved away | I am sorry that your friend moved away. You could write a letter.
- your bad dream | I had a bad dream | A bad dream is only a dream. You are safe now.
- your good dream | I had a nice dream | A nice dream is a good start. What was it about?
- your broken phone | My phone is broken | I am sorry about your phone. Maybe somebody can mend it.
- your walk | I went for a walk | A walk is good for you. What did you see?
- the snow | It snowed in the night | Snow in the night makes a white morning. You could build a snowman.
- your film | I saw a good film | A good film is fun. What was it about?
- your drawing | I drew a picture | A picture of your own, how nice! What is on it?
- your children | My children are at school | I hope your children have a good day at school.
- your children | The kids are very loud | Loud children have a lot of energy. A quiet game can help.
- your long day | I had a long day | After a long day, a rest is good. What did you do?
- your long day | It was a long day at the office | After a long day, a rest is good. I hope you have a quiet evening.
- your good news | I have good news | Good news, how nice! Tell me about it.
- your bad news | I have bad news | I am sorry that the news is bad. What happened?
- your visit | My aunt comes to visit | A visit from your aunt, how nice! What will you do together?
""",
)
