import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.parameters import ParameterSource, inherited_sampling
from app.bridge.tasks import finish_all
from app.bridge.token_counter import TokenCount
from app.chats.options import ChatOptions
from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.request import Overflow
from app.protocol.sampling import NEVER, SamplingParams
from app.services.form_check import FormCheck
from app.settings.settings import Settings
from app.ui.base.long_text_box import PART_BYTES
from app.ui.base.notices import UndoToast
from app.ui.composer.composer import ChatSettingsButton
from app.ui.settings.chat_settings import ChatSettings, Inherited
from tests.fakes import model_info
from tests.ui.fakes import FakePresets

COOL = model_info(name="cool", sampling=SamplingParams(temperature=0.6))
INHERITED = Inherited(inherited_sampling(Settings(min_p=0.1), COOL), "cool", None, 8192)


@pytest.fixture
def button(qtbot: QtBot) -> Iterator[ChatSettingsButton]:
    frame = QWidget()
    qtbot.addWidget(frame)
    button = ChatSettingsButton(frame)
    column = QVBoxLayout(frame)
    column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
    frame.resize(500, 400)
    button.apply("", Overflow.STOP, 8192)
    frame.show()
    yield button


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[ChatSettings]:
    """In a window with a composer of one line under it. What it tells is taken, as its owner would."""
    window = QWidget()
    qtbot.addWidget(window)
    page = QWidget(window)
    page.setGeometry(0, 30, 600, 570)
    composer = QLineEdit(page)
    composer.setGeometry(20, 500, 560, 40)
    presets: Any = FakePresets()
    panel = ChatSettings(FormCheck(ChatWorker()), presets, UndoToast(window), window)
    panel.changed.connect(lambda options: panel.apply(options, INHERITED))
    panel.apply(ChatOptions(), INHERITED)
    window.resize(600, 600)
    window.show()
    qtbot.waitExposed(window)
    panel.open_above(composer)
    yield panel


def test_the_button_shows_the_system_prompt_and_tells_what_becomes_of_a_full_chat(
    button: ChatSettingsButton,
) -> None:
    assert button.text().strip() == "Chat settings"
    assert button.accessibleName() == "Chat settings: Stop when full"
    button.apply("Be short.", Overflow.ROLLING_WINDOW, 8192)
    assert button.text().strip() == "Be short."
    assert button.accessibleName() == "Chat settings: Be short., Rolling window"


def test_where_there_is_no_room_the_words_go_first(button: ChatSettingsButton) -> None:
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    button.resize(button.minimumSizeHint())
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    button.resize(button.sizeHint())
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon


def test_a_click_asks_for_the_settings(button: ChatSettingsButton, qtbot: QtBot) -> None:
    with qtbot.waitSignal(button.requested):
        button.click()


def test_it_opens_above_the_composer_with_the_keyboard_in_it(panel: ChatSettings) -> None:
    assert panel.geometry().bottom() < 30 + 500
    assert panel.geometry().top() >= 30
    assert panel.prompt.hasFocus()
    assert panel.limit.text().endswith(" Now 8,192 tokens.")
    assert panel.max_context.text() == "Default"


def test_a_choice_counts_at_once(panel: ChatSettings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.changed) as changed:
        panel.overflow.findChildren(QRadioButton)[2].click()
    assert changed.args == [ChatOptions(overflow=Overflow.ROLLING_WINDOW)]
    with qtbot.waitSignal(panel.changed) as changed:
        panel.max_context.stepUp()
    assert changed.args == [ChatOptions(overflow=Overflow.ROLLING_WINDOW, max_context_tokens=256)]
    with qtbot.waitSignal(panel.changed) as changed:
        panel.max_answer.stepUp()
    assert changed.args[0].max_tokens == 64


def test_the_system_prompt_is_typed_and_counted(panel: ChatSettings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.changed) as changed:
        panel.prompt.setPlainText("Be short.\nAlways.")
    assert changed.args[0].system_prompt == "Be short.\nAlways."
    panel.show_prompt_tokens(TokenCount(1234))
    assert panel.prompt_tokens.text() == "1,234 tokens"
    panel.show_prompt_tokens(None)
    assert panel.prompt_tokens.text() == ""


