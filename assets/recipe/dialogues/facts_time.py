"""Facts about days, months, seasons, and how many there are of what."""

from kestrel_assets.recipe.dialogues import asks_facts
from kestrel_assets.recipe.dialogues.grammar import topics, widen

TIME = topics(
    "facts",
    r"""
@ the day after {day} : day, next, before
? {Day}, and then?
? Day after {day}?
? What comes after {day}?
? The day after {day} is which one?
? Which day do we have after {day}?
? Tell me the day that comes after {day}.
? Yesterday was {day}. What is today?
& And after {day}?
? What day comes after {day}?
? Which day comes after {day}?
? What is the day after {day}?
? What day follows {day}?
? If today is {day}, what day is tomorrow?
! Today is {day}. What will it be tomorrow?
! When {day} is over, which day begins?
> {next} comes after {day}.
- Monday | Tuesday | Sunday
- Tuesday | Wednesday | Monday
- Wednesday | Thursday | Tuesday
- Thursday | Friday | Wednesday
- Friday | Saturday | Thursday
- Saturday | Sunday | Friday
- Sunday | Monday | Saturday
@ the day before {day} : day, next, before
? Day before {day}?
? What comes before {day}?
? Which day comes right before {day}?
? The day before {day} is which one?
? Tomorrow is {day}. What is today?
? Tell me the day that comes before {day}.
& And before {day}?
? What day comes before {day}?
? Which day is before {day}?
? What is the day before {day}?
? If today is {day}, what day was yesterday?
! Today is {day}. What was it yesterday?
! Which day ends when {day} begins?
> {before} comes before {day}.
- Monday | Tuesday | Sunday
- Tuesday | Wednesday | Monday
- Wednesday | Thursday | Tuesday
- Thursday | Friday | Wednesday
- Friday | Saturday | Thursday
- Saturday | Sunday | Friday
- Sunday | Monday | Saturday
@ the month after {month} : month, next, before
? {Month}, and then?
? Month after {month}?
? What comes after {month}?
? The month after {month} is which one?
? Which month do we have after {month}?
? Tell me the month that comes after {month}.
? If it is {month} now, which month comes next?
& And after {month}?
? What month comes after {month}?
? Which month comes after {month}?
? What is the month after {month}?
? What month follows {month}?
! When {month} is over, which month begins?
! It is {month}. What is the next month?
> {next} comes after {month}.
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
? Month before {month}?
? What comes before {month}?
? Which month comes before {month}?
? Which month comes right before {month}?
? The month before {month} is which one?
? Tell me the month that comes before {month}.
& And before {month}?
? What month comes before {month}?
? Which month is before {month}?
? What is the month before {month}?
! It is {month}. What was the last month?
> {before} comes before {month}.
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
? Days in {month}?
? {Month}: how many days?
? {Month} has how many days?
? Tell me how many days {month} has.
? How many days long is {month}?
? What number of days has {month}?
& And {month}?
? How many days does {month} have?
? How many days are [there|] in {month}?
? How long is {month}?
? How many days has {month} got?
! Count the days of {month}.
! {month} is how many days long?
> {month} has {days} days.
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
? Say how many {ask}.
? I wonder how many {ask}.
? Quick, how many {ask}?
? Could you tell me how many {ask}?
? I am not sure how many {ask}.
? The number, please: how many {ask}?
? How many {ask}, do you think?
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
? What do you know about {season}?
? How is it in {season}?
? Describe {season}.
? {Season}: when is it?
? In what months do we have {season}?
? Say something about {season}.
& And {season}?
? When is {season}?
? Which months are [in|] {season}?
? In which months is it {season}?
? What is {season} like?
? Tell me about {season}.
! What happens in {season}?
! What can you say about the season {season}?
> In the north of the world, {season} is in {months}. {weather}
- spring | March, April and May | The days get longer and the first flowers come out.
- summer | June, July and August | The days are long and it is warm.
- autumn | September, October and November | The leaves turn red and yellow and fall from the trees.
- winter | December, January and February | The days are short and cold, and sometimes there is snow.
@ the season after {season} : season, next
? Season after {season}?
? What comes after {season}?
? {Season}, and then?
? The season after {season} is which one?
? After {season}, what is next?
? Tell me the season that comes after {season}.
& And after {season}?
? What season comes after {season}?
? Which season comes after {season}?
? What is the season after {season}?
! When {season} is over, which season begins?
> {Next} comes after {season}.
- spring | summer
- summer | autumn
- autumn | winter
- winter | spring
""",
)
widen(TIME, asks_facts.TIME)
