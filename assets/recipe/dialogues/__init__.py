"""Generated assistant dialogues: templates and grammars written for this project."""

from kestrel_assets.recipe.dialogues.compose import generate, questions

__all__ = ["generate", "questions"]
