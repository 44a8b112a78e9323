import pytest

from app.ui.message.link_doubts import Doubt, doubts


@pytest.mark.parametrize(
    ("shown", "target"),
    [
        ("the manual", "https://example.org/manual"),
        ("https://example.org/a", "https://example.org/a?b=c"),
        ("example.org", "https://www.example.org/"),
        ("www.example.org", "https://docs.example.org/x"),
        ("see main.py and README.md", "https://example.org/main.py"),
        ("a@example.org", "mailto:a@example.org?subject=x"),
        ("Section 2.1", "http://localhost:8080/"),
    ],
)
def test_an_honest_link_raises_no_doubt(shown: str, target: str) -> None:
    assert doubts(shown, target) == ()


@pytest.mark.parametrize(
    ("shown", "target", "doubt"),
    [
        ("https://bank.example", "https://evil.example/", Doubt.OTHER_PLACE),
        ("bank.example", "https://bank.example.evil.test/", Doubt.OTHER_PLACE),
        ("sign in at bank.example", "https://notbank.example/", Doubt.OTHER_PLACE),
        ("a@bank.example", "mailto:a@evil.example", Doubt.OTHER_PLACE),
        ("x", "https://аррӏе.com/", Doubt.FOREIGN_LETTERS),
        ("x", "https://bank.example@evil.example/", Doubt.NAME_BEFORE_PLACE),
        ("x", "https://bank.example\\@evil.example/", Doubt.NAME_BEFORE_PLACE),
        ("ba\u200bnk", "https://evil.example/", Doubt.HIDDEN_CHARACTERS),
    ],
)
def test_a_link_that_is_not_what_it_looks_like_is_doubted(shown: str, target: str, doubt: Doubt) -> None:
    assert doubt in doubts(shown, target)
