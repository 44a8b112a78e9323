from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage.chat_rows import DAMAGED
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.user_view import UserView


def test_a_message_that_was_damaged_on_disk_says_so_under_its_text(qtbot) -> None:
    chat = Chat()
    chat.add(
        Turn(Role.USER, "What?", notice=DAMAGED),
        Turn(Role.ASSISTANT, "That.", notice=DAMAGED),
        Turn(Role.USER, "Thanks."),
    )
    transcript = Transcript(chat)
    qtbot.addWidget(transcript)
    transcript.resize(700, 500)
    transcript.show()
    qtbot.waitUntil(lambda: len(transcript.findChildren(UserView)) == 2)
    views = {view.turn.text: view for view in transcript.findChildren(UserView)}
    (answer,) = transcript.findChildren(AnswerView)
    assert views["What?"].notice.text() == DAMAGED
    assert views["What?"].notice.isVisibleTo(transcript)
    assert answer.notice.text() == DAMAGED
    assert not views["Thanks."].notice.isVisibleTo(transcript)
