"""Reports as pictures. matplotlib is optional: `pip install 'kestrel-chat[bench]'`."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

from kestrel_engine.bench.command import header
from kestrel_engine.errors import KestrelError, UsageError

SIZE = (10.0, 4.2)
"""Inches."""
BLUE, ORANGE, GREY = "#2f6f9f", "#d1741f", "#888888"


def check(path: str | None) -> None:
    """Before anything is measured: can `path` be drawn at all?"""
    if path is None:
        return
    if Path(path).suffix not in (".png", ".svg"):
        raise UsageError(f"plot {path}: use a name that ends in .png or .svg")
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"plot {path}: its folder does not exist: create it")
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'kestrel-chat[bench]', or leave it out")


def draw(path: str | None, report: dict) -> None:
    """Draw a report of `decode`, `speculate`, `schemes` or `compare` into a PNG or SVG file."""
    if path is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(SIZE, layout="constrained")
    _PICTURES[report["command"]](figure, report)
    figure.suptitle(header(report), fontsize=8)
    try:
        with warnings.catch_warnings(action="ignore"):  # of missing glyphs
            figure.savefig(path, dpi=150)
    except OSError as error:
        raise KestrelError(f"{path} cannot be written ({error.strerror}): choose another place") from None


def _bars(axes, names: list[str], values: list[float], label: str, line: float, line_label: str) -> None:
    axes.bar_label(axes.bar(names, values, color=BLUE), fmt="%.3g", fontsize=7)
    axes.axhline(line, color=ORANGE, linewidth=1.2, label=line_label)
    axes.set_ylabel(label)
    axes.legend(fontsize=8)
    axes.tick_params(axis="x", labelsize=8)


def _acceptance(report: dict) -> str:
    return "natural acceptance" if report["acceptance"] == "natural" else "scripted acceptance"


def _speculate(figure, report: dict) -> None:
    left, right = figure.subplots(1, 2)
    names = [row["speculate"] for row in report["runs"]]
    _bars(left, names, [row["ms_per_token"] for row in report["runs"]], "ms a token",
          report["plain_ms_per_token"], "plain")  # fmt: skip
    _bars(right, names, [row["speedup"] for row in report["runs"]], "speed-up over plain", 1.0, "plain")
    for axes in (left, right):
        axes.set_xlabel(f"draft length, {_acceptance(report)}")


def _schemes(figure, report: dict) -> None:
    left, right = figure.subplots(1, 2)
    names = [f"{row['scheme']}\nk={row['speculate']}" for row in report["runs"]]
    _bars(left, names, [row["ms_per_token"] for row in report["runs"]], "ms a token",
          report["plain_ms_per_token"], "plain")  # fmt: skip
    _bars(right, names, [row["speedup"] for row in report["runs"]], "speed-up over plain", 1.0, "plain")
    for axes in (left, right):
        axes.set_xlabel(_acceptance(report))
        axes.tick_params(axis="x", labelsize=6, rotation=60)


def _decode(figure, report: dict) -> None:
    parts = figure.subplots(1, 3 if report["contexts"] else 2)
    rows = report["rows"]
    _bars(parts[0], [str(row["rows"]) for row in rows], [row["ms"] for row in rows], "ms a pass",
          report["floor_ms"], "weights at read bandwidth")  # fmt: skip
    parts[0].set_xlabel("rows in the pass")
    phases = dict(sorted(report["phases_ms"].items(), key=lambda item: item[1]))
    parts[1].barh(list(phases), list(phases.values()), color=BLUE)
    parts[1].set_xlabel("ms of a plain step")
    if report["contexts"]:
        lengths = [row["context"] for row in report["contexts"]]
        for name, colour, label in (("ms", BLUE, "one row"), ("four_rows_ms", GREY, "four rows")):
            parts[2].plot(lengths, [row[name] for row in report["contexts"]], "o-", color=colour, label=label)
        parts[2].set_xlabel("tokens of context")
        parts[2].set_ylabel("ms a pass")
        parts[2].set_ylim(bottom=0)
        parts[2].legend(fontsize=8)


def _compare(figure, report: dict) -> None:
    axes = figure.subplots()
    names = [f"{row['engine']}\n{row['format']}" for row in report["runs"]]
    bars = axes.bar(names, [row["ms_per_token"] for row in report["runs"]], color=BLUE)
    axes.bar_label(bars, fmt="%.3g", fontsize=7)
    axes.set_ylabel("ms a token")


_PICTURES = {"speculate": _speculate, "schemes": _schemes, "decode": _decode, "compare": _compare}
