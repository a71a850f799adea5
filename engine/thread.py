"""The engine thread: commands go in, events come out (docs/design.md §7). It alone touches model and state."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator

from kestrel_engine import garbage
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Cancel, Command, Event, Failed, Loading, Ready, SetSpeculation, Submit
from kestrel_engine.options import DraftLength, EngineOptions, SamplingOptions, SpeculationOptions

log = logging.getLogger("kestrel.engine")

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"


class Engine:
    """One model on one thread. `emit` is called on that thread with every event, in order."""

    def __init__(self, options: EngineOptions, emit: Callable[[Event], None]):
        self.options, self._emit = options, emit
        self.defaults = SamplingOptions()
        """Sampling defaults of the checkpoint, once Ready."""
        self._commands: queue.SimpleQueue[tuple[int, Submit | None]] = queue.SimpleQueue()
        self._submitted = 0
        self._cancelled_through = 0
        """Turns numbered up to this one are cancelled, whether running or still queued."""
        self._length_set: tuple[int, DraftLength] = (0, "auto")
        """Newest SetSpeculation, and the number of the turn it came in."""
        self._length_lock = threading.Lock()
        self._quitting = False
        self._loaded = None
        self._thread = threading.Thread(target=self._run, name="kestrel-engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, command: Command) -> None:
        """Queue a Submit; the other commands take effect within the running round. One sender thread."""
        if isinstance(command, Submit):
            self._submitted += 1
            self._commands.put((self._submitted, command))
        elif isinstance(command, Cancel):
            self._cancelled_through = self._submitted
        elif isinstance(command, SetSpeculation):
            length = SpeculationOptions(command.length).length
            with self._length_lock:
                self._length_set = (self._submitted, length)
                if self._loaded is not None:
                    self._loaded.session.draft_length = length
        else:
            self._quitting = True
            self._commands.put((0, None))

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def _run(self) -> None:
        if not self._load():
            return
        preparing = self._loaded.session.preparing()
        while not self._quitting:
            self._guarded(lambda: self._prepare(preparing))
            number, submit = self._commands.get()
            if submit is not None:
                self._guarded(lambda number=number, submit=submit: self._answer(number, submit))
        with self._length_lock:
            # Whoever gets the events may hold the engine as long as it likes, but no gigabytes.
            self._loaded = None
        garbage.release()

    def _load(self) -> bool:
        start = time.perf_counter()

        def load() -> None:
            self._emit(Loading("reading the model"))
            from kestrel_engine.loader import load  # imports the heavy libraries

            self._loaded = load(self.options, self._emit)
            garbage.keep(collect=False)  # collecting all that was loaded would take too long
            self.defaults = self._loaded.defaults
            loaded = self._loaded
            self._emit(
                Ready(
                    model=loaded.config.name,
                    format=loaded.format,
                    device=loaded.device,
                    threads=loaded.threads,
                    context=loaded.session.model.context,
                    load_ms=1e3 * (time.perf_counter() - start),
                    speculation_possible=loaded.config.has_mtp,
                )
            )

        return self._guarded(load, fatal=True)

    def _prepare(self, preparing: Iterator[None]) -> None:
        """Go on with what rounds will need, until a command comes."""
        while self._commands.empty() and next(preparing, self) is not self:
            pass

    def _guarded(self, action: Callable[[], None], fatal: bool = False) -> bool:
        """Run `action`; an exception becomes a Failed event and a log entry. True when nothing was raised."""
        try:
            action()
            return True
        except KestrelError as error:
            log.info("refused: %s", error)
            self._emit(Failed(str(error), fatal, error.exit_status))
        except MemoryError:
            log.exception("out of memory")
            self._emit(Failed("out of memory: use --quant q4 or a smaller --context", fatal))
        except Exception as error:
            log.exception("unexpected error")
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            advice = (
                "the log file has the details"
                if fatal
                else "the chat can go on; the log file has the details"
            )
            self._emit(Failed(f"the engine failed ({type(error).__name__}: {reason}): {advice}", fatal))
        return False

    def _answer(self, number: int, submit: Submit) -> None:
        def cancelled() -> bool:
            return self._quitting or number <= self._cancelled_through

        session = self._loaded.session
        turn = self._turn(submit, cancelled)
        with self._length_lock:
            set_in, length = self._length_set
            session.draft_length = length if set_in >= number else submit.speculation.length
        self._emit(session.answer(turn, self._emit, cancelled))

    def _turn(self, submit: Submit, cancelled: Callable[[], bool]):
        from kestrel_engine.session import Turn

        tokenizer = self._loaded.tokenizer
        boundary, reasoning = 0, False
        if submit.raw is not None:
            prompt = tokenizer.encode(submit.raw)
        else:
            messages = list(submit.messages)
            prompt = tokenizer.encode_chat(messages, submit.think)
            rendered = tokenizer.render(messages, submit.think)
            reasoning = rendered.rfind(THINK_OPEN) > rendered.rfind(THINK_CLOSE)
            if len(prompt) < self._loaded.session.state.capacity and not cancelled():
                # The chat so far without the generation prompt: the next turn begins with it.
                kept = tokenizer.encode_chat(messages, submit.think, add_generation_prompt=False)
                boundary = len(kept) if prompt[: len(kept)] == kept else 0
        return Turn(
            prompt=prompt,
            sampling=submit.sampling,
            max_tokens=submit.max_tokens,
            stop=submit.stop,
            drafter=submit.speculation.drafter,
            boundary=boundary,
            reasoning=reasoning,
        )
