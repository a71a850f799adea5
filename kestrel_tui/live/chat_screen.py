"""The screen of the chat: its widgets, its keys, and what they do."""

from __future__ import annotations

import asyncio
import time
from copy import copy as clone
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from kestrel_engine import garbage
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Loading, Prefill
from kestrel_tui.keys import ACTIONS, shown_key
from kestrel_tui.live import key_list, layout, saving
from kestrel_tui.live.bridge import Bridge
from kestrel_tui.live.clipboard import copy
from kestrel_tui.live.compositor import LeanCompositor
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.inspector import Inspector
from kestrel_tui.live.key_bar import KeyBar
from kestrel_tui.live.key_list import KeyList
from kestrel_tui.live.legend import Legend
from kestrel_tui.live.pace import Pace
from kestrel_tui.live.panel import Panel
from kestrel_tui.live.prompt_box import PromptBox
from kestrel_tui.live.status_line import StatusLine
from kestrel_tui.live.token_view import TokenView

FIGURES_PERIOD: Final = 0.3
"""Seconds between two repaints of the figures while tokens come."""

QUIT_PATIENCE: Final = 2.0
"""Seconds within which a second ctrl+c quits."""


@dataclass
class EngineSpoke(Message):
    """The engine has events; it is sent once until they are taken."""


@dataclass
class FrameDue(Message):
    """It is time for the next repaint."""


@dataclass
class FiguresDue(Message):
    """It is time to show the figures of what came meanwhile."""


