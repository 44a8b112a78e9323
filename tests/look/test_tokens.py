from itertools import combinations

import pytest

from app.look.tokens import (
    ALL,
    DARK,
    DARK_CONTRAST,
    LIGHT,
    LIGHT_CONTRAST,
    SEQUENCE_COLOURS,
    Tokens,
    colour_of,
)

BACKGROUNDS = ("window", "surface", "raised", "popup", "chosen")


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """As WCAG 2 counts it: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


every_set = pytest.mark.parametrize("tokens", ALL, ids=["light", "dark", "light contrast", "dark contrast"])


@every_set
@pytest.mark.parametrize("background", BACKGROUNDS)
class TestContrast:
    def test_text_stands_out_seven_to_one(self, tokens: Tokens, background: str) -> None:
        assert contrast(tokens.text, getattr(tokens, background)) >= 7

    @pytest.mark.parametrize("name", ["muted", "accent", "danger", "warning", "ok"])
    def test_quiet_and_coloured_text_stands_out_four_and_a_half_to_one(
        self, tokens: Tokens, background: str, name: str
    ) -> None:
        assert contrast(getattr(tokens, name), getattr(tokens, background)) >= 4.5


@every_set
def test_what_is_written_on_the_accent_can_be_read(tokens: Tokens) -> None:
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT_CONTRAST, DARK_CONTRAST], ids=["light", "dark"])
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_with_high_contrast_nothing_is_faint(tokens: Tokens, background: str) -> None:
    for name in ("text", "muted", "accent", "danger", "warning", "ok"):
        assert contrast(getattr(tokens, name), getattr(tokens, background)) >= 7
    assert contrast(tokens.hairline, getattr(tokens, background)) >= 4.5


INKS = ("keyword", "string", "number", "function", "type_", "operator", "muted")  # muted: comments


@every_set
@pytest.mark.parametrize("name", INKS)
def test_code_can_be_read_in_all_its_colours(tokens: Tokens, name: str) -> None:
    assert contrast(getattr(tokens, name), tokens.raised) >= 4.5


@every_set
def test_no_two_kinds_of_code_look_alike(tokens: Tokens) -> None:
    assert len({getattr(tokens, name) for name in INKS[:5]}) == 5


Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SIGHTS: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
OKABE_ITO = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
LMS: Matrix = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
LAB: Matrix = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def times(matrix: Matrix, vector: Vector) -> Vector:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def seen(colour: str, sight: str) -> Vector:
    """In Oklab, where equal distances look equally different."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    visible = times(SIGHTS[sight], (red, green, blue))
    cones = times(LMS, tuple(min(1.0, max(0.0, c)) for c in visible))  # type: ignore[arg-type]
    return times(LAB, tuple(c ** (1 / 3) for c in cones))  # type: ignore[arg-type]


def closest(colours: tuple[str, ...], sight: str) -> float:
    pairs = combinations([seen(colour, sight) for colour in colours], 2)
    return min(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 for one, other in pairs)


@pytest.mark.parametrize("sight", ["no red", "no green", "no blue"])
def test_twelve_colours_are_told_apart_about_as_well_as_seven_of_okabe_and_ito(sight: str) -> None:
    assert closest(SEQUENCE_COLOURS, sight) >= 0.85 * closest(OKABE_ITO, sight)


def test_all_twelve_differ_clearly_for_everybody_else() -> None:
    assert closest(SEQUENCE_COLOURS, "normal") >= 0.1


@pytest.mark.parametrize("colour", SEQUENCE_COLOURS)
def test_each_stands_out_on_the_light_and_on_the_dark_page(colour: str) -> None:
    assert contrast(colour, LIGHT.window) >= 2
    assert contrast(colour, DARK.window) >= 2


def test_there_are_twelve_and_then_they_come_again() -> None:
    assert len(set(SEQUENCE_COLOURS)) == 12
    assert colour_of(13) == colour_of(1)
    assert colour_of(0) != colour_of(1)
