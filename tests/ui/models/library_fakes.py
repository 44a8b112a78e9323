"""A library of models that are nowhere, and estimates that are made up."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.folders import Folder
from app.models.model_file import FileKind, ModelFile, ModelSource
from app.services.model_fits import Fitting, Taken
from app.services.model_library import Trashed

GIB = 2**30


def model_file(name: str, size_gib: float = 1.0, **values: object) -> ModelFile:
    path = Path("/models") / f"{name}.gguf"
    known = {
        "kind": FileKind.CHAT,
        "family": "qwen3",
        "num_params": 600_000_000,
        "quantisation": "Q8_0",
        "n_ctx_train": 4096,
        "has_template": True,
        "size_bytes": int(size_gib * GIB),
        "source": ModelSource.DOWNLOADS,
    }
    return ModelFile(**({"path": path, "parts": (path,), "name": name} | known | values))  # type: ignore[arg-type]


class FakeModelLibrary(QObject):
    changed = Signal()
    failed = Signal(object)
    trashed = Signal(object)

    def __init__(self, *models: ModelFile) -> None:
        super().__init__()
        self.models = models
        self.progress: tuple[int, int] | None = None
        self.in_use: frozenset[Path] = frozenset()
        self.refusal = ""
        self.folders = (
            Folder(Path("/downloads"), ModelSource.DOWNLOADS),
            Folder(Path("/more"), ModelSource.FOLDER),
        )
        self.num_refreshes = 0
        self.asked_to_trash: list[ModelFile] = []
        self.restored: list[Trashed] = []
        self.removed: list[Path] = []

    @property
    def num_of_others(self) -> int:
        return sum(model.source is ModelSource.JAN for model in self.models)

    def become(self, *models: ModelFile) -> None:
        self.models = models
        self.changed.emit()

    def model_at(self, path: Path) -> ModelFile | None:
        return next((model for model in self.models if model.path == path), None)

    def is_in_use(self, model: ModelFile) -> bool:
        return model.path in self.in_use

    def why_not_trash(self, _model: ModelFile) -> str:
        return self.refusal

    def refresh(self) -> None:
        self.num_refreshes += 1

    def trash(self, model: ModelFile) -> None:
        self.asked_to_trash.append(model)

    def restore(self, trashed: Trashed) -> None:
        self.restored.append(trashed)

    def add_folder(self, _path: Path) -> None: ...

    def remove_folder(self, path: Path) -> None:
        self.removed.append(path)


class FakeModelFits(QObject):
    """Each chat model needs its size, of eight GiB."""

    changed = Signal()
    estimated = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.in_use: dict[Path, Taken] = {}
        self.unknown: set[Path] = set()
        self.asked: tuple[ModelFile, ...] = ()

    def fitting(self, model: ModelFile) -> Fitting | None:
        known = model.can_chat and model.path not in self.unknown
        return Fitting(model.size_bytes, 8 * GIB) if known else None

    def taken(self, model: ModelFile) -> Taken | None:
        return self.in_use.get(model.path)

    def ask(self, models: tuple[ModelFile, ...]) -> None:
        self.asked = models
