"""A hub that answers when the test says so, and downloads that go where it wants them."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.hub import HubFile, HubModel, Repo, RepoContents
from app.models.order import Order
from app.services.downloads import Download, State

GIB = 2**30


def hub_model(quantisation: str, gib: float, problem: str = "") -> HubModel:
    path = f"tiny-{quantisation}.gguf"
    return HubModel(path[:-5], quantisation, (HubFile(path, int(gib * GIB), "0" * 64),), problem)


def contents_of(repo_id: str, *models: HubModel) -> RepoContents:
    return RepoContents(Repo(repo_id, 1000, 10, "apache-2.0", False, 4_000_000_000, 40_960), "main", models)


def download(state: State = State.LOADING, **values: object) -> Download:
    known = {
        "id": "0" * 64,
        "name": "tiny-Q4_K_M",
        "repo_id": "owner/tiny",
        "quantisation": "Q4_K_M",
        "num_bytes": GIB,
        "size_bytes": 2 * GIB,
    }
    return Download(state=state, **(known | values))  # type: ignore[arg-type]


class FakeModelHub(QObject):
    found = Signal(object)
    opened = Signal(object)
    failed = Signal(object)
    token_changed = Signal()
    token_noted = Signal(object)
    endpoint_changed = Signal()
    measured = Signal()
    estimated = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self.endpoint = "https://hub.example"
        self.has_token = False
        self.free_bytes = 4 * GIB
        self.searched: list[str] = []
        self.asked: list[str] = []
        self.tokens: list[str] = []

    def search(self, words: str) -> None:
        self.searched.append(words)

    def open(self, repo_id: str) -> None:
        self.asked.append(repo_id)

    def set_token(self, token: str) -> None:
        self.tokens.append(token)
        self.has_token = bool(token)
        self.token_changed.emit()

    def look_for_token(self) -> None: ...

    def stop(self) -> None: ...

    def measure(self) -> None:
        self.measured.emit()


class FakeDownloads(QObject):
    changed = Signal()
    progressed = Signal()
    finished = Signal(object)
    failed = Signal(object)
    restored = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path("/models")
        self.items: tuple[Download, ...] = ()
        self.started: list[Order] = []
        self.done: list[tuple[str, str]] = []

    def become(self, *items: Download) -> None:
        self.items = items
        self.changed.emit()

    def start(self, order: Order) -> None:
        self.started.append(order)

    def pause(self, download_id: str) -> None:
        self.done.append(("pause", download_id))

    def resume(self, download_id: str) -> None:
        self.done.append(("resume", download_id))

    def cancel(self, download_id: str) -> None:
        self.done.append(("cancel", download_id))