def test_a_number_half_typed_is_no_choice_but_counts_when_one_leaves(
    panel: ChatSettings, qtbot: QtBot
) -> None:
    with qtbot.assertNotEmitted(panel.changed):
        panel.max_context.setFocus()
        panel.max_context.selectAll()
        qtbot.keyClicks(panel.max_context, "1024")
    with qtbot.waitSignal(panel.changed) as changed:
        panel.close_up()
    assert changed.args[0].max_context_tokens == 1024


def test_being_told_the_state_is_no_choice(panel: ChatSettings, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(panel.changed):
        options = ChatOptions("x", {"temperature": 0.1, "mirostat": 2}, 9, Overflow.TRUNCATE_MIDDLE, 512)
        panel.apply(options, INHERITED)


def test_without_a_model_no_number_is_made_up(panel: ChatSettings) -> None:
    panel.apply(ChatOptions(), Inherited(inherited_sampling(Settings(), None)))
    assert "Now" not in panel.limit.text()


def test_each_value_says_whose_it_is(panel: ChatSettings) -> None:
    assert panel.rows["temperature"].note.text().endswith("Recommended for cool.")
    assert panel.rows["min_p"].note.text().endswith("Same as in Settings.")
    assert panel.rows["top_k"].note.text().endswith("llama.cpp's default.")
    panel.apply(ChatOptions(sampling={"temperature": 0.25, "min_p": 0.5, "top_k": 3}), INHERITED)
    assert panel.rows["temperature"].note.text().endswith("This chat only; 0.6 is recommended for cool.")
    assert panel.rows["min_p"].note.text().endswith("This chat only; 0.1 in Settings.")
    assert panel.rows["top_k"].note.text().endswith("This chat only; llama.cpp's default is 40.")


def test_a_value_is_the_chats_own_until_it_is_reset(panel: ChatSettings, qtbot: QtBot) -> None:
    row = panel.rows["temperature"]
    assert not row.reset.isVisible()
    with qtbot.waitSignal(panel.changed) as changed:
        row.control.setValue(0.25)
    assert changed.args[0].sampling == {"temperature": 0.25}
    assert row.reset.isVisible()
    with qtbot.waitSignal(panel.changed) as changed:
        row.reset.click()
    assert changed.args[0].sampling == {}
    assert row.control.value() == 0.6


def test_all_other_samplers_are_under_more_and_made_when_wanted(panel: ChatSettings) -> None:
    assert "mirostat" not in panel.rows
    panel.more.click()
    forms = {"grammar", "json_schema"}
    assert panel.rows.keys() | forms == INHERITED.sampling.keys() == {*SamplingParams.__dataclass_fields__}
    for row in panel.rows.values():
        assert row.note.text()
    panel.more.click()
    assert not panel.rows["mirostat"].isVisible()


def test_what_a_chat_has_of_them_is_shown_without_being_asked_for(panel: ChatSettings) -> None:
    panel.apply(ChatOptions(sampling={"mirostat": 2}), INHERITED)
    assert panel.rows["mirostat"].control.value() == 2
    assert panel.rows["top_k"].note.text().endswith("Has no effect while Mirostat is on.")
    assert panel.rows["dry_base"].note.text().endswith("Has no effect while the DRY multiplier is 0.")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("seed", "42", 42),
        ("seed", "", None),
        ("dry_sequence_breakers", '["\\n", "日"]', ("\n", "日")),
        ("logit_bias", "[[15043, -2], [5, false]]", ((15043, -2), (5, NEVER))),
    ],
)
def test_what_is_written_as_text(
    panel: ChatSettings, qtbot: QtBot, name: str, text: str, value: object
) -> None:
    panel.apply(ChatOptions(sampling={"seed": 1, "logit_bias": ((1, 1.0),)}), INHERITED)
    line = panel.rows[name].control
    assert isinstance(line, QLineEdit)
    line.setText(text)
    with qtbot.waitSignal(panel.changed) as changed:
        line.editingFinished.emit()
    assert changed.args[0].sampling[name] == value
    assert panel.rows[name].problem.text() == ""


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("seed", "dice", "not a whole number."),
        ("seed", "-5", "seed must be between 0 and"),
        ("dry_sequence_breakers", "[", "not a JSON list."),
        ("dry_sequence_breakers", "[3]", "dry_sequence_breakers must be text"),
        ("logit_bias", "[[1, NaN]]", "not a JSON list."),
        ("logit_bias", "[[1, 1], [1, 2]]", "lists a token twice"),
    ],
)
def test_what_cannot_be_used_says_so_beside_it_and_changes_nothing(
    panel: ChatSettings, qtbot: QtBot, name: str, text: str, reason: str
) -> None:
    panel.more.click()
    row = panel.rows[name]
    assert isinstance(row.control, QLineEdit)
    with qtbot.assertNotEmitted(panel.changed):
        row.control.setText(text)
        row.control.editingFinished.emit()
    assert row.problem.text().startswith("Not used: ")
    assert reason in row.problem.text()
    assert row.control.text() == text, "what was typed stays to be corrected"


