"""Nothing a model says opens a file, a connection or an internal link, freezes the window or gets lost."""

import html
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

import app
from app.chats.thinking import split_thinking
from app.ui.base.frame_budget import frame_budget
from app.ui.base.hidden_characters import BADGE
from app.ui.message.answer_body import AnswerBody
from app.ui.message.long_text import LongText
from app.ui.message.markdown import parse_blocks
from app.ui.message.markdown_column import MAX_PARTS, MarkdownColumn
from app.ui.message.markdown_html import is_safe_link, letters
from app.ui.message.prose_pane import ProsePane
from tests.effort import EFFORT
from tests.ui.hostile import EVERYTHING, FETCHES, LIES, SHAPES
from tests.ui.hostile_texts import KINDS

SECONDS = 3.0  # of this thread's own time: the aim is 1 s, and a busy machine must not fail the test
SIZE = 8_000 if EFFORT > 1 else 4_000
FRAME_SECONDS = 0.25
CORPUS = Path(__file__).parent / "corpus" / "commonmark.json"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def fill(pipe: Path, listener: socket.socket) -> Callable[[str], str]:
    port = str(listener.getsockname()[1])
    return lambda text: text.replace("{pipe}", str(pipe)).replace("{port}", port)


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 800)
    page.show()
    return page


def shown(page: QWidget, source: str) -> AnswerBody:
    body = AnswerBody(page)
    body.show_whole(split_thinking(source))
    body.arrange(580)
    body.show()
    body.grab()
    return body


def seen(body: AnswerBody) -> str:
    """What can be read of it, with where its links lead and what its code is called."""
    text = body.plain_text()
    rendered = " ".join(part._html for part in body.parts if isinstance(part, ProsePane))
    targets = [html.unescape(target) for target in re.findall(r'<a href="([^"]*)">', rendered)]
    infos = [part._block.info for part in body.parts if not isinstance(part, ProsePane) and part._block]
    return letters(" ".join([text, *targets, *infos]).replace("☑", "x"))


def missing(body: AnswerBody, source: str) -> set[str]:
    """Words of the source that cannot be seen, however its entities are read."""
    text = seen(body)
    list_numbers = set(re.findall(r"(?:^|[\s>*+-])(\d+)[.)]", source, re.MULTILINE))
    return min(
        (
            {word for word in map(letters, re.findall(r"[^\W_]+", read)) if word not in text} - list_numbers
            for read in (html.unescape(source), source)
        ),
        key=len,
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize("source", FETCHES)
def test_no_file_and_no_address_in_a_message_is_ever_opened(
    page: QWidget, fill: Callable[[str], str], listener: socket.socket, source: str
) -> None:
    body = shown(page, fill(source))  # hangs if the pipe is opened
    for end in range(0, len(source), 5):
        body.show_growing(split_thinking(fill(source[:end]), is_growing=True))
    body.grab()
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "source", EVERYTHING, ids=lambda source: source[:20].encode("unicode_escape").decode()
)
def test_every_word_of_a_hostile_message_is_shown_and_soon(
    page: QWidget, fill: Callable[[str], str], source: str
) -> None:
    source = fill(source)
    start = time.thread_time()
    body = shown(page, source)
    assert time.thread_time() - start < SECONDS
    split = split_thinking(source)
    assert missing(body, split.answer) == set()
    if split.thinking:
        body.thinking.toggle()
        thought = body.thinking.findChild(MarkdownColumn)
        assert thought
        assert letters(split.thinking) == letters(thought.plain_text())


