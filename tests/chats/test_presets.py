import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.chat import Chat
from app.chats.options import ChatOptions
from app.chats.presets import Preset, PresetError, PresetFolder, read_preset, write_preset
from app.protocol.request import Overflow
from app.protocol.sampling import NEVER

CAREFUL = Preset(
    "Careful / writer",
    ChatOptions(
        "Be careful.\n日本",
        {"temperature": 0.25, "logit_bias": ((5, NEVER),), "dry_sequence_breakers": ("\n",)},
        512,
        Overflow.ROLLING_WINDOW,
    ),
)
# As LM Studio writes it.
LM_STUDIO = {
    "identifier": "@local:story",
    "name": "Story",
    "changed": False,
    "operation": {
        "fields": [
            {"key": "llm.prediction.systemPrompt", "value": "Tell stories."},
            {"key": "llm.prediction.temperature", "value": 0.7},
            {"key": "llm.prediction.topKSampling", "value": 20},
            {"key": "llm.prediction.minPSampling", "value": {"checked": False, "value": 0.05}},
            {"key": "llm.prediction.repeatPenalty", "value": {"checked": True, "value": 1.1}},
            {"key": "llm.prediction.llama.presencePenalty", "value": {"checked": False, "value": 1}},
            {"key": "llm.prediction.maxPredictedTokens", "value": {"checked": True, "value": 300}},
            {"key": "llm.prediction.contextOverflowPolicy", "value": "truncateMiddle"},
            {"key": "llm.prediction.llama.cpuThreads", "value": 4},
        ]
    },
    "load": {"fields": []},
}


def test_a_preset_is_one_file_that_can_be_copied_to_somebody_else(tmp_path: Path) -> None:
    mine, theirs = PresetFolder(tmp_path / "mine"), PresetFolder(tmp_path / "theirs")
    file = mine.save(CAREFUL)
    assert file == "Careful writer.json"
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "x.json").write_bytes((tmp_path / "mine" / file).read_bytes())
    assert theirs.load() == ({"x.json": CAREFUL}, [])


def test_two_presets_of_one_name_are_two_files(tmp_path: Path) -> None:
    folder = PresetFolder(tmp_path)
    assert folder.save(CAREFUL) != folder.save(CAREFUL)
    presets, _problems = folder.load()
    assert len(presets) == 2


def test_saving_under_a_file_replaces_it_and_deleting_removes_it(tmp_path: Path) -> None:
    folder = PresetFolder(tmp_path / "presets")
    file = folder.save(CAREFUL)
    folder.save(Preset("Other", CAREFUL.options), file)
    assert [preset.name for preset in folder.load()[0].values()] == ["Other"]
    folder.delete(file)
    folder.delete(file)
    assert folder.load() == ({}, [])
    assert list((tmp_path / "presets").iterdir()) == []


def test_only_what_has_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: Path) -> Preset:
        read.append(path.name)
        return read_preset(path)

    monkeypatch.setattr("app.chats.presets.read_preset", noted)
    folder = PresetFolder(tmp_path)
    for name in ("one", "other", "third"):
        folder.save(replace(CAREFUL, name=name))
    (tmp_path / "none.json").write_text("{}")
    presets, problems = folder.load()
    assert folder.load() == (presets, problems)
    assert (len(presets), len(problems), len(read)) == (3, 1, 4)
    read.clear()
    folder.delete("third.json")
    folder.save(replace(CAREFUL, name="another"), "one.json")
    folder.save(CAREFUL, "none.json")
    presets, problems = folder.load()
    assert [preset.name for preset in presets.values()] == [CAREFUL.name, "another", "other"]
    assert problems == []
    assert read == ["none.json", "one.json"]


def test_applying_one_leaves_the_cap_to_the_chat() -> None:
    chat = Chat(max_context_tokens=2048, system_prompt="old", sampling={"top_k": 3})
    CAREFUL.applied_to(ChatOptions.of(chat)).apply_to(chat)
    assert chat.max_context_tokens == 2048
    assert (chat.system_prompt, chat.max_tokens, chat.overflow) == (
        "Be careful.\n日本",
        512,
        Overflow.ROLLING_WINDOW,
    )
    assert chat.sampling == CAREFUL.options.sampling
    assert CAREFUL.is_same_as(ChatOptions.of(chat))
    chat.sampling = json.loads(json.dumps(chat.sampling))  # as it comes from the disk
    assert CAREFUL.is_same_as(ChatOptions.of(chat))
    chat.sampling["top_k"] = 3
    assert not CAREFUL.is_same_as(ChatOptions.of(chat))


def test_a_preset_of_lm_studio(tmp_path: Path) -> None:
    path = tmp_path / "story.preset.json"
    path.write_text(json.dumps(LM_STUDIO))
    sampling = {"temperature": 0.7, "top_k": 20, "min_p": 0.0, "repeat_penalty": 1.1}
    options = ChatOptions("Tell stories.", sampling, 300, Overflow.TRUNCATE_MIDDLE)
    assert read_preset(path) == Preset("Story", options)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is not a preset"),
        ("{", "The file is truncated"),
        ('{"a": 1}', "is not a preset of Skein or LM Studio."),
        ('{"format": "skein-preset", "version": 2}', "newer Skein"),
        ('{"format": "skein-preset", "version": 1, "sampling": {"top_k": -3}}', "top_k must be between"),
        ('{"format": "skein-preset", "version": 1, "max_tokens": -3}', "max_tokens must be between"),
        (
            '{"format": "skein-preset", "version": 1, "overflow": "explode"}',
            "Unknown overflow policy",
        ),
        ('{"a": ' + "[" * 9_000 + "]" * 9_000 + "}", "nested more than"),
        ('{"a": [' + "[]," * 30_000 + "[]]}", "too large to be a preset"),
    ],
)
def test_a_bad_file_is_told_by_its_name_and_the_others_stay(
    tmp_path: Path, content: str, reason: str
) -> None:
    folder = PresetFolder(tmp_path)
    folder.save(CAREFUL)
    (tmp_path / "bad.json").write_text(content)
    presets, problems = folder.load()
    assert list(presets.values()) == [CAREFUL]
    (problem,) = problems
    assert "bad.json" in problem
    assert reason in problem or not content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    presets, problems = PresetFolder(tmp_path).load()
    assert presets == {}
    assert problems == ["pipe.json is not a preset of Skein or LM Studio."]


def test_a_file_that_claims_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(PresetError, match="too large to be a preset"):
        read_preset(tmp_path / "big.json")


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PresetError, match="cannot be used"):
        PresetFolder(tmp_path / "file").save(CAREFUL)
    with pytest.raises(PresetError, match="cannot be used: No such file"):
        write_preset(tmp_path / "none" / "a.json", CAREFUL)
    assert PresetFolder(tmp_path / "none").load() == ({}, [])
