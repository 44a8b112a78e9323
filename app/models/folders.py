"""The folders to search for models: our own, those the user added, and those of other programs.

Other programs' folders are never changed. Only existing folders are returned. Any thread.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.models.model_file import ModelSource
from app.settings.settings import Settings
from app.system import paths

MAX_POINTER_BYTES = 4096
MAX_SETTINGS_BYTES = 2**20


OURS = (ModelSource.DOWNLOADS, ModelSource.FOLDER)


@dataclass(frozen=True, slots=True)
class Folder:
    """May also be a single file."""

    path: Path
    source: ModelSource

    @property
    def is_ours(self) -> bool:
        """Then its files may be moved to the trash."""
        return self.source in OURS


def folders(settings: Settings) -> tuple[Folder, ...]:
    """Nested ones first: a file belongs to the innermost, so other programs' files never count as ours."""
    own, theirs = own_folders(settings), other_programs_folders()
    files = (settings.model_path, *settings.recent_models, *map(Path, settings.models))
    opened = [Folder(path, ModelSource.OPENED) for path in dict.fromkeys(files) if path]
    if not settings.uses_other_programs_models:
        theirs = tuple(folder for folder in theirs if _holder(folder.path, own))
    claimed = [_claimed(folder, theirs) for folder in own]
    there = [folder for folder in (*claimed, *theirs) if _is_there(folder.path)]
    there.sort(key=lambda folder: -len(folder.path.parts))
    return (*there, *(folder for folder in opened if _is_there(folder.path)))


def own_folders(settings: Settings) -> tuple[Folder, ...]:
    """Whether they exist or not: they can be made, or come back with a disk."""
    downloads = Folder(settings.download_folder or paths.models_dir(), ModelSource.DOWNLOADS)
    chosen = [Folder(path, ModelSource.FOLDER) for path in settings.model_folders]
    return (downloads, *chosen, Folder(paths.starter_model(), ModelSource.STARTER))


def _claimed(folder: Folder, theirs: Iterable[Folder]) -> Folder:
    """A folder that the user added within another program's folder still belongs to that program."""
    holder = _holder(folder.path, theirs)
    return Folder(folder.path, holder.source) if holder and folder.is_ours else folder


def _holder(path: Path, candidates: Iterable[Folder]) -> Folder | None:
    real = _real(path)
    return next((folder for folder in candidates if real.is_relative_to(_real(folder.path))), None)


def _real(path: Path) -> Path:
    """`Path.resolve` fails where links go round."""
    return Path(os.path.realpath(path))


def other_programs_folders(
    home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> tuple[Folder, ...]:
    home = home or Path.home()
    places = {
        ModelSource.LM_STUDIO: _of_lm_studio(home),
        ModelSource.HUGGING_FACE: _of_hugging_face(home, environment),
        ModelSource.LLAMA_CPP: _of_llama_cpp(home, environment),
        ModelSource.JAN: (
            base / "Jan" / "data" / "llamacpp" / "models" for base in _data_dirs(home, environment)
        ),
        ModelSource.GPT4ALL: (base / "nomic.ai" / "GPT4All" for base in _local_data_dirs(home, environment)),
    }
    return tuple(
        Folder(path, source)
        for source, candidates in places.items()
        for path in dict.fromkeys(candidates)
        if path.is_absolute() and _is_there(path)
    )


def _of_lm_studio(home: Path) -> Iterator[Path]:
    pointed_to = _first_line(home / ".lmstudio-home-pointer")
    homes = [Path(pointed_to)] if pointed_to else []
    for base in [*homes, home / ".lmstudio", home / ".cache" / "lm-studio"]:
        chosen = _settings(base / "settings.json").get("downloadsFolder")
        if isinstance(chosen, str) and chosen and "\0" not in chosen:
            yield Path(chosen)
        yield base / "models"


def _of_hugging_face(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if chosen := environment.get(name):
            yield Path(chosen).expanduser()
            return
    if chosen := environment.get("HF_HOME"):
        yield Path(chosen).expanduser() / "hub"
    else:
        yield _xdg_cache(home, environment) / "huggingface" / "hub"


def _of_llama_cpp(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    if chosen := environment.get("LLAMA_CACHE"):
        yield Path(chosen)
    elif sys.platform == "win32":
        yield from (base / "llama.cpp" for base in _local_data_dirs(home, environment))
    elif sys.platform == "darwin":
        yield home / "Library" / "Caches" / "llama.cpp"
    else:
        yield _xdg_cache(home, environment) / "llama.cpp"


def _data_dirs(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    if sys.platform == "win32":
        yield Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        yield from _local_data_dirs(home, environment)


def _local_data_dirs(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    if sys.platform == "win32":
        yield Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        yield home / "Library" / "Application Support"
    else:
        yield Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")


def _xdg_cache(home: Path, environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache")


def _is_there(path: Path) -> bool:
    """False also for an unreadable folder and an invalid name."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _first_line(path: Path) -> str:
    lines = _read(path, MAX_POINTER_BYTES).splitlines()
    return lines[0].strip().replace("\0", "") if lines else ""


def _settings(path: Path) -> dict[str, object]:
    try:
        settings = json.loads(_read(path, MAX_SETTINGS_BYTES))
    except (ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _read(path: Path, max_bytes: int) -> str:
    """Empty if it cannot be read."""
    try:
        if not path.is_file():  # to open a pipe would wait for its writer
            return ""
        with path.open("rb") as file:
            return file.read(max_bytes).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""