@pytest.mark.timeout(60)
@pytest.mark.parametrize("source", [*SHAPES[:22], *LIES])
def test_a_hostile_message_does_no_harm_while_it_grows(page: QWidget, source: str) -> None:
    body = AnswerBody(page)
    start = time.thread_time()
    for end in range(0, min(len(source), 4000), 400):
        body.show_growing(split_thinking(source[:end], is_growing=True))
        body.arrange(580)
    assert time.thread_time() - start < SECONDS


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", KINDS)
def test_no_frame_is_long_whatever_the_text(
    page: QWidget, qapp: QApplication, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pieces of 600, and the rest at once."""
    monkeypatch.setattr("app.ui.base.frame_budget.FRAME_S", 0.012)
    source = KINDS[kind](SIZE)
    body = AnswerBody(page)
    body.height_changed.connect(lambda: body.arrange(580))
    body.show()
    cpu_s = []

    def do(frame: Callable[[], object]) -> None:
        begin = time.thread_time()
        with frame_budget().shared():
            frame()
            body.arrange(580)
        cpu_s.append(time.thread_time() - begin)

    for end in range(300, 3_000, 600):
        do(partial(body.show_growing, split_thinking(source[:end], is_growing=True)))
    do(partial(body.show_whole, split_thinking(source)))
    while frame_budget().num_waiting:
        do(qapp.processEvents)
    assert max(cpu_s) < FRAME_SECONDS
    assert len(body.parts) <= MAX_PARTS
    assert missing(body, split_thinking(source).answer) == set()


@pytest.mark.timeout(60)
def test_the_examples_of_commonmark_lose_no_word(page: QWidget) -> None:
    body = AnswerBody(page)
    lost = {}
    for example in json.loads(CORPUS.read_text(encoding="utf-8")):
        start = time.thread_time()
        body.show_whole(split_thinking(example["markdown"]))
        body.arrange(580)
        assert time.thread_time() - start < SECONDS
        if words := missing(body, example["markdown"]):
            lost[example["example"]] = words
    assert lost == {}


@pytest.mark.parametrize("source", LIES)
def test_only_the_web_and_mail_can_be_reached_from_a_message(
    page: QWidget, qapp: QApplication, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    body = shown(page, source)
    before = body.plain_text()
    for pane in body.findChildren(ProsePane):
        targets = [html.unescape(target) for target in re.findall(r'href="([^"]*)"', pane._html)]
        assert all(is_safe_link(target) for target in targets)
        for target in (*targets, "file:///etc/passwd", "app:delete", "#top"):
            pane.anchorClicked.emit(QUrl(target))
    assert opened == []  # nothing without a further click
    assert body.plain_text() == before


DRESS = {"badge", "code", "comment", "footnote", "grid", "grid piece", "keyword", "language", "more"}
DRESS |= {"name", "number", "quote", "string", "cjk"}
DRESS |= {"note", "tip", "important", "warning", "caution"}  # only in a quotation, with their name


@pytest.mark.parametrize("source", EVERYTHING, ids=range(len(EVERYTHING)))
def test_a_message_cannot_dress_as_the_program(source: str) -> None:
    """It chooses neither colours nor images, and only the marks of hidden characters are badges."""
    rendered = "".join(block.html for block in parse_blocks(source[:5_000]))
    assert set(re.findall(r'class="([^"]*)"', rendered)) <= DRESS
    assert set(re.findall(r'style="([^"]*)"', rendered)) <= {"white-space: pre-wrap", "list-style-type: none"}
    assert "<img" not in rendered
    assert all(BADGE.fullmatch(text) for text in re.findall(r'class="badge">([^<]*)<', rendered))


OPENERS = {
    "app/ui/message/link_doubts.py",  # links, after a question
    "app/ui/base/help_commands.py",  # our own folders
    "app/ui/settings/question_dialog.py",  # a page that an MCP server names, once its address was shown
    "app/services/tools.py",  # the page where one signs in to an MCP server of the user's
    "app/ui/base/citations.py",  # places in our own reader, of a scheme that the program handles
    "app/ui/models/hub_page.py",  # pages of the hub that was chosen, by buttons
}
VIEWERS = {
    "app/ui/message/safe_browser.py",
    "app/ui/base/help_commands.py",  # our own pages
    "app/ui/message/turn_passages.py",  # read, never shown
    "app/ui/transcript/selection.py",  # for the clipboard
}


def test_every_view_of_text_from_outside_is_the_safe_one() -> None:
    root = Path(app.__file__).parent.parent
    for path in (root / "app").rglob("*.py"):
        code, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        assert name in OPENERS or "openUrl(" not in code, name
        assert name in VIEWERS or not re.search(r"QTextBrowser|QTextEdit\(|\.setHtml\(", code), name
        assert not re.search(r"\.setMarkdown\(|\.insertHtml\(", code), name


def test_no_view_of_a_message_follows_links_or_takes_rich_text(page: QWidget) -> None:
    body = shown(page, "a [link](https://x.example)\n\n```\ncode\n```\n\n> quote")
    browsers = body.findChildren(QTextBrowser)
    assert browsers
    assert not any(view.openLinks() or view.openExternalLinks() for view in browsers)
    assert all(view.isReadOnly() for view in (*browsers, *body.findChildren(QPlainTextEdit)))


def test_characters_that_hide_or_turn_text_are_spelled_out_everywhere(page: QWidget) -> None:
    tricks = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\U000e0041\x1b\x9b"
    too_wide = f"| a |\n|---|\n| b | {tricks} |"
    body = shown(
        page, f"{too_wide}\n\nprose {tricks} `code {tricks}`\n\n| {tricks} |\n|---|\n\n```py\n# {tricks}\n```"
    )
    text = body.plain_text()
    assert not set(tricks) & set(text)
    for trick in tricks:
        assert text.count(f"⟦U+{ord(trick):04X}⟧") == 5


@pytest.mark.parametrize(
    "source", ["z" * 10_000_000, "```\n" + "z" * 10_000_000, "<think>" + "z " * 5_000_000]
)
def test_ten_megabytes_do_not_stop_the_window(page: QWidget, source: str) -> None:
    """They are shown as they were written, a part at a time."""
    start = time.thread_time()
    body = shown(page, source)
    body.thinking.toggle()
    assert time.thread_time() - start < SECONDS
    assert body.findChildren(LongText)
    assert len(body.findChildren(ProsePane)) == 0
