"""How the kinds of tokens look: each has an attribute of its own, so that colour is never needed.

Colours are fitted to the theme's background until they can be read on it (WCAG 2: contrast at least 4.5).
"""

from __future__ import annotations

import colorsys
from typing import Final

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.theme import Theme

CONTRAST: Final = 4.5

KINDS: Final = ("own", "accepted", "replayed", "rejected")

MEANINGS: Final = {
    "own": "the model's own",
    "accepted": "drafted, right",
    "replayed": "drafted, right, in a round that went wrong later",
    "rejected": "drafted, wrong",
}

_ATTRIBUTES: Final = {
    "own": Style(),
    "accepted": Style(underline=True),
    "replayed": Style(italic=True, bold=True),
    "rejected": Style(strike=True),
}

# Blue and orange differ for every kind of colour vision.
_HUES: Final = {"accepted": (0.58, 1.0), "replayed": (0.09, 1.0), "rejected": (0.95, 0.55)}
"""(hue, saturation)"""

# On a terminal's own palette: the names whose usual colours can be read on black, on white.
_ANSI_DARK: Final = {"accepted": "bright_cyan", "replayed": "bright_yellow", "rejected": "white"}
_ANSI_LIGHT: Final = {"accepted": "blue", "replayed": "red", "rejected": "black"}


def kind_styles(theme: Theme, background: Color, foreground: Color) -> dict[str, Style]:
    """The style of each kind on `background`. `foreground` is the colour of ordinary text."""
    if theme.ansi:
        names = _ANSI_DARK if theme.dark else _ANSI_LIGHT
        return {kind: _ATTRIBUTES[kind] + Style(color=names.get(kind, "default")) for kind in KINDS}
    colours = {kind: _fitted(*_HUES[kind], background) for kind in _HUES} | {"own": foreground}
    return {kind: _ATTRIBUTES[kind] + Style(color=colours[kind].rich_color) for kind in KINDS}


def styles_of(app: App) -> dict[str, Style]:
    """The styles of the kinds in the theme that `app` has now."""
    variables = app.theme_variables
    background, foreground = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    return kind_styles(app.current_theme, background, foreground)


def muted(theme: Theme, variables: dict[str, str]) -> str:
    """A colour for what matters less, between background and text but readable, as CSS has it."""
    if theme.ansi:
        return "ansi_default"
    background, foreground = Color.parse(variables["background"]), Color.parse(variables["foreground"])
    steps = (background.blend(foreground, share / 20) for share in range(12, 21))
    return next((colour for colour in steps if contrast(colour, background) >= CONTRAST), foreground).hex6


def contrast(one: Color, other: Color) -> float:
    """WCAG 2's ratio of two opaque colours, 1 to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _fitted(hue: float, saturation: float, background: Color) -> Color:
    """The most colourful lightness of a hue that is readable on `background`."""
    steps = range(50, 101) if _luminance(background) < 0.18 else range(50, -1, -1)
    for lightness in steps:
        red, green, blue = colorsys.hls_to_rgb(hue, lightness / 100, saturation)
        colour = Color(round(255 * red), round(255 * green), round(255 * blue))
        if contrast(colour, background) >= CONTRAST + 0.3:
            break
    return colour


def _luminance(colour: Color) -> float:
    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)
