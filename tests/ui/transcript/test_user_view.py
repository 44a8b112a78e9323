from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.chats.attachment import PASSAGE, Attachment
from app.chats.chat import Chat, Turn, TurnState
from app.protocol.request import Role
from app.ui.base.attachment_preview import AttachmentPreview
from app.ui.base.thumbnails import Thumbnails
from app.ui.message.long_text import LongText
from app.ui.message.media_strip import MediaStrip
from app.ui.transcript.turn_actions import Place
from app.ui.transcript.turn_view import NO_PROGRESS
from app.ui.transcript.user_view import BUBBLE_PADDING_X, UserView
from tests.ui.pictures import a_picture, with_pictures


class Watched(UserView):
    """Remembers where it has been drawn."""

    drawn = QRegion()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.drawn = self.drawn.united(event.region())


def show(view: UserView, text: str) -> None:
    view.show_turn(Turn(Role.USER, text))
    view.apply(Place(), NO_PROGRESS)
    view.arrange(600)


def test_the_bubble_is_drawn_anew_around_other_words_of_the_same_height(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 200)
    view = Watched(Turn(Role.USER, ""), page)
    view.set_zoom(0)
    show(view, "Short")
    page.show()
    qtbot.waitUntil(lambda: view.drawn.contains(view.rect()))
    height, view.drawn = view.height(), QRegion()
    show(view, "Quite a bit longer")
    assert view.height() == height
    edge = QPoint(view.text_panes()[0].mapTo(view, QPoint(-BUBBLE_PADDING_X + 2, 4)))
    qtbot.waitUntil(lambda: view.drawn.contains(edge))


def test_pictures_stand_above_the_bubble_and_open_in_the_viewer(qtbot: QtBot, qloop: object) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 400)
    files = with_pictures("cat.png", "dog.png")
    pictures = (a_picture("cat.png"), a_picture("dog.png"))
    turn = Turn(Role.USER, "Which is which?", attachments=(*pictures, Attachment("notes.txt", "text")))
    view = UserView(turn, page)
    view.set_thumbnails(Thumbnails(files, view))  # type: ignore[arg-type]
    view.set_zoom(0)
    view.apply(Place(), NO_PROGRESS)
    view.arrange(600)
    page.show()
    (strip,) = view.findChildren(MediaStrip)
    (words,) = view.findChildren(LongText)
    assert len(words.files) == 1
    assert strip.geometry().bottom() < words.geometry().top()
    assert strip.geometry().right() == view.rect().right()
    cat, dog = strip.tiles
    assert (cat.width(), cat.height()) == (200, 150)
    assert cat.geometry().right() < dog.geometry().left()
    at = view.mapFromGlobal(cat.mapToGlobal(cat.rect().center()))
    assert view.grab().toImage().pixelColor(at * view.devicePixelRatioF()).name() == "#ff0000"
    with qtbot.waitSignal(view.picture_opened) as opened:
        qtbot.keyClick(dog, Qt.Key.Key_Space)
    assert opened.args == [turn, pictures[1]]

    view.show_turn(Turn(Role.USER, "", attachments=pictures[:1]))
    view.apply(Place(), NO_PROGRESS)
    view.arrange(600)
    assert [tile.size().toTuple() for tile in strip.tiles] == [(320, 240)]


def test_a_sent_file_opens_as_it_did_before_it_was_sent(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 400)
    notes = Attachment("notes.txt", "line 1\nline 2")
    view = UserView(Turn(Role.USER, "What is in it?", attachments=(notes,)), page)
    view.set_zoom(0)
    view.apply(Place(), NO_PROGRESS)
    view.arrange(600)
    page.show()
    button = view.findChildren(LongText)[0].files[0]
    button.click()
    (preview,) = view.findChildren(AttachmentPreview)
    assert preview.isVisible()
    assert not preview.frameGeometry().contains(button.mapToGlobal(button.rect().center()))
    assert preview.text.toPlainText() == notes.text
    assert not preview.remove.isVisible()
    assert not preview.into_text.isVisible()
    preview.close()


def test_passages_found_after_a_message_was_sent_are_shown_on_it(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    turn = Turn(Role.USER, "How long is the chain?")
    view = UserView(turn, page)
    view.set_zoom(0)
    view.apply(Place(), NO_PROGRESS)
    turn.attachments = (Attachment("[1] chain.txt:1", "Thirty metres."),)
    view.apply(Place(), NO_PROGRESS)
    assert "[1] chain.txt:1" in [button.text() for button in view.findChildren(QPushButton)]


def test_a_passage_that_the_answer_does_not_cite_says_so_once_the_answer_is_complete(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    passages = [Attachment(f"[{n}] chain.txt:{n}", "Thirty metres.", PASSAGE) for n in (1, 12)]
    question = Turn(Role.USER, "How long is the chain?", attachments=tuple(passages))
    answer = Turn(Role.ASSISTANT, "Thirty metres [12].", parent_id=question.id)
    answer.state = TurnState.STREAMING
    chat = Chat()
    view = UserView(question, page)
    view.set_zoom(0)

    def names() -> list[str]:
        place = Place.of(question, chat, is_last=False, is_busy=False, after=answer)
        view.apply(place, NO_PROGRESS)
        return [button.text() for button in view.findChildren(LongText)[0].files]

    assert names() == ["[1] chain.txt:1", "[12] chain.txt:12"]
    answer.state = TurnState.DONE
    assert names() == ["[1] chain.txt:1 · given, not cited", "[12] chain.txt:12"]


def test_the_first_message_of_a_day_names_it(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    day = 24 * 60 * 60
    before = Turn(Role.ASSISTANT, "Hello.", created_at=1_790_000_000.0)
    question = Turn(Role.USER, "And today?", created_at=before.created_at + 10)
    chat = Chat()
    view = UserView(question, page)
    view.set_zoom(0)

    def height() -> int:
        view.apply(Place.of(question, chat, is_last=True, is_busy=False, before=before), NO_PROGRESS)
        return view.arrange(600)

    usual = height()
    assert not view.day.text()
    before.created_at -= day
    assert height() > usual
    assert "2026" in view.day.text()


def test_the_bubble_of_a_hidden_chat_is_as_wide_as_its_words(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    words = "How many chats are there in all of the folders?"
    hidden, shown = (UserView(Turn(Role.USER, words), page) for _ in range(2))
    page.show()
    hidden.hide()
    widths = []
    for view in (hidden, shown):
        view.set_zoom(0)
        view.apply(Place(), NO_PROGRESS)
        view.arrange(120)
        view.arrange(600)
        widths.append(view._text.width())
    assert widths[0] == widths[1] > 200
