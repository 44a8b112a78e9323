from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.system.llama_library import BuildState, OwnBuild
from app.ui.base.notices import Notices
from app.ui.engine import build_notice
from app.ui.engine.build_notice import BuildNotice


@pytest.fixture
def window(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


class Build:
    """A build of ours, as far as a test says."""

    def __init__(self, monkeypatch) -> None:
        self.now: OwnBuild | None = OwnBuild(BuildState.COMPILING, 5)
        self.told: list[str] = []
        monkeypatch.setattr(build_notice, "lender", lambda: "xllamacpp 1.2")
        monkeypatch.setattr(build_notice, "own_build", lambda: self.now)
        monkeypatch.setattr(build_notice, "is_told", lambda error: error in self.told)
        monkeypatch.setattr(build_notice, "note_told", self.told.append)


@pytest.fixture
def build(monkeypatch) -> Build:
    return Build(monkeypatch)


def texts(notices: Notices) -> list[str]:
    return [banner.text for banner in notices.banners()]


def test_one_banner_counts_down_and_then_offers_a_restart(window, build, qtbot) -> None:
    notices = Notices(window)
    notice = BuildNotice(notices, window)
    notice._look()
    assert "about 5 min left" in texts(notices)[0]
    build.now = OwnBuild(BuildState.COMPILING, 4)
    notice._look()
    (text,) = texts(notices)
    assert "about 4 min left" in text
    build.now = OwnBuild(BuildState.READY)
    notice._look()
    (banner,) = notices.banners()
    assert "is ready" in banner.text
    with qtbot.waitSignal(notice.restart_requested):
        banner.findChild(QPushButton).click()
    assert notices.banners() == []


def test_a_dismissed_banner_comes_back_only_with_news(window, build) -> None:
    notices = Notices(window)
    notice = BuildNotice(notices, window)
    notice._look()
    notices.banners()[0].dismiss()
    build.now = OwnBuild(BuildState.COMPILING, 4)
    notice._look()
    assert texts(notices) == []
    build.now = OwnBuild(BuildState.STOPPED)
    notice._look()
    assert "was stopped" in texts(notices)[0]


def test_a_failure_is_told_once_with_what_to_do(window, build) -> None:
    build.now = OwnBuild(BuildState.FAILED, None, "A compiler is missing. Install g++.", Path("/l"))
    for shown in (1, 0):
        notices = Notices(window)
        BuildNotice(notices, window)._look()
        assert len(texts(notices)) == shown
        if shown:
            assert "A compiler is missing. Install g++. All goes on with xllamacpp 1.2." in texts(notices)[0]


def test_nothing_is_said_where_the_library_is_ours(window, monkeypatch) -> None:
    monkeypatch.setattr(build_notice, "own_build", lambda: pytest.fail("nobody looks"))
    assert not BuildNotice(Notices(window), window)._looks.isActive()