def test_values_that_do_not_go_together_say_so(panel: ChatSettings, qtbot: QtBot) -> None:
    panel.more.click()
    with qtbot.assertNotEmitted(panel.changed):
        panel.rows["dynatemp_range"].control.setValue(0.9)
    assert panel.rows["dynatemp_range"].problem.text() == "Not used: must not exceed the temperature, 0.6."
    panel.rows["dynatemp_range"].control.setValue(0.5)
    assert panel.rows["dynatemp_range"].problem.text() == ""
    with qtbot.assertNotEmitted(panel.changed):
        panel.rows["temperature"].control.setValue(0.4)
    assert "must not be below the dynamic temperature range, 0.5" in panel.rows["temperature"].problem.text()


def pasted(text: str) -> QMimeData:
    data = QMimeData()
    data.setText(text)
    return data


def test_a_long_prompt_is_kept_as_it_is_pasted(panel: ChatSettings, qtbot: QtBot) -> None:
    whole = "Be brief. " * 9_000
    with qtbot.waitSignal(panel.changed) as signal:
        panel.prompt.insertFromMimeData(pasted(whole))
    assert signal.args[0].system_prompt == whole
    panel.apply(signal.args[0], INHERITED)
    assert 0 < len(panel.prompt.toPlainText()) <= PART_BYTES


async def test_the_form_of_answers_is_a_choice_of_the_chat(
    qloop: asyncio.AbstractEventLoop, panel: ChatSettings, qtbot: QtBot
) -> None:
    panel.apply(ChatOptions(sampling={"temperature": 0.2, "grammar": "root ::= x"}), INHERITED)
    assert panel.form.text.toPlainText() == "root ::= x"
    assert not panel.more.isChecked()
    with qtbot.waitSignal(panel.changed) as changed:
        panel.form.chosen.emit({"json_schema": "{}"})
    assert changed.args[0].sampling == {"temperature": 0.2, "json_schema": "{}"}
    with qtbot.waitSignal(panel.changed) as changed:
        panel.form.chosen.emit({})
    assert changed.args[0].sampling == {"temperature": 0.2}
    await finish_all()


def test_tools_of_the_chat_are_told_and_can_be_chosen(panel: ChatSettings, qtbot: QtBot) -> None:
    panel.apply(ChatOptions(tools=("skein/time", "files/*")), INHERITED)
    assert panel.tools.text() == "all of files, 1 tool"
    with qtbot.waitSignal(panel.tools_requested):
        panel.choose_tools.click()


def test_what_is_half_typed_in_one_field_survives_a_choice_in_another(panel: ChatSettings) -> None:
    panel.more.click()
    row = panel.rows["logit_bias"]
    row.control.setText("[[1, ")
    row.control.editingFinished.emit()
    panel.rows["temperature"].control.setValue(0.25)
    assert row.control.text() == "[[1, "
    assert row.problem.text()
    panel.close_up()
    panel.apply(ChatOptions(), INHERITED)
    assert row.control.text() == "[]", "another chat has nothing to do with it"
    assert row.problem.text() == ""


def test_escape_closes_it_and_so_does_a_click_elsewhere(panel: ChatSettings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.closed):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not panel.isVisible()
    composer = next(each for each in panel.window().findChildren(QLineEdit) if not panel.isAncestorOf(each))
    panel.open_above(composer)
    with qtbot.waitSignal(panel.closed):
        composer.setFocus()
    assert not panel.isVisible()


def test_sources_are_those_of_the_parameters() -> None:
    foreign = inherited_sampling(Settings(), None, is_foreign=True)
    values = (*INHERITED.sampling.values(), *foreign.values())
    assert {source for _value, source in values} == set(ParameterSource)


def test_it_opens_at_its_beginning(panel: ChatSettings) -> None:
    bar = panel._scroll.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    composer = panel.window().findChild(QLineEdit)
    assert composer
    panel.close_up()
    panel.open_above(composer)
    assert bar.value() == 0
