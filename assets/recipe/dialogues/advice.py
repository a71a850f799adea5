# ruff: noqa: E501 - one line an entry
"""Small advice for feelings and daily trouble."""

from kestrel_assets.recipe.dialogues import asks_talk
from kestrel_assets.recipe.dialogues.grammar import topics, widen

ADVICE = topics(
    "advice",
    r"""
@ feeling {feeling} : feeling, word, tip, second
? I am {word}, what now?
? I feel so {word}[!|.]
? I often feel {word}.
? What is good for somebody who is {word}?
? Somebody I know is {word}. What should I tell him?
? My sister is {word}. What can I do?
? Any advice? I am {word}.
? Help, I am {word}[!|.]
? I am a bit {word}[ today|].
? I am {word} and need help.
? What would help me? I am {word}.
? How can I help a friend who is {word}?
? Why am I so {word}? What can I do?
? I am {word}.
? I feel {word}[ today|].
? I am [so|very|a little] {word}[ today|].
? What can I do when I am {word}?
? What helps when [I am|you are|one is] {word}?
? I feel {word}. What [should|can] I do?
? I am {word}. Can you help me?
? What should I do if I feel {word}?
! Do you have a tip for me? I am {word}.
! My friend is {word}. What can help?
! Give me some advice. I am so {word}.
> [I am sorry to hear that.|That happens to everybody sometimes.] {tip} {second}
+ {second} [And be kind to yourself.|I hope it helps.|]
- sad | sad | It can help to talk to a friend or to listen to good music. | A walk in the fresh air is good, too.
- bored | bored | You could read a book, draw a picture or go for a walk. | Or I can tell you a story or a riddle.
- tired | tired | Take a rest and drink some water. | Going to bed early helps a lot.
- nervous | nervous | Breathe in slowly and count to four, then breathe out. | It also helps to think of something nice.
- angry | angry | Stop for a moment, breathe deeply and count to ten. | Later you can talk about it in a calm way.
- lonely | lonely | You could call a friend or someone in your family. | I am only a program, but I am happy to chat with you.
- afraid | afraid | Tell somebody you trust about it. | It helps to breathe slowly and to hold something soft.
- stressed | stressed | Make a list and do one small thing at a time. | A short break can do wonders.
- hungry | hungry | Eat something good, like bread, fruit or soup. | If you cook something, be careful with the hot pot.
- thirsty | thirsty | Drink a glass of water. | Tea is nice, too.
- cold | cold | Put on a warm sweater and drink something hot. | Moving around makes you warm, too.
- hot | hot | Drink water and find a place in the shade. | A wet cloth on your neck feels good.
- shy | shy | Start with a smile and a small hello. | Most people are happy when you talk to them.
- sick | sick | Rest in bed and drink a lot. | If it gets worse, please ask a doctor.
- homesick | homesick | Call your family or write them a letter. | It gets easier after some days.
- jealous | jealous | Think of the good things that you have. | It is normal, and you can talk about it.
- worried | worried | Tell someone what worries you. | A worry is often smaller when you say it out loud.
- unhappy | unhappy | Do one small thing that you like. | Talking to a friend can help, too.
@ {label} : label, said, tip
? {said}. What now?
? {said}. What would you do?
? {said}. What helps?
? {said}. Tell me what to do.
? Help! {said}.
? My problem: {said}.
? I have a problem. {said}.
? I need advice. {said}.
? Can you help me? {said}.
? What can I do? {said}.
? Any idea? {said}.
? {said}. What [should|can] I do?
? {said}.
? {said}. Can you help[ me|]?
? {said}. Do you have [any advice|an idea|a tip]?
! Please give me advice. {said}.
! {said}, and I need some help.
> {tip}
- your sleep | I cannot sleep | Try a warm drink and a quiet book, and turn off the screen. Breathe slowly and think of a nice place.
- your friend | I had a fight with my friend | Wait until you are both calm, and then talk. A kind "I am sorry" can do a lot.
- your test | I have a test tomorrow | Look at the main things once more, and go to bed early. A good sleep helps you to think.
- your lost key | I lost my key | Think of the last place where you had it. Look in your pockets, in your bag and under the table.
- your new school | I am new at school | Smile and ask someone for their name. Many children are happy to make a new friend.
- your room | My room is a mess | Start with one small corner. Put the clothes away first, then the books and toys.
- your homework | I do not want to do my homework | Do the easiest part first and take a short break after it. It feels good when it is done.
- your sick cat | My cat is sick | Please go to a vet. Give the cat a quiet place and fresh water until then.
- your headache | I have a headache | Drink some water and rest your eyes in a quiet room. If it stays, ask a doctor.
- your gift | I need a gift for my mother | A letter from you, some flowers or a cake you made are nice gifts. Things made by hand are often the best.
- your speech | I have to speak in front of my class | Practise it a few times at home. Speak slowly and look at a friendly face.
- the mean words | Somebody was mean to me | That was not nice of them. Talk about it with a friend or a grown-up you trust.
- the broken cup | I broke my mother's cup | Tell her the truth and say that you are sorry. She will be glad that you are honest.
- your fear of the dark | I am afraid of the dark | A small lamp can help. Think of a happy place and hold your blanket.
- making friends | I want to make new friends | Say hello, ask questions and listen well. You can also join a club or a game.
- your garden | My plant looks sad | Feel the soil. If it is dry, give it water, and put the plant near a window.
- your rainy day | It is raining and I want to go out | Put on boots and a coat and jump in the puddles. Or stay inside and build a tent from blankets.
- your birthday party | I want to plan a birthday party | Invite a few friends, make a cake and think of two or three games. Keep it simple.
""",
)
widen(ADVICE, asks_talk.ADVICE)
