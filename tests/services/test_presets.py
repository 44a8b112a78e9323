import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bridge.tasks import finish_all
from app.bridge.workspace import Workspace
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.services.preferences import Preferences
from app.services.presets import Presets
from app.settings.settings import Settings

STORY = Preset("Story", ChatOptions("Tell stories.", {"temperature": 1.2}))
CODE = Preset("code", ChatOptions("Review.", {"temperature": 0.1}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "presets"


@pytest.fixture
def presets(qloop: asyncio.AbstractEventLoop, folder: Path) -> Iterator[Presets]:
    preferences = Preferences(Settings())
    presets = Presets(folder, preferences)
    yield presets
    presets.deleteLater()
    preferences.deleteLater()


def problems_of(presets: Presets) -> list[str]:
    told: list[str] = []
    presets.failed.connect(told.append)
    return told


async def test_what_is_saved_is_there_and_in_the_order_of_names(
    qloop: asyncio.AbstractEventLoop, presets: Presets, folder: Path
) -> None:
    presets.save(STORY)
    presets.save(CODE)
    await finish_all()
    assert [preset.name for preset in presets.all.values()] == ["code", "Story"]
    assert presets.file_of(STORY.options) == "Story.json"
    assert presets.file_of(ChatOptions()) == ""
    again = Presets(folder, Preferences(Settings(), presets), presets)
    await again.reload()
    assert again.all == presets.all


async def test_changes_follow_each_other(qloop: asyncio.AbstractEventLoop, presets: Presets) -> None:
    presets.save(STORY)
    await finish_all()
    presets.rename("Story.json", "Tales")
    presets.save(CODE)
    deleted = presets.delete("Story.json")
    await finish_all()
    assert list(presets.all) == ["code.json"]
    assert deleted
    presets.save(deleted, "Story.json")
    await finish_all()
    assert "Story.json" in presets.all


async def test_new_chats_begin_with_the_one_that_was_chosen(
    qloop: asyncio.AbstractEventLoop, presets: Presets
) -> None:
    plain = ChatOptions("Settings' prompt", max_context_tokens=512)
    assert presets.options_for_new(plain) == plain
    presets.save(STORY)
    await finish_all()
    presets.set_default("Story.json")
    assert presets.default_file == "Story.json"
    begun = presets.options_for_new(plain)
    assert (begun.system_prompt, begun.max_context_tokens) == ("Tell stories.", 512)
    presets.rename("Story.json", "Tales")
    await finish_all()
    assert presets.default_file == "Story.json", "a name is for the eye"
    presets.delete("Story.json")
    await finish_all()
    assert presets.default_file == ""
    assert presets.options_for_new(plain) == plain


async def test_files_come_and_go(
    qloop: asyncio.AbstractEventLoop, presets: Presets, folder: Path, tmp_path: Path
) -> None:
    presets.save(STORY)
    await finish_all()
    presets.export_file("Story.json", tmp_path / "mine.json")
    await finish_all()
    presets.import_file(tmp_path / "mine.json")
    await finish_all()
    assert list(presets.all.values()) == [STORY, STORY]
    assert sorted(path.name for path in folder.iterdir()) == ["Story (2).json", "Story.json"]


async def test_what_goes_wrong_is_told_and_the_rest_stays(
    qloop: asyncio.AbstractEventLoop, presets: Presets, folder: Path, tmp_path: Path
) -> None:
    told = problems_of(presets)
    presets.save(STORY)
    await finish_all()
    (tmp_path / "bad.json").write_text("{}")
    presets.import_file(tmp_path / "bad.json")
    await finish_all()
    assert told == ["bad.json is not a preset of Skein or LM Studio."]
    assert list(presets.all.values()) == [STORY]
    (folder / "copied.json").write_text("no JSON")
    await presets.reload()
    assert "copied.json" in told[1]
    assert list(presets.all.values()) == [STORY]


async def test_a_new_chat_of_the_workspace_is_as_the_preset_says(
    qloop: asyncio.AbstractEventLoop, presets: Presets, workspace: Workspace
) -> None:
    workspace.options_for_new = presets.options_for_new
    presets.save(STORY)
    await finish_all()
    assert workspace.new_chat().chat.system_prompt == ""
    presets.set_default("Story.json")
    chat = workspace.new_chat().chat
    assert (chat.system_prompt, chat.sampling) == ("Tell stories.", {"temperature": 1.2})
    await workspace.shut_down()
