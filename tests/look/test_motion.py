from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle

from app.look import motion


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    motion.choose_motion(qapp, "system")


class _Still(QProxyStyle):
    """As Qt's own are where the desktop's effects are off."""

    def styleHint(self, hint, *arguments):  # type: ignore[no-untyped-def]
        is_asked = hint == QStyle.StyleHint.SH_Widget_Animation_Duration
        return 0 if is_asked else super().styleHint(hint, *arguments)


def test_a_choice_does_not_ask_the_system(application) -> None:
    motion.choose_motion(application, "reduced")
    assert motion.is_reduced()
    motion.choose_motion(application, "full")
    assert not motion.is_reduced()


def test_without_motion_no_cursor_blinks_and_no_menu_fades(application) -> None:
    motion.choose_motion(application, "full")
    usual = application.cursorFlashTime()
    assert usual > 0
    assert application.isEffectEnabled(Qt.UIEffect.UI_General)
    motion.choose_motion(application, "reduced")
    assert application.cursorFlashTime() == 0
    assert not application.isEffectEnabled(Qt.UIEffect.UI_General)
    motion.choose_motion(application, "full")
    assert application.cursorFlashTime() == usual


def test_otherwise_it_is_as_the_desktop_has_it(application, monkeypatch: pytest.MonkeyPatch) -> None:
    motion.choose_motion(application, "system")
    assert motion.is_reduced() is False
    monkeypatch.setattr(QApplication, "style", lambda: _Still("Fusion"))
    assert motion.is_reduced() is True
