"""Places in the `cursor` array [SIZE] int32 on the device: what changes from one replay of a graph to the next.

The first three say where a pass stands, the next three where the MTP head does.
"""

POSITION = 0
"""Position of a pass's first row."""
LOG_LENGTH = 1
"""Accepted records that the pass applies first."""
COMMIT = 2
"""Rows of the pass that enter the recurrent state."""
MTP_POSITION = 3
"""Position of the first pair that the MTP head takes."""
NEWEST_ROW = 4
"""The row of the newest pair, of those that the MTP head takes in one call."""
NEWEST_POSITION = 5
"""Its position."""
SIZE = 8


def round_cursor(length: int, log_length: int, mtp_length: int) -> list[int]:
    """The cursors of a round that begins behind `length` tokens, of which the MTP head has taken `mtp_length`."""
    newest = length - 1
    return [length, log_length, 1, mtp_length, newest - mtp_length, newest, 0, 0]
