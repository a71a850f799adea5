"""More training phrasings of sums, word problems, number facts and conversions."""

SUM = (
    "[Could|Would] you [work out|calculate|tell me] {sum}[, please|]?", "Let me know {sum}.",
    "[What|How much] do we have if we take {sum}?", "Do you know {sum}?", "I want to know what {sum} is.",
    "I am doing sums. What is {sum}?", "Here is a sum: {sum}.", "How many is {sum}?", "{sum} equals what?",
    "Help me with {sum}[, please|].", "What number is {sum}?", "Please answer: {sum}?", "Count {sum}.",
    "Say what {sum} is.", "Can you do {sum}?", "{sum}, please.", "What comes out of {sum}?",
    "Find out {sum}[, please|].", "What is it if I do {sum}?", "Quick: {sum}?", "I have to do {sum}.",
    "{sum}: how much is it?", "Try this: {sum}.", "[Kestrel|Okay|Now], what is {sum}?",
)  # fmt: skip
MORE = (
    "{name} has {a} {things}. Then {he} gets {b}. How many is that in all?",
    "At first {name} has {a} {things}, then {b} more. What is the total?",
    "{a} {things} and {b} {things}: how many {things} together?",
    "In a box are {a} {things}. {name} puts {b} more into it. How many are in the box?",
    "{name} found {a} {things} today and {b} yesterday. How many did {he} find?",
    "How many {things} does {name} have if {he} has {a} and buys {b}?",
    "We have {a} {things}. {name} gives us {b}. How many do we have?",
    "{a} {things} lie here and {b} lie there. How many are there in all?",
)
LESS = (
    "{name} has {a} {things} and eats or loses {b}. How many does {he} still have?",
    "Of {a} {things}, {b} are broken. How many are good?",
    "In a box are {a} {things}. {name} takes {b} out. How many are still in it?",
    "How many {things} does {name} have if {he} had {a} and lost {b}?",
    "We had {a} {things}. {name} took {b}. How many do we still have?",
    "{name} had {a} {things} and sold {b}. How many are left?",
    "There were {a} {things}. Now {b} are away. How many are still there?",
    "I had {a} {things} and gave away {b}. What is left?",
)
GROUPS = (
    "{a} bags, {b} {things} in each: how many {things}?",
    "{name} buys {a} boxes of {b} {things}. How many {things} are that?",
    "Each of {a} friends has {b} {things}. How many {things} are there?",
    "There are {a} tables and {b} {things} on each table. How many {things} do you see?",
    "{name} packs {b} {things} into each of {a} bags. How many {things} does {he} need?",
)
COMPARE = (
    "{a} or {b}: which is [bigger|more]?", "Who is bigger, {a} or {b}?", "Tell me the bigger number: {a} or {b}.",
    "I have {a} and {b}. Which is more?", "Compare {a} and {b}.", "Between {a} and {b}, which is more?",
    "Is {a} more than {b}?", "Is {a} larger than {b}?", "Say which is bigger, {a} or {b}.",
)  # fmt: skip
NEXT = (
    "Count on from {a}: what comes?",
    "After {a} comes what?",
    "{a} and one more is which number?",
    "Say the number after {a}.",
    "Give me the next number: {a}.",
    "Which number is right after {a}?",
    "If I count, what comes after {a}?",
)
BEFORE = (
    "Before {a} comes what?",
    "If I count back from {a}, what comes?",
    "{a} less one is which number?",
    "Say the number before {a}.",
    "Which number stands before {a}?",
    "{a} comes after which number?",
    "Take one from {a}. What is it?",
)
EVEN = (
    "Is the number {a} odd or even?", "Say whether {a} is odd or even.", "What kind of number is {a}, odd or even?",
    "Do we call {a} odd or even?", "Is {a} even?", "I have {a}. Even or odd?", "Is it right that {a} is even?",
)  # fmt: skip
DOUBLE = (
    "Twice {a}[, please|]?", "Two times {a} is what?", "Take {a} two times. What is it?", "{a} doubled is what?",
    "How much is double {a}?", "What is the double of {a}?", "Tell me twice {a}.", "Make {a} twice as big.",
    "I have {a} and want to double it.",
)  # fmt: skip
HALF = (
    "What is the half of {a}?", "One half of {a} is what?", "Tell me half of {a}.", "Divide {a} into two halves.",
    "Share {a} between two. How much is it for each?", "Halve {a}[, please|].", "{a} halved is what?",
    "Two children share {a} sweets. How many does each get?", "Give me half of {a}.", "I need half of {a}.",
)  # fmt: skip
CONVERT = (
    "[Could|Would] you [change|convert] {amount} to {small}s[, please|]?", "Let me know {amount} in {small}s.",
    "Say {amount} in {small}s.", "How do I say {amount} in {small}s?", "{Amount} in {small}s is how much?",
    "Write {amount} in {small}s.",
    "How many {small}s do I get for {amount}?", "{Amount} equals how many {small}s?", "Express {amount} in {small}s.",
    "How many {small}s make {amount}?", "I want {amount} in {small}s.", "Make {small}s of {amount}[, please|].",
    "What is the same as {amount}, but in {small}s?", "It takes {amount}. How many {small}s is it?",
    "[My homework|A sum]: {amount} in {small}s.", "If it is {amount}, how many {small}s is that?",
    "I need to change {amount} to {small}s.", "Count {amount} in {small}s.", "Go from {amount} to {small}s.",
)  # fmt: skip
