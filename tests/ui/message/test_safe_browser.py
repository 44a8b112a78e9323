import math
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.message.link_doubts import LinkPrompt, real_target
from app.ui.message.markdown import parse_blocks
from app.ui.message.passages import as_plain, passages
from app.ui.message.safe_browser import SafeBrowser

LAYOUT_SECONDS = 2.0


@pytest.fixture
def browser(qtbot: QtBot) -> SafeBrowser:
    browser = SafeBrowser()
    qtbot.addWidget(browser)
    browser.show()
    browser.arrange(500)
    return browser


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="{}">',
        '<img src="file://{}">',
        '<p style="background-image: url({})">x</p>',
        '<style>@import url("{}");</style>x',
        '<link rel="stylesheet" href="{}">x',
        '<ul style="list-style-image: url({})"><li>x</li></ul>',
        '<table background="{}"><tr><td>x</td></tr></table>',
    ],
)
def test_nothing_named_in_the_text_is_ever_opened(browser: SafeBrowser, pipe: Path, markup: str) -> None:
    browser.show_html(markup.format(pipe))
    browser.grab()  # hangs if the pipe is opened


@pytest.mark.parametrize(
    ("target", "opens"),
    [
        ("https://example.org/", True),
        ("http://example.org/", True),
        ("mailto:a@example.org", True),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("smb://host/share", False),
        ("vscode://x", False),
        ("//host/share", False),
    ],
)
def test_only_web_and_mail_links_reach_the_system_and_only_when_that_was_confirmed(
    browser: SafeBrowser, monkeypatch: pytest.MonkeyPatch, target: str, opens: bool
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    browser.show_html(f'<a href="{target}">x</a>')
    browser.anchorClicked.emit(QUrl(target))
    assert opened == []
    prompts = browser.findChildren(LinkPrompt)
    assert len(prompts) == opens
    for prompt in prompts:
        prompt.open_button.click()
    assert opened == ([target] if opens else [])


def test_a_lying_link_is_asked_about_with_its_true_address(browser: SafeBrowser) -> None:
    browser.show_html('<a href="https://evil.example/?a=1">https://bank.<b>example</b></a>')
    browser.anchorClicked.emit(QUrl("https://evil.example/?a=1"))
    (prompt,) = browser.findChildren(LinkPrompt)
    assert prompt.address.text() == "https://evil.example/?a=1"
    assert len(prompt.warnings) == 1
    assert "different address" in prompt.warnings[0].text()
    assert prompt.cancel_button.hasFocus() or prompt.focusWidget() is prompt.cancel_button
    prompt.close()


def test_the_tooltip_of_a_link_shows_where_it_really_leads(browser: SafeBrowser, qtbot: QtBot) -> None:
    browser.show_html('<a href="https://evil.example/?a=1&amp;b=2">https://bank.example</a>')
    assert browser.anchorAt(QPoint(10, 8)) == "https://evil.example/?a=1&b=2"
    assert real_target(QUrl("https://аррӏе.com/")) == "https://xn--80ak6aa92e.com/"


def test_what_is_copied_is_without_the_folds(browser: SafeBrowser) -> None:
    browser.show_plain("x" * 2000)
    copied = passages(browser.document(), 0, browser.length, {})
    assert as_plain(copied) == "x" * 2000


def test_plain_text_stays_as_it_was_typed(browser: SafeBrowser) -> None:
    text = "  <b>not bold</b>  & *not* emphasis\n\n    indented\n"
    browser.show_plain(text)
    assert browser.toPlainText() == text


def test_a_link_keeps_the_focus_when_more_text_comes(browser: SafeBrowser) -> None:
    browser.show_html("<p>one two three</p>")
    browser._select(4, 7)
    browser.show_html("<p>one two three</p><p>four</p>")
    assert browser.textCursor().selectedText() == "two"


@pytest.mark.parametrize(
    "source",
    [
        "x" * 300_000,
        "> " * 60 + "deep",
        "- " * 60 + "deep",
        "| a " * 60 + "|\n" + "|---" * 60 + "|",
        "`" * 3000,
    ],
    ids=["one long run", "quotes", "lists", "wide table", "ticks"],
)
def test_shapes_that_freeze_qt_are_laid_out_in_time(browser: SafeBrowser, source: str) -> None:
    start = time.thread_time()
    browser.show_html("".join(block.html for block in parse_blocks(source)))
    browser.arrange(500)
    assert time.thread_time() - start < LAYOUT_SECONDS


def test_the_view_is_as_high_as_its_text_at_any_width(browser: SafeBrowser) -> None:
    browser.show_plain("word " * 100)
    assert browser.arrange(200) > browser.arrange(400) > 20
    assert browser.verticalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def test_hidden_characters_of_a_plain_text_are_spelled_out(browser: SafeBrowser) -> None:
    browser.show_plain("a\u202eb")
    assert browser.toPlainText() == "a⟦U+202E⟧b"


def test_a_view_that_was_not_shown_yet_knows_how_high_its_text_will_be(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    view = SafeBrowser(page)
    view.show_html("word " * 200)
    height = view.arrange(500)
    view.show()
    assert view.document().textWidth() == 500
    assert height == view.height() == math.ceil(view.document().size().height())


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    return page


def watched_view(page: QWidget) -> tuple[SafeBrowser, list[float]]:
    """And the widths for which its text is laid out."""
    view = SafeBrowser(page)
    layouts: list[float] = []
    view.document().documentLayout().update.connect(lambda: layouts.append(view.document().textWidth()))
    return view, layouts


def test_a_text_is_laid_out_once_for_each_width(page: QWidget, qapp: QApplication) -> None:
    view, layouts = watched_view(page)
    view.show_html("word " * 200)
    for width in (500, 300, 300):
        view.arrange(width)
        view.show()
        qapp.processEvents()
    assert layouts == [500, 300]


def test_a_view_that_is_shown_first_is_not_laid_out_for_the_width_it_had_then(
    page: QWidget, qapp: QApplication
) -> None:
    view, layouts = watched_view(page)
    view.show_plain("word " * 2_000)
    layouts.clear()  # Qt begins with the text itself, of no width
    view.show()
    view.arrange(500)
    qapp.processEvents()
    assert set(layouts) == {500}
