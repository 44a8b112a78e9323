from PySide6.QtWidgets import QApplication, QPlainTextEdit

from app.bridge.drafts import Drafts
from app.ui.base.kept_text import KeptText

FIELD = ("chat", "turn")


def typed(drafts: Drafts, first: str, *texts: str) -> QPlainTextEdit:
    editor = QPlainTextEdit(first)
    editor.kept = KeptText(editor, drafts, FIELD)  # type: ignore[attr-defined]
    for text in texts:
        editor.setPlainText(text)
    return editor


def test_what_was_typed_is_there_the_next_time_and_undo_leads_to_what_was_before(qapp: QApplication) -> None:
    drafts = Drafts()
    typed(drafts, "before", "half a thou")
    again = typed(drafts, "before")
    assert again.toPlainText() == "half a thou"
    again.undo()
    assert again.toPlainText() == "before"
    assert drafts.text(FIELD) == ""


def test_what_was_used_is_forgotten(qapp: QApplication) -> None:
    drafts = Drafts()
    typed(drafts, "before", "after").kept.forget()  # type: ignore[attr-defined]
    assert typed(drafts, "after").toPlainText() == "after"
