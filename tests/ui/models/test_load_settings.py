import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.engine.children.workers import RemoteWorker, WorkerState
from app.look.buttons import IconButton
from app.models.model_file import FileKind
from app.protocol.load import USUAL_DRAFTED_TOKENS, KvType, LoadParams
from app.protocol.model import Device, DeviceKind, LibraryInfo, MemoryNeed
from app.services.preferences import Preferences
from app.settings.settings import AdapterSettings, ModelSettings, Settings
from app.system import paths
from app.ui.engine.model_loading import ModelLoading
from app.ui.models.load_rows import GROUPS, TEXT_ALONE, load_field
from app.ui.models.load_settings import LoadSettings, LoadSettingsDialog
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelLibrary, model_file

GPU = Device("CUDA0", "Some GPU", DeviceKind.GPU, 8 << 30, 6 << 30)
OTHER_GPU = Device("CUDA1", "Some GPU", DeviceKind.GPU, 8 << 30, 6 << 30)
AS_WITHOUT_A_CHOICE = {"auto", "model"}
OF_SECTIONS = {"adapters", "devices", "draft_model", "projector", "takes_media", "workers"}


@pytest.fixture
def path(tiny_gguf: Callable[[str], Path]) -> Path:
    return tiny_gguf("qwen3")


@pytest.fixture
def preferences(qapp) -> Preferences:
    return Preferences(Settings(n_seq_max=4))


@pytest.fixture
def engine(path) -> FakeEngine:
    engine = FakeEngine(model_info(path=path, n_ctx=8192, library=LibraryInfo(devices=(GPU, OTHER_GPU))))
    engine._params = LoadParams(path, n_seq_max=4)
    return engine


@pytest.fixture
def library(path) -> FakeModelLibrary:
    return FakeModelLibrary(model_file("main", path=path, parts=(path,)))


