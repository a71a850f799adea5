"""The files of a run: written whole or not at all, read with one-line errors."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from kestrel_assets.recipe.errors import RecipeError


def write_state(path: Path, state: dict) -> None:
    """Replaces `path` atomically."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_state(path: Path) -> dict | None:
    """The saved state, None if there is none. Raises RecipeError if the file is truncated or foreign."""
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        if not {"weights", "step", "settings"} <= state.keys():
            raise ValueError("not a checkpoint of this trainer")
    except Exception as error:  # torch raises many types for a damaged file
        raise RecipeError(
            f"{path} cannot be read ({str(error).splitlines()[0][:80]}); move it away to start again"
        ) from error
    return state


def check_settings(path: Path, saved: dict, wanted: dict) -> None:
    """Raises RecipeError naming the settings in which a run differs from its checkpoint."""
    changed = [key for key in wanted if saved.get(key) != wanted[key]]
    if changed:
        raise RecipeError(
            f"{path} was made with another {', '.join(changed)}; "
            "give the same values, or another --out for a new run"
        )
