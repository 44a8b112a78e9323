import pytest

from app.look.tokens import ALL, DARK_CONTRAST, LIGHT_CONTRAST, Tokens

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
