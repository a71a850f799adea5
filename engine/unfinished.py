"""Files while they are written: beside their place, moved there when complete, and removed when their writer has
gone. A writer holds a lock on its file, which the system releases however the process ends."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None

SUFFIX = ".tmp"
ABANDONED_SECONDS = 600
"""Where files cannot be locked: a file that nobody has written to for so long has no writer any more."""


class UnfinishedFile:
    """A new file in `folder`, open for writing. Raises OSError."""

    def __init__(self, folder: Path):
        while True:
            descriptor, self.name = tempfile.mkstemp(dir=folder, suffix=SUFFIX)
            self.file = os.fdopen(descriptor, "wb")
            if fcntl is not None:
                with contextlib.suppress(OSError):
                    fcntl.flock(self.file, fcntl.LOCK_EX)
            # Before it had the lock, `remove_abandoned` of another process may have taken it for an abandoned one.
            if os.path.exists(self.name):
                return
            self.file.close()

    def move_to(self, path: Path) -> None:
        """It is complete. Raises OSError."""
        self.file.flush()
        if fcntl is None:
            self.file.close()  # such systems do not move open files
        os.replace(self.name, path)
        self.file.close()

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            os.unlink(self.name)


def remove_abandoned(folder: Path) -> None:
    """Remove what processes that no longer run left in `folder`."""
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError), open(path, "r+b") as file:
            if _is_abandoned(file):
                path.unlink()


def _is_abandoned(file) -> bool:
    """Afterwards it is locked, so that no writer begins with it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:  # not on this file system
            pass
    return time.time() - os.fstat(file.fileno()).st_mtime > ABANDONED_SECONDS
