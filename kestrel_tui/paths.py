"""Where Kestrel keeps things: platformdirs folders of the application `kestrel`."""

from __future__ import annotations

from pathlib import Path

import platformdirs

_APPLICATION = {"appname": "kestrel", "appauthor": False}


def config_file() -> Path:
    return Path(platformdirs.user_config_dir(**_APPLICATION)) / "config.toml"


def chats_folder() -> Path:
    return Path(platformdirs.user_data_dir(**_APPLICATION)) / "chats"


def log_file() -> Path:
    return Path(platformdirs.user_state_dir(**_APPLICATION)) / "kestrel.log"


def make_private_folder(folder: Path) -> None:
    """Create `folder` and its parents, readable by their owner only. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
