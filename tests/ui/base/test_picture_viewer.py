from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.ui.base.picture_viewer import PictureViewer
from app.ui.base.thumbnails import Thumbnails
from tests.ui.pictures import a_picture, with_pictures


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


def a_viewer(parent: QWidget) -> PictureViewer:
    pictures = [a_picture(name) for name in ("cat.png", "dog.png", "lost.png")]
    thumbnails = Thumbnails(with_pictures("cat.png", "dog.png"), parent)  # type: ignore[arg-type]
    viewer = PictureViewer(pictures, 1, thumbnails, parent)
    viewer.show()
    return viewer


async def test_the_arrow_keys_go_through_the_pictures_of_a_message(
    window: QWidget, qtbot: QtBot, qloop: object
) -> None:
    viewer = a_viewer(window)
    assert viewer.windowTitle() == "dog.png"
    assert "640 × 480 · PNG" in viewer.facts.text()
    qtbot.keyClick(viewer.canvas, Qt.Key.Key_Left)
    assert viewer.windowTitle() == "cat.png"
    assert not viewer.previous.isEnabled()
    viewer.next.click()
    viewer.next.click()
    await finish_all()
    assert viewer.windowTitle() == "lost.png"
    assert viewer.trouble.text() == "The file of “lost.png” is lost or damaged."
    assert not viewer.copy.isEnabled()


async def test_it_is_zoomed_and_copied_and_saved(
    window: QWidget, qtbot: QtBot, qloop: object, tmp_path: Path
) -> None:
    viewer = a_viewer(window)
    await finish_all()
    assert viewer.canvas.scale_now == pytest.approx(1.0), "no larger than it is"
    qtbot.keyClick(viewer, Qt.Key.Key_Plus)
    assert viewer.canvas.scale_now == pytest.approx(1.25)
    qtbot.keyClick(viewer, Qt.Key.Key_0)
    assert viewer.canvas.scale_now == pytest.approx(1.0)
    viewer.copy.click()
    assert QApplication.clipboard().image().size() == QSize(32, 24)
    viewer.save.click()
    (dialog,) = viewer.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "dog.png"))
    await finish_all()
    assert (tmp_path / "dog.png").read_bytes() == b"dog.png"
    dialog.close()
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert not viewer.isVisible()
