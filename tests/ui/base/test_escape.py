import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from app.ui.base.keyboard import keeps_escape


@pytest.mark.parametrize(
    ("kind", "key", "is_kept"),
    [
        (QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, True),
        (QEvent.Type.ShortcutOverride, Qt.Key.Key_A, False),
        (QEvent.Type.KeyPress, Qt.Key.Key_Escape, False),
    ],
)
def test_only_escape_is_kept_from_the_commands(kind: QEvent.Type, key: Qt.Key, is_kept: bool) -> None:
    event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    assert keeps_escape(event) is is_kept
    assert event.isAccepted() is is_kept
