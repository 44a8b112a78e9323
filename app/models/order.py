"""A download order: files and their target, stored beside the parts so that the next start can resume.

Names are untrusted: each becomes one safe name in our own folder. Blocks on the disk. Any thread.
"""

import contextlib
import errno
import logging
import re
import threading
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.models import hub_address
from app.models.hub import HubModel, RepoContents, is_repo_id
from app.models.hub_address import DownloadError, HubError
from app.models.model_file import MAX_PARTS
from app.system.files import replacing, sync_dir
from app.system.said import said

log = logging.getLogger(__name__)

PARTIAL = ".partial"
_folders = threading.Lock()  # else one order removes the folder that another has just made
MAX_NAME_BYTES = 200
_ALLOWED = " ._-+=,()[]@"
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in "0123456789¹²³")}
# A part, an order, and the hidden temporary file that a crash of `replacing` leaves.
_OURS = re.compile(r"[0-9a-f]{64}\.(part|json)|\.[0-9a-f]{40}[0-9a-f]*(\.json)?\.\w+")


def _checked_repo_id(text: str) -> str:
    if not is_repo_id(text):
        raise ValueError("not the name of a repository")
    return text


def _check_endpoint(text: str) -> None:
    try:
        is_endpoint = hub_address.endpoint_of(text) == text
    except HubError:
        is_endpoint = False
    if not is_endpoint:
        raise ValueError("not the address of a hub")