class ChatScreen(Screen[int]):
    """The transcript, the panel beside it, and the prompt."""

    AUTO_FOCUS = "PromptBox"
    HORIZONTAL_BREAKPOINTS: ClassVar = layout.BREAKPOINTS
    CSS = layout.CSS

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: they work while the prompt has the focus.
        Binding(
            each.key,
            each.action,
            each.label,
            id=each.id,
            priority=True,
            show=each.rank is not None,
            tooltip=each.words,
        )
        for each in ACTIONS
    ]

    def __init__(self, conversation: Conversation, bridge: Bridge) -> None:
        super().__init__()
        self._compositor = LeanCompositor()
        self.conversation, self.bridge = conversation, bridge
        self._pace = Pace()
        self._started = 0.0
        self._progress: Loading | Prefill | None = None
        """What the status line says is being waited for."""
        self._is_flush_due = self._are_figures_due = False
        self._seen = len(conversation.transcript.tokens)
        """Tokens there were when the view last followed the end."""
        self._quit_before = 0.0

    # --- widgets -------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        # What is split off comes first. No containers: they would be painted under every row.
        yield KeyBar()
        yield PromptBox()
        yield Panel()
        yield TokenView(self.conversation.transcript)
        yield Inspector(shown_key(self.conversation.settings.keys, "answer.stop"))
        yield Legend()
        yield StatusLine()

    @property
    def view(self) -> TokenView:
        return self.query_one(TokenView)

    @property
    def prompt(self) -> PromptBox:
        return self.query_one(PromptBox)

    @property
    def inspector(self) -> Inspector:
        return self.query_one(Inspector)

    def on_mount(self) -> None:
        for turn in self.conversation.chat.turns:
            self.prompt.remember(turn.question)
        self.conversation.journal.notify = self.conversation.complain
        self.show()
        self.call_after_refresh(self._start_engine)

    def _start_engine(self) -> None:
        self._started = time.monotonic()
        self._clock = self.set_interval(1.0, self._count_seconds)
        try:
            self.bridge.start()
        except KestrelError as error:
            self.conversation.complain(str(error))
            self.show()

    def _count_seconds(self) -> None:
        """Show how long loading takes, while it does."""
        if self.conversation.ready is None and self.conversation.fatal is None:
            self.show()
        else:
            self._clock.stop()

    def on_screen_resume(self) -> None:
        self.show()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show)

    def tell(self, message: str, is_bad: bool = True) -> None:
        """A notice that passes."""
        self.notify(message, severity="warning" if is_bad else "information", markup=False)

    # --- the engine ----------------------------------------------------------------------------------------

    def on_engine_spoke(self) -> None:
        """Take the events now if the last repaint is a frame ago, else when it is."""
        if self._is_flush_due:
            return
        wait = self._pace.wait()
        if wait <= 0:
            self.flush()
        else:
            self._is_flush_due = True
            # Not set_timer: that drops its only tick when the machine is busy and the time is over at once.
            asyncio.get_running_loop().call_later(wait, self.post_message, FrameDue())

    def on_frame_due(self) -> None:
        self.flush()

    def on_figures_due(self) -> None:
        self._are_figures_due = False
        self.show()

    def flush(self) -> None:
        """Take what the engine said since the last time, and show it."""
        self._is_flush_due = False
        self._pace.begin()
        was_answering = self.conversation.is_answering
        for event in self.bridge.drain():
            self.conversation.take(event)
        self._give_back()
        is_steady = was_answering and self.conversation.is_answering
        self.show(figures=not is_steady)
        if is_steady and not self._are_figures_due:
            self._are_figures_due = True
            asyncio.get_running_loop().call_later(FIGURES_PERIOD, self.post_message, FiguresDue())
        if was_answering and not self.conversation.is_answering:
            garbage.keep(collect=True)

    def _give_back(self) -> None:
        """A question that waited for a model which cannot be had goes back to the prompt."""
        question = self.conversation.give_back()
        if question is not None and not self.prompt.text:
            self.prompt.put(question)

    def show(self, figures: bool = True) -> None:
        """Show the conversation as it is now. figures: the panel and the scroll bar too, which cost more."""
        if not self.is_mounted:
            return
        conversation, view = self.conversation, self.view
        panel = self.query_one(Panel)
        live = conversation.live_block
        view.set_live(live, conversation.guesses if live else ())
        view.sync(with_bar=figures)
        self._show_following()
        if figures or conversation.progress is not self._progress:
            self._progress = conversation.progress
            self.query_one(StatusLine).show(conversation, not panel.display, time.monotonic() - self._started)
        if figures and panel.display:
            panel.show(conversation)

    def _show_following(self) -> None:
        count = len(self.conversation.transcript.tokens)
        if self.view.following:
            self._seen = count
        self.query_one(Legend).show_new(self.view.following, max(0, count - self._seen))

    # --- the prompt and the view ---------------------------------------------------------------------------

    def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        refusal = self.conversation.enter(event.text)
        if refusal is None:
            self.prompt.take(event.text)
            self.view.to_end()
        elif refusal:
            self.tell(refusal, is_bad=self.conversation.fatal is not None)
        if self.conversation.quitting:
            self.action_quit_chat()
        self.show()

    def on_key(self, event: events.Key) -> None:
        """What is typed while something to read has the focus goes to the prompt, and the focus with it."""
        reads = self.focused
        if isinstance(reads, TokenView | KeyList) and not reads.uses(event) and self.prompt.uses(event):
            self._type(event)

    def on_paste(self, event: events.Paste) -> None:
        if isinstance(self.focused, TokenView | KeyList):
            self._type(event)

    def _type(self, event: events.Key | events.Paste) -> None:
        self.set_focus(self.prompt)
        # As it came: Textual would keep one that the screen has made from what is above the screen.
        self.prompt._forward_event(clone(event))
        event.stop()

    def on_prompt_box_moved(self, event: PromptBox.Moved) -> None:
        self.view.action_move_cursor(event.by)

    def on_prompt_box_paged(self, event: PromptBox.Paged) -> None:
        self.view.page(event.direction)

    def on_prompt_box_edged(self, event: PromptBox.Edged) -> None:
        if event.edge == "start":
            self.view.to_start()
        else:
            self.view.to_end()

    def on_token_view_followed(self) -> None:
        self._show_following()

    def on_token_view_pointed(self, event: TokenView.Pointed) -> None:
        tokens = self.conversation.transcript.tokens
        if self.inspector.has_class("-open") and event.token < len(tokens):
            self.inspector.show(tokens[event.token])

    # --- what the keys do ----------------------------------------------------------------------------------

    def action_toggle_speculation(self) -> None:
        self.conversation.toggle_speculation()
        self.show()

    def action_change_length(self, by: int) -> None:
        self.conversation.change_length(by)
        self.show()

    def action_auto_length(self) -> None:
        self.conversation.set_length("auto")
        self.show()

    def action_inspect(self) -> None:
        is_open = self.view.inspecting = not self.inspector.has_class("-open")
        self.inspector.set_class(is_open, "-open")
        self.inspector.show(None)
        self.view.mark(None)
        if is_open:
            self.set_focus(self.view)
            self.view.action_move_cursor(0)
        else:
            self.set_focus(self.prompt)

    def action_fold(self) -> None:
        transcript = self.conversation.transcript
        transcript.fold_all(not transcript.folded)
        self.show()

    def action_escape(self) -> None:
        """Close what covers the chat or inspects it, else stop the answer, else close the list of keys beside it."""
        if self.has_class("-keys") and not self.view.display:
            key_list.toggle(self)
        elif self.inspector.has_class("-open"):
            self.action_inspect()
        elif self.conversation.stop():
            self.show()
        elif self.query(KeyList):
            key_list.toggle(self)
        elif not self.prompt.has_focus:
            self.set_focus(self.prompt)

    def action_interrupt(self) -> None:
        """Copy what is selected, else stop the answer, else clear the draft, else quit when pressed again."""
        selected = self.prompt.selected_text or self.get_selected_text()
        if selected:
            self.tell(copy(self.app, selected), is_bad=False)
            self.clear_selection()
        elif self.conversation.stop():
            self.show()
        elif self.prompt.text:
            self.prompt.discard()
            self.tell("cleared; up or ctrl+z brings it back", is_bad=False)
        elif time.monotonic() - self._quit_before <= QUIT_PATIENCE:
            self.action_quit_chat()
        else:
            self._quit_before = time.monotonic()
            self.tell("press ctrl+c again to quit", is_bad=False)

    def action_copy_answer(self) -> None:
        """Copy the last answer."""
        turns = [turn for turn in self.conversation.chat.turns if turn.tokens]
        if turns:
            self.tell(copy(self.app, turns[-1].parts[1]), is_bad=False)

    def action_save(self) -> None:
        saving.ask_where(self)

    def action_new_chat(self) -> None:
        self._unless_refused("/new")

    def action_retry(self) -> None:
        self._unless_refused("/retry")

    def action_undo(self) -> None:
        self._unless_refused("/undo")

    def action_edit(self) -> None:
        """Take the last question back into the prompt; what is typed there comes back with the up arrow."""
        question = self.conversation.withdraw()
        if question is None:
            self.tell("there is no question to edit; esc stops an answer first")
            return
        if self.prompt.text:
            self.prompt.discard()
        self.prompt.put(question)
        self.set_focus(self.prompt)
        self.show()

    def action_run(self, command: str) -> None:
        self.conversation.command(command)
        self.show()

    def _unless_refused(self, command: str) -> None:
        refusal = self.conversation.refusal(command)
        if refusal is not None:
            self.tell(refusal)
        else:
            self.action_run(command)
            self.view.to_end()

    def action_choose_chat(self) -> None:
        refusal = self.conversation.refusal("/new")
        if refusal is not None:
            self.tell(refusal)
        else:
            saving.ask_which(self)

    def action_quit_chat(self) -> None:
        self.app.exit(0)
