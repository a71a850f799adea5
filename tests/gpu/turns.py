"""Rounds of one chat that follow each other in every way, on the CPU and on the GPU backend: what came of each step,
the bits of the whole state behind it, what had to be sent to the device, and which passes were graphs. One JSON line
for each case.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import itertools
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checkpoints
import generate
import models
import numpy as np
import rounds

from kestrel_cuda.backend import CudaBackend
from kestrel_cuda.cursor import POSITION
from kestrel_cuda.memory import DeviceArray, Mirror
from kestrel_cuda.post import Post
from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import FirstHit, LookupDrafter, MtpDrafter
from kestrel_engine.model import Model
from kestrel_engine.options import SamplingOptions
from kestrel_engine.rollback import make_rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import run_round
from kestrel_engine.state import State

NOTHING, NUMBERS, PAIRS = "nothing", "numbers", "pairs"
"""What a round sends to the device: nothing, a few hundred numbers, or those and trunk rows."""
ECHOING = [
    ("turn", [9, 4, 30, 4, 7], None),
    ("snapshot", None),
    ("round", 2, "mtp", PAIRS),
    ("round", 1, "mtp", NOTHING),
    ("another", [3, 8, 2, 1, 7], None),
    ("round", 2, "mtp", PAIRS),
    ("round", 1, "mtp", NOTHING),
    ("back", None),
    ("round", 0, "mtp", NOTHING),  # both stand at the same place, behind other tokens
    ("round", 0, "mtp", NOTHING),
    ("round", 2, "mtp", PAIRS),
    ("round", 2, "guess", NUMBERS),
    ("round", 0, "mtp", NOTHING),
    ("round", 1, "mtp", NOTHING),
    ("round", 3, "lookup", NOTHING),  # the same token once more is there already
    ("stop", 2, "mtp", NOTHING),
    ("round", 1, "mtp", PAIRS),
    ("stop", 1, "mtp", NOTHING),
    ("turn", [3, 5], None),
    ("round", 0, "mtp", NUMBERS),
    ("round", 1, "mtp", PAIRS),
    ("fork", None),
    ("round", 0, "mtp", NOTHING),
    ("back", None),
    ("round", 1, "mtp", PAIRS),
    ("restore", None),
    ("turn", [8], None),
    ("round", 1, "mtp", PAIRS),
]
"""Steps of a model that says its last token again, which its head knows: every draft is right."""
PENALISED = [
    ("turn", [9, 4, 30, 12, 3, 9, 22, 41, 5, 17, 8, 30], None),
    ("round", 2, "mtp", PAIRS),
    ("round", 1, "mtp", NOTHING),
    ("stop", 2, "guess", NUMBERS),
    ("round", 1, "mtp", NOTHING),
]
CASES = {
    "drafts all right": ("q4", True, SamplingOptions(), ECHOING),
    "penalties": ("bf16", False, generate.PENALISED, PENALISED),
}
"""Name -> (format, echoing model, sampling, steps: what is done, with what, and what a round sends)."""


class Guess:
    """Proposes the certain token again, and at last another."""

    name = "guess"

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        return [next_token] * (count - 1) + [(next_token + 1) % 60]


class Chat:
    def __init__(self, model: Model, sampling: SamplingOptions):
        self.model, self.sampling, self.undo = model, sampling, make_rollback("cursor")
        self.state, self.other, self.kept = model.new_state(), None, None
        mtp = MtpDrafter(model, make_draft_head(model, 24, [60]))
        self.drafters = {"mtp": mtp, "guess": Guess(), "lookup": LookupDrafter()}
        self.token = 0

    def turn(self, tokens: list[int]) -> None:
        """More of the chat, whose last token is then certain, and another answer."""
        tokens = [self.token, *tokens] if self.state.length else tokens
        self.model.forward(self.state, tokens[:-1], len(tokens) - 1)
        self.token = tokens[-1]
        self.sampler = Sampler(self.sampling, self.model.backend, [*self.state.tokens, self.token])

    def round(self, length: int, drafter: str, stop=lambda token: False) -> list:
        drafters = FirstHit([self.drafters[drafter]])
        undo = self.undo, self.sampler, stop
        result = run_round(self.model, self.state, self.token, length, drafters, *undo)
        self.token = result.tokens[-1].id
        tokens = [[token.id, token.draft_index, token.logprob] for token in result.tokens]
        return [tokens, result.drafts, result.accepted, result.rejected_logprob, result.drafter]

    def stop(self, length: int, drafter: str) -> list:
        """A round whose first token ends the answer."""
        return self.round(length, drafter, lambda token: True)

    def snapshot(self) -> None:
        self.kept = self.state.snapshot()

    def restore(self) -> None:
        self.state.restore(self.kept)
        for drafter in self.drafters.values():
            getattr(drafter, "reset", lambda: None)()
        self.token = 4

    def fork(self) -> None:
        """Go on with a copy of the state."""
        self.other = self.state, self.token
        self.state = copy.deepcopy(self.state)

    def another(self, tokens: list[int]) -> None:
        """Go on with another chat."""
        self.other = self.state, self.token
        self.state = self.model.new_state()
        self.turn(tokens)

    def back(self) -> None:
        """Go on with the state before `fork` or `another`."""
        self.state, self.token = self.other


def on_host(item):
    """A copy of a state or of one of its layers, with its arrays in host memory."""
    if isinstance(item, DeviceArray):
        return item.host()
    if isinstance(item, list):
        return [on_host(part) for part in item]
    if dataclasses.is_dataclass(item):
        names = [each.name for each in dataclasses.fields(item) if each.init and each.name != "prepared"]
        return dataclasses.replace(item, **{name: on_host(getattr(item, name)) for name in names})
    return copy.deepcopy(item)


def look(cpu: Model, state: State) -> dict[str, str]:
    """A digest of each array of a state."""
    arrays = rounds.settled(cpu, on_host(state))
    return {name: hashlib.sha256(np.ascontiguousarray(a)).hexdigest()[:16] for name, a in arrays.items()}


def play(model: Model, cpu: Model, sampling: SamplingOptions, steps: list) -> tuple[list, list]:
    """-> of each step what came of it and how the state looks behind it, and what was sent to the device."""
    chat, results, sent = Chat(model, sampling), [], []
    counted = count_sent(model.post) if hasattr(model, "post") else []
    for name, *arguments, _ in steps:
        counted.clear()
        came = getattr(chat, name)(*arguments)
        sent.append(PAIRS if PAIRS in counted else NUMBERS if counted else NOTHING)
        results.append([came, look(cpu, chat.state)])
    return results, sent


def count_sent(post: Post) -> list[str]:
    """A list that takes the name of what is sent, whenever something is."""
    names: list[str] = []

    def count(name: str, mirror: Mirror) -> None:
        send = mirror.send

        def counted(first: int, end: int) -> None:
            names.append(name)
            send(first, end)

        mirror.send = counted

    count(NUMBERS, post._mirror)
    count(PAIRS, post._pairs)
    return names


def note_passes(model: Model) -> list[list]:
    """A list that takes each pass and round: what it is (its state, its name, rows; of a round who drafts, and from
    how many pairs), and whether its kernels were launched or a graph."""
    ran: list[list] = []
    replay, capture, states = model.replay, model.memory.capture, itertools.count()

    def replaying(state: State, key: tuple, work) -> None:
        what = [state.prepared.setdefault("number", next(states)), *key]
        if key[0] == "round":
            drafts = ("head", key[3]) if len(key) > 3 else ("another", 0)
            what = [*what[:2], key[2], *drafts]
        ran.append([what, "launched"])
        replay(state, key, work)

    def capturing(work):
        graph = capture(work)

        def captured() -> None:
            ran[-1][1] = "graph"
            graph()

        return captured

    model.replay, model.memory.capture = replaying, capturing
    return ran


def moved(model: Model) -> str:
    """What a round says when the device's cursors are not where they were."""
    chat = Chat(model, SamplingOptions())
    chat.turn([9, 4, 30])
    chat.round(0, "mtp")
    cursor = model.post.there["cursor"].host()
    cursor[POSITION] -= 1
    model.post.there["cursor"][...] = cursor
    try:
        chat.round(0, "mtp")
    except AssertionError as error:
        return str(error)
    return "no error"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for echo in (False, True):
            checkpoints.write_checkpoint(
                Path(folder, str(echo)), tokenizer=False, echo=echo, **generate.SHAPE
            )
        for name, (format, echo, sampling, steps) in CASES.items():
            if names and name not in names:
                continue
            cpu = models.load(Path(folder, str(echo)), format, context=64)
            gpu = models.load(Path(folder, str(echo)), format, CudaBackend(), context=64)
            expected, _ = play(cpu, cpu, sampling, steps)
            ran = note_passes(gpu)
            found, sent = play(gpu, cpu, sampling, steps)
            line = {"name": name, "steps": steps, "cpu": expected, "gpu": found, "sent": sent, "ran": [*ran]}
            print(json.dumps(line | ({"moved": moved(gpu)} if echo else {})), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
