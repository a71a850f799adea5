"""Repaints of parts of the screen: the same characters as Textual's own, from fewer widgets."""

from __future__ import annotations

from live import Driver, Puppet, drive, round_of
from textual._compositor import Compositor
from textual.geometry import Region

from kestrel_tui.live.compositor import LeanCompositor
from kestrel_tui.live.panel import Panel

REGIONS = {
    "a row of the transcript": [(0, 4, 80, 1)],
    "the transcript and two lines of figures": [(0, 0, 83, 27), (85, 9, 30, 1), (85, 12, 30, 1)],
    "across all columns": [(0, 6, 120, 3)],
    "the prompt": [(0, 32, 120, 3)],
    "under a notice": [(60, 0, 60, 8)],
    "everything but a row": [(0, 0, 120, 35)],
}


def _written(compositor: Compositor, kind: type[Compositor], regions: list[tuple], console) -> str:
    compositor._dirty_regions = {Region(*region) for region in regions}
    return kind.render_partial_update(compositor).render_segments(console)


def test_a_repaint_writes_what_textuals_own_would() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["one ", "two\n", "three "], rejected=("no",)))
        await chat.taken()
        chat.screen.tell("a notice that covers something")
        await chat.until(lambda: chat.app.screen.query("Toast"))
        compositor = chat.screen._compositor
        assert isinstance(compositor, LeanCompositor)
        for name, regions in REGIONS.items():
            lean = _written(compositor, LeanCompositor, regions, chat.app.console)
            assert lean and lean == _written(compositor, Compositor, regions, chat.app.console), name

    drive(scenario, engine=Puppet)


def test_only_widgets_that_can_be_seen_there_are_asked(monkeypatch) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        asked: list[str] = []
        for kind in {type(widget) for widget in chat.screen._compositor.visible_widgets}:
            monkeypatch.setattr(kind, "render_lines", _recording(kind, asked))
        panel = chat.screen.query_one(Panel).region
        _written(chat.screen._compositor, LeanCompositor, [(panel.x, 1, panel.width, 1)], chat.app.console)
        assert asked == ["Panel"]

    drive(scenario, engine=Puppet)


def _recording(kind: type, asked: list[str]):
    method = kind.render_lines

    def record(self, crop: Region):
        asked.append(type(self).__name__)
        return method(self, crop)

    return record