class FileOrder(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: Annotated[str, Field(min_length=1, max_length=1000)]  # in the repository
    size_bytes: Annotated[int, Field(gt=0, le=2**48)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

    @property
    def name(self) -> str:
        return safe_name(self.path.replace("\\", "/").rsplit("/", 1)[-1])


class Order(BaseModel):
    """One model: a file, or all parts of one that was split."""

    model_config = ConfigDict(frozen=True)

    endpoint: str
    repo_id: Annotated[str, AfterValidator(_checked_repo_id)]
    revision: Annotated[str, Field(min_length=1, max_length=200)]
    name: str
    quantisation: str = ""
    files: Annotated[tuple[FileOrder, ...], Field(min_length=1, max_length=MAX_PARTS)]

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if len({file.name.casefold() for file in self.files}) < len(self.files):
            raise ValueError("two files with one name")
        _check_endpoint(self.endpoint)
        return self

    @property
    def id(self) -> str:
        return self.files[0].sha256

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def url(self, file: FileOrder) -> str:
        return hub_address.file_url(self.endpoint, self.repo_id, self.revision, file.path)


def order_of(contents: RepoContents, model: HubModel, endpoint: str) -> Order:
    """Raises DownloadError if it cannot be downloaded."""
    try:
        if model.problem:
            raise ValueError(model.problem)
        return Order(
            endpoint=endpoint,
            repo_id=contents.repo.id,
            revision=contents.revision,
            name=model.name,
            quantisation=model.quantisation,
            files=tuple(
                FileOrder(path=file.path, size_bytes=file.size_bytes, sha256=file.sha256)
                for file in model.all_files
            ),
        )
    except ValueError as error:
        reason = model.problem or said("the hub's description of it is inconsistent")
        raise DownloadError(
            said("{name} cannot be loaded: {reason}. Choose another one.", name=model.name, reason=reason)
        ) from error


def safe_name(text: str) -> str:
    """`text` as the name of one file or folder, on every system, and never of a hidden one."""
    kept = "".join(letter if letter.isalnum() or letter in _ALLOWED else "_" for letter in text)
    kept = kept.encode("utf-8", "replace")[-MAX_NAME_BYTES:].decode("utf-8", "ignore").strip(" .").lstrip("-")
    return f"_{kept}" if not kept or kept.partition(".")[0].strip().upper() in _RESERVED else kept


class OrderFolder:
    """The paths of one order in the download folder, during and after the download."""

    def __init__(self, order: Order, folder: Path) -> None:
        self._order = order
        self._folder = folder
        self._partial = folder / PARTIAL
        self.home = folder.joinpath(*(safe_name(name) for name in order.repo_id.split("/")))

    def target(self, file: FileOrder) -> Path:
        return self.home / file.name

    def part(self, file: FileOrder) -> Path:
        return self._partial / f"{file.sha256}.part"

    @property
    def num_bytes(self) -> int:
        """The number of bytes on disk, verified or not."""
        return sum(_size(self.part(file)) or _size(self.target(file)) for file in self._order.files)

    def begin(self) -> dict[str, str]:
        """Makes the folders and the order's note in them. Returns the server's ETags of what is there.

        Raises OSError, and DownloadError where something leads out of the folder.
        """
        with _folders:
            self.make()
            etags = self.etags()
            self.save(etags)
        return etags

    def make(self) -> None:
        """Like `begin`, without the note."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in (self._partial, self.home.parent, self.home):
            path.mkdir(exist_ok=True)
            if path.is_symlink() or not path.resolve().is_relative_to(self._folder.resolve()):
                raise DownloadError(
                    said(
                        "{path} is a link out of the download folder, where Skein does not write. Remove "
                        "it, or choose another folder.",
                        path=path,
                    )
                )

    def etags(self) -> dict[str, str]:
        """The server's ETags of the parts when they were begun, by SHA-256."""
        kept = _read(self._sidecar)
        return kept.etags if kept else {}

    def save(self, etags: dict[str, str]) -> None:
        """In one step: after a crash it is the old one or the new one. Raises OSError."""
        text = _Kept(order=self._order, etags=etags).model_dump_json(indent=1)
        with replacing(self._sidecar) as file:
            file.write(text)

    def sync(self) -> None:
        """Makes the names last through a power cut."""
        for path in (self.home, self.home.parent, self._folder):
            try:
                sync_dir(path)
            except OSError as error:  # some network disks cannot do that with folders
                log.info("%s cannot be synced: %s", path, error)

    def forget(self) -> None:
        """Deletes the unfinished parts. Finished files stay."""
        for file in self._order.files:
            self.part(file).unlink(missing_ok=True)
        for cut_off in self._partial.glob(f".{self._sidecar.name}.*"):
            cut_off.unlink(missing_ok=True)
        with _folders:
            self._sidecar.unlink(missing_ok=True)
            if any(self._partial.glob("*.json")):  # another order may want the same folders
                return
            for folder in (self._partial, self.home, self.home.parent):
                with contextlib.suppress(OSError):  # files are in it
                    folder.rmdir()

    @property
    def _sidecar(self) -> Path:
        return self._partial / f"{self._order.id}.json"


class _Kept(BaseModel):
    order: Order
    etags: dict[str, str] = {}


def unfinished(folder: Path) -> tuple[Order, ...]:
    """Orders that were neither finished nor cancelled, oldest first."""
    try:
        sidecars = sorted((folder / PARTIAL).glob("*.json"), key=_changed_at)
    except OSError as error:
        log.warning("Unfinished downloads in %s cannot be listed: %s", folder, error)
        return ()
    return tuple(kept.order for path in sidecars if (kept := _read(path)))


def remove_remains(folder: Path) -> None:
    """Deletes what cannot be resumed: parts without an order, and orders that a crash truncated.

    Not while something is being loaded into `folder`.
    """
    partial = folder / PARTIAL
    if partial.is_symlink():
        return
    try:
        ours = [path for path in partial.iterdir() if _OURS.fullmatch(path.name)]
        needed = {name for path in ours if path.suffix == ".json" for name in _names_of(path)}
        for path in ours:
            if path.name not in needed:
                path.unlink()
        partial.rmdir()
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            log.warning("What is left of downloads in %s cannot be tidied up: %s", folder, error)


def _names_of(sidecar: Path) -> list[str]:
    """The names of all files of an order, itself included. Raises OSError if it cannot be read."""
    try:
        kept = _Kept.model_validate_json(sidecar.read_bytes())
    except ValidationError:
        return []
    return [sidecar.name, *(f"{file.sha256}.part" for file in kept.order.files)]


def _read(path: Path) -> _Kept | None:
    try:
        return _Kept.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        log.warning("%s is no order of ours: %s", path, error)
        return None


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
