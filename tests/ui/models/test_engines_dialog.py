"""Adding a server: checked first, its certificate looked at, its models chosen; removed and back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.api.certificate import own_certificate
from app.bridge.tasks import finish_all
from app.services.preferences import Preferences
from app.services.servers import Servers
from app.settings.settings import Settings
from app.ui.models.engines_dialog import EnginesDialog
from tests.remote.fake_server import VLLM_MODEL, FakeServer


@pytest.fixture
def servers(qapp) -> Servers:
    preferences = Preferences(Settings())
    return Servers(preferences, preferences)


@pytest.fixture
def dialog(servers, qtbot) -> EnginesDialog:
    parent = QWidget()
    qtbot.addWidget(parent)
    yield EnginesDialog(servers, parent)


async def test_a_server_is_asked_when_check_is_pressed_and_not_before(qloop, dialog, servers, qtbot):
    fake = FakeServer([VLLM_MODEL, {"id": "other"}], version={"version": "0.11.0"})
    async with fake.running():
        qtbot.keyClicks(dialog.address, fake.url)
        await finish_all()
        assert fake.paths == []
        assert not dialog.add.isEnabled()
        dialog.check.click()
        await finish_all()
        assert dialog.verdict.text == "vLLM 0.11.0, 2 models"
        dialog.models.item(0).setCheckState(Qt.CheckState.Unchecked)
        dialog.add.click()
        await finish_all()
    assert [model.title for model in servers.models] == ["other"]
    assert dialog.address.text() == ""
    assert not dialog.isModal()


async def test_another_address_has_to_be_checked_again(qloop, dialog, qtbot):
    async with (fake := FakeServer()).running():
        dialog.address.setText(fake.url)
        dialog.check.click()
        await finish_all()
        assert dialog.add.isEnabled()
        qtbot.keyClicks(dialog.address, "1")
        assert not dialog.add.isEnabled()
        assert dialog.verdict.text == ""


async def test_what_cannot_be_used_is_said_and_stays_written(qloop, dialog):
    for text, says in (("ftp://x", "Enter an address"), ("http://127.0.0.1:9", "cannot be reached")):
        dialog.address.setText(text)
        dialog.check.click()
        await finish_all()
        assert says in dialog.verdict.text
        assert dialog.address.text() == text


async def test_words_of_an_earlier_try_go_with_an_edit_and_are_not_there_when_it_opens_again(
    qloop, dialog, qtbot
):
    dialog.show()
    for make_new in (lambda: qtbot.keyClicks(dialog.address, "y"), lambda: (dialog.close(), dialog.show())):
        dialog.address.setText("ftp://x")
        dialog.check.click()
        assert dialog.verdict.text
        make_new()
        assert (dialog.verdict.text, dialog.address.text()[:7]) == ("", "ftp://x")


async def test_a_certificate_is_shown_before_it_is_trusted(qloop, dialog, servers):
    certificate = own_certificate([])
    async with (fake := FakeServer()).running(certificate.context()):
        dialog.address.setText(fake.url)
        dialog.key.setText("secret")
        dialog.check.click()
        await finish_all()
        assert certificate.fingerprint.replace(":", " ") in dialog.verdict.text
        assert fake.keys == []
        dialog.verdict.buttons[0].click()
        await finish_all()
        assert dialog.verdict.text == "vLLM, 1 model"
        dialog.add.click()
        await finish_all()
    assert servers.known[0].fingerprint == certificate.fingerprint


async def test_a_removed_server_comes_back_by_undo(qloop, dialog, servers):
    async with (fake := FakeServer()).running():
        dialog.address.setText(fake.url)
        dialog.check.click()
        await finish_all()
        dialog.add.click()
    dialog._remove(servers.known[0])
    await finish_all()
    assert servers.known == ()
    dialog.verdict.buttons[0].click()
    await finish_all()
    assert [one.url for one in servers.known] == [fake.url]
