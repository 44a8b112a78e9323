from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.prefix_view import BAR_HEIGHT, PartingView, SourceBar, parts_of
from app.look.tokens import current
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease

LEASE = Lease("r", "sums", 3, 212, 60, 0, 0, 40, PrefixEnd.EDITED)


@pytest.fixture
def frame(qtbot: QtBot) -> Iterator[QWidget]:
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(500, 100)
    yield frame


def test_the_parts_are_the_whole_prompt() -> None:
    lease = Lease("r", "sums", 3, 212, 180, 32, 64, 88, PrefixEnd.EDITED)
    assert parts_of(lease) == (("reused", 180), ("shared", 32), ("restored", 64), ("computed", 88))


def test_each_part_is_as_long_as_its_share(frame: QWidget) -> None:
    bar = SourceBar(frame)
    bar.resize(500, 40)
    bar.apply(LEASE)
    frame.show()
    image = bar.grab().toImage()
    line = [image.pixelColor(x, BAR_HEIGHT // 2) for x in range(500)]
    assert line.count(QColor(current().accent)) == pytest.approx(300, abs=4)
    assert line.count(QColor(current().warning)) == pytest.approx(200, abs=4)
    assert bar.accessibleDescription() == "reused 60, shared 0, restored 0, computed 40"


def test_the_same_lease_again_paints_nothing(frame: QWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = SourceBar(frame)
    bar.apply(LEASE)
    monkeypatch.setattr(bar, "update", lambda: pytest.fail("it already exists"))
    bar.apply(LEASE)


def test_both_lines_begin_alike_and_part_where_the_tokens_do(frame: QWidget) -> None:
    view = PartingView(frame)
    view.resize(500, 52)
    view.apply(["The", "␣"], ["red"], ["blue", "."])
    frame.show()
    assert view.text == "cached: The ␣ | red\nwanted: The ␣ | blue ."
    image = view.grab().toImage()
    colours = {image.pixelColor(x, 26).name() for x in range(500)}
    assert current().text in colours  # the line between what is the same and what is not
