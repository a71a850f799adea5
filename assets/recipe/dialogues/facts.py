"""All tables of facts together."""

from kestrel_assets.recipe.dialogues.facts_animals import ANIMALS
from kestrel_assets.recipe.dialogues.facts_places import PLACES
from kestrel_assets.recipe.dialogues.facts_things import THINGS
from kestrel_assets.recipe.dialogues.facts_time import TIME
from kestrel_assets.recipe.dialogues.facts_words import WORDS

FACTS = [*PLACES, *ANIMALS, *TIME, *WORDS, *THINGS]
