from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent

from app.ui.frame import Application


def test_a_file_that_the_system_wants_opened_waits_until_it_is_taken(qapp: Application) -> None:
    told: list[bool] = []
    qapp.asked_to_open.connect(lambda: told.append(True))
    assert qapp.sendEvent(qapp, QFileOpenEvent("/models/my model.gguf"))
    assert told == [True]
    assert qapp.take_asked_files() == [Path("/models/my model.gguf")]
    assert qapp.take_asked_files() == []


def test_an_address_on_the_web_is_no_file(qapp: Application) -> None:
    qapp.sendEvent(qapp, QFileOpenEvent(QUrl("https://example.org/a.gguf")))
    assert qapp.take_asked_files() == []