@pytest.fixture
def shown(
    qloop: asyncio.AbstractEventLoop,
    qtbot: QtBot,
    preferences: Preferences,
    engine: FakeEngine,
    library: FakeModelLibrary,
) -> Callable[[Path], LoadSettingsDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    loading = ModelLoading(engine, preferences, parent)  # type: ignore[arg-type]
    services = SimpleNamespace(preferences=preferences, engine=engine, model_library=library)
    loading.drafts_in_words = "7 of the last 9 draft tokens were right.".__str__
    settings = LoadSettings(services, loading, parent)  # type: ignore[arg-type]

    def show(path: Path) -> LoadSettingsDialog:
        settings.show_for(path)
        assert settings.dialog
        return settings.dialog

    return show


def test_every_load_setting_is_in_one_place() -> None:
    names = [setting.name for group in GROUPS for setting in group.rows]
    assert sorted([*names, *OF_SECTIONS]) == sorted(ModelSettings.model_fields)


@pytest.mark.parametrize("setting", [setting for group in GROUPS for setting in group.rows])
def test_all_that_can_be_chosen_is_offered(setting) -> None:
    assert setting.sentence.endswith(".")
    field = load_field(setting.name)
    assert field.is_optional
    if setting.named:
        assert set(setting.named()) >= set(field.values) - AS_WITHOUT_A_CHOICE
    else:
        assert setting.word, "nothing chosen has a word"


async def test_what_is_chosen_counts_for_this_model_and_tells_its_memory(
    qloop, shown, path, preferences, engine
) -> None:
    dialog = shown(path)
    await finish_all()
    assert dialog.memory.words.text().endswith(" MiB on CUDA1 (6.0 GiB free): fits.")
    before = dialog.forecast.forecast.need.kv_bytes
    assert dialog.rows["n_seq_max"].note.text() == "Default: 4."
    assert dialog.rows["n_ctx"].note.text() == "Default: automatic. Loaded with: 8,192 tokens."
    assert not dialog.load_button.isEnabled()

    dialog.rows["n_ctx"].widget.setValue(1024)
    dialog.rows["type_k"].chosen.emit("type_k", "bf16")
    await finish_all()
    assert dialog.own == ModelSettings(n_ctx=1024, type_k="bf16")
    assert dialog.forecast.forecast.need.kv_bytes < before / 4
    assert "Loaded with: f16" in dialog.rows["type_k"].note.text()
    assert preferences.settings.models == {}
    dialog.load_button.click()
    assert engine.loads == [LoadParams(path, n_ctx=1024, n_seq_max=4, type_k=KvType.BF16)]
    assert preferences.of_model(path) == dialog.own

    dialog.rows["n_ctx"].reset.click()
    assert dialog.own == ModelSettings(type_k="bf16")
    dialog.reset_button.click()
    assert preferences.of_model(path) == ModelSettings(n_ctx=1024, type_k="bf16")
    dialog.save_button.click()
    assert preferences.settings.models == {}
    await finish_all()


@pytest.mark.parametrize("leave", ["Esc", "close"])
async def test_who_leaves_it_changes_nothing(qloop, qtbot, shown, path, preferences, leave) -> None:
    dialog = shown(path)
    assert not dialog.save_button.isEnabled()
    box = dialog.rows["n_ctx"].widget
    dialog._on_chosen("n_seq_max", 2)
    box.lineEdit().setText("4000000")
    assert dialog.save_button.isEnabled()
    if leave == "Esc":
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    else:
        dialog.close()
    assert preferences.settings.models == {}
    await finish_all()
    assert shown(path).own == ModelSettings()
    await finish_all()


async def test_what_is_typed_last_is_saved_and_settings_that_failed_are_gone(
    qloop, shown, path, preferences
) -> None:
    dialog = shown(path)
    dialog.rows["n_ctx"].widget.lineEdit().setText("4096")
    dialog._on_load()
    assert preferences.of_model(path).n_ctx == 4096
    preferences.set_of_model(path, ModelSettings())  # as after a load that failed
    assert dialog.own == ModelSettings()
    await finish_all()


async def test_what_is_chosen_for_all_can_be_left_to_skein_for_one_model(
    qloop, shown, path, preferences
) -> None:
    preferences.set("n_ctx", 16_384)
    dialog = shown(path)
    await finish_all()
    box = dialog.rows["n_ctx"].widget
    assert (box.text(), dialog.rows["n_ctx"].note.text()[:17]) == ("As in Settings", "Default: 16,384. ")
    told = []
    for step in (1, 1, 1, 1, -1, -1, -1, -1):
        box.stepBy(step)
        told.append((box.text(), dialog.own.n_ctx))
    assert told == [
        ("Automatic", 0),
        ("256", 256),
        ("1,024", 1024),
        ("2,048", 2048),
        ("1,024", 1024),
        ("256", 256),
        ("Automatic", 0),
        ("As in Settings", None),
    ]
    box.lineEdit().setText("Automatic")
    box.interpretText()
    assert dialog.own.n_ctx == 0
    assert dialog._params(dialog.own).n_ctx == 0
    dialog.save_button.click()
    dialog = shown(path)
    assert dialog.rows["n_ctx"].widget.text() == "Automatic"
    dialog.rows["n_ctx"].reset.click()
    assert dialog.own.n_ctx is None
    assert dialog.rows["n_threads"].widget.textFromValue(0) == "Automatic"
    await finish_all()


async def test_a_closed_dialog_leaves_nothing(qloop, shown, path, qtbot) -> None:
    dialog = shown(path)
    await finish_all()
    with qtbot.waitSignal(dialog.destroyed):
        dialog.close()
    assert shown(path) is not dialog
    await finish_all()


async def test_what_was_taken_is_told_beside_what_was_expected_and_every_machine_has_its_part(
    qloop, shown, path, preferences, engine, monkeypatch
) -> None:
    monkeypatch.setattr("app.services.model_fits.free_memory_bytes", lambda: 4 << 30)
    engine.model = replace(engine.model, library=LibraryInfo(), memory=MemoryNeed(kv_bytes=815 << 20))
    monkeypatch.setattr(
        "app.services.worker_list.ask",
        lambda address: RemoteWorker(address, WorkerState.READY, (), 1, 2 << 30, 2 << 30),
    )
    dialog = shown(path)
    await finish_all()
    assert re.fullmatch(r"Loaded: \d+ MiB expected, 815 MiB used\.", dialog.memory.taken.text())
    preferences.set_of_model(path, ModelSettings(n_ctx=16_384, workers=("10.0.0.2:50052",)))
    await finish_all()
    assert re.fullmatch(
        r"Needs about \d+ MiB here \(4\.8 GiB free\), "
        r"[\d.]+ MiB on 10\.0\.0\.2:50052 \(2\.0 GiB free\): fits\.",
        dialog.memory.words.text(),
    )


async def test_nobody_says_that_a_model_fits_on_a_worker_that_does_not_answer(
    qloop, shown, path, preferences, engine, monkeypatch
) -> None:
    monkeypatch.setattr("app.services.model_fits.free_memory_bytes", lambda: 4 << 30)
    for module in ("worker_list", "model_fits"):
        monkeypatch.setattr(
            f"app.services.{module}.ask", lambda address: RemoteWorker(address, WorkerState.UNREACHABLE)
        )
    dialog = shown(path)
    preferences.set_of_model(path, ModelSettings(n_ctx=16_384, workers=("10.0.0.3:50052",)))
    await finish_all()
    told = dialog.memory.words.text()
    assert told.endswith("Whether it fits is not known: no answer from 10.0.0.3:50052.")


async def test_a_context_that_does_not_fit_says_which_one_does_and_takes_it(
    qloop, shown, path, preferences, monkeypatch
) -> None:
    monkeypatch.setattr("app.services.model_fits.free_memory_bytes", lambda: 4 << 20)
    preferences.set_of_model(path, ModelSettings(n_ctx=65_536))
    dialog = shown(path)
    await finish_all()
    assert "does not fit" in dialog.memory.words.text()
    assert "65,536 does not" in dialog.memory.words.text()
    dialog.memory.use.click()
    await finish_all()
    assert 256 <= dialog.own.n_ctx < 65_536
    assert dialog.memory.words.text().endswith("fits.")
    assert dialog.memory.use.isHidden()


async def test_what_the_library_would_refuse_is_refused_with_its_reason_and_nothing_changes(
    qloop, shown, path, preferences
) -> None:
    dialog = shown(path)
    await finish_all()
    row = dialog.rows["type_v"]
    row.chosen.emit("type_v", "q8_0")
    why = "Not used. q8_0 has blocks of 32 values, and this model's heads have 16. Choose f16."
    assert row.problem.text() == why
    assert dialog.own == ModelSettings()
    assert row.widget.currentText() == "Automatic"
    row.chosen.emit("type_v", "bf16")
    assert row.problem.isHidden()
    await finish_all()


async def test_a_model_that_is_not_open_can_be_opened_so_and_one_that_is_gone_says_why(
    qloop, shown, tiny_gguf, tmp_path, engine
) -> None:
    other = tiny_gguf("llama")
    dialog = shown(other)
    await finish_all()
    assert dialog.load_button.text() == "&Open"
    dialog.load_button.click()
    assert [params.path for params in engine.loads] == [other]
    gone = shown(tmp_path / "gone.gguf")
    await finish_all()
    assert gone.memory.words.text() == "gone.gguf cannot be read: No such file or directory."


async def test_adapters_are_added_if_they_fit_and_have_a_strength(
    qloop, shown, path, preferences, monkeypatch
) -> None:
    dialog = shown(path)
    await finish_all()
    await dialog.adapters.add(path)
    assert dialog.adapters.problem.text() == "It is not a LoRA adapter."

    monkeypatch.setattr(dialog.forecast, "_why_not_adapter", lambda _path: "")
    lora, second = Path("/m/lora.gguf"), Path("/m/second.gguf")
    for adapter in (lora, second, lora):
        await dialog.adapters.add(adapter)
    dialog.adapters._rows[1].setValue(0.5)
    both = (AdapterSettings(path=lora, scale=0.5), AdapterSettings(path=second))
    assert dialog.own.adapters == both
    dialog.adapters._rows[2].click()
    assert dialog.own.adapters == both[1:]
    await finish_all()


async def test_of_several_gpus_some_can_be_chosen_and_without_any_it_is_said(
    qloop, shown, path, preferences, engine
) -> None:
    dialog = shown(path)
    _, second = dialog.devices._boxes.values()
    second.setChecked(False)
    assert dialog.own.devices == ("CUDA0",)
    second.setChecked(True)
    assert dialog.own.devices is None
    engine.model = model_info(path=path)
    dialog._show_values()
    assert dialog.devices.about.text() == "This build of llama.cpp is CPU-only."
    engine.model = None
    dialog._show_values()
    assert dialog.devices.about.text() == "Devices are listed once a model is loaded."
    await finish_all()


async def test_the_projector_is_the_one_beside_the_model_or_another_or_none(
    qloop, shown, path, preferences, library, monkeypatch
) -> None:
    beside = path.with_name(f"mmproj-{path.stem}-f16.gguf")
    monkeypatch.setattr("app.settings.load.projector_beside", lambda model: beside if model == path else None)
    other = model_file("Other projector", path=Path("/models/mmproj-other.gguf"), kind=FileKind.PROJECTOR)
    library.become(*library.models, other)
    dialog = shown(path)
    await finish_all()
    row = dialog.rows["projector"]
    combo = row.widget
    assert row.note.text().startswith(f"Default: {beside.stem}.")
    assert [combo.itemText(place) for place in range(combo.count())] == [
        "Automatic",
        "None: text alone",
        "Other projector · Q8_0",
    ]
    combo.value_chosen.emit(str(other.path))
    assert dialog.own == ModelSettings(projector=other.path)
    assert combo.currentText() == "Other projector · Q8_0"
    combo.value_chosen.emit(TEXT_ALONE)
    assert dialog.own == ModelSettings(takes_media=False)
    assert combo.currentText() == "None: text alone"
    row.reset.click()
    assert dialog.own == ModelSettings()


async def test_a_draft_model_is_chosen_among_those_that_fit_and_switches_drafting_on(
    qloop, shown, path, preferences, engine, library, tiny_gguf
) -> None:
    dialog = shown(path)
    await finish_all()
    row = dialog.rows["draft_model"]
    assert row.note.text() == "No smaller model with the same vocabulary found."

    smaller, foreign = tiny_gguf("llama"), paths.starter_model()
    recurrent = tiny_gguf("mamba")
    files = [model_file(file.stem, 0.5, path=file, parts=(file,)) for file in (smaller, foreign, recurrent)]
    library.become(*library.models, *files, model_file("larger", 2.0))
    await finish_all()
    names = [row.widget.itemText(index) for index in range(row.widget.count())]
    assert names == ["None", "tiny-llama · Q8_0"]

    before = dialog.forecast.forecast.elsewhere[0].needed_bytes
    row.widget.setCurrentIndex(1)
    row.widget.activated.emit(1)
    await finish_all()
    assert dialog.own == ModelSettings(draft_model=smaller)
    assert dialog.forecast.forecast.elsewhere[0].needed_bytes > before
    dialog.load_button.click()
    assert engine.loads[-1] == LoadParams(path, n_seq_max=4, draft_model=smaller)

    assert row.widget.currentText() == "tiny-llama · Q8_0"
    assert row.widget.count() == 2

    dialog.rows["num_drafted_tokens"].chosen.emit("num_drafted_tokens", 0)
    await finish_all()
    assert row.note.text().endswith("Draft tokens are off, so it is not loaded.")
    note = dialog.rows["num_drafted_tokens"].note.text()
    assert note == "Default: On. Loaded with: On. 7 of the last 9 draft tokens were right."
    library.become(*library.models[:1])
    await finish_all()
    assert row.widget.currentText() == "tiny-llama"
    row.reset.click()
    assert dialog.own == ModelSettings(num_drafted_tokens=0)
    dialog.rows["draft_model"].chosen.emit("draft_model", smaller)
    assert dialog.own == ModelSettings(draft_model=smaller, num_drafted_tokens=USUAL_DRAFTED_TOKENS)
    await finish_all()


async def test_a_worker_that_is_chosen_goes_with_one_click(
    qloop, qtbot, shown, path, preferences, monkeypatch
) -> None:
    address = "10.0.0.3:50052"
    gone = RemoteWorker(address, WorkerState.UNREACHABLE, reason="Connection refused")
    monkeypatch.setattr("app.services.worker_list.ask", lambda _address: gone)
    dialog = shown(path)
    section = dialog.workers
    section.address.setText(address)
    qtbot.keyClick(section.address, Qt.Key.Key_Return)
    await finish_all()
    assert dialog.own.workers == (address,)
    (remove,) = (button for button in section.findChildren(IconButton) if address in button.toolTip())
    remove.click()
    await finish_all()
    assert preferences.settings.workers == []
    assert dialog.own.workers == ()
    assert section.workers.addresses == ()
