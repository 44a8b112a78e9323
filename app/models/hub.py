"""Queries the hub: search for models, and the files of one with sizes and checksums.

Downloads nothing. Any asyncio loop.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from app.models.hub_address import no_hub, not_found, offline, refusal, unreachable
from app.models.model_file import MAX_PARTS, SPLIT_NAME, shown
from app.models.off_loop import off_loop
from app.protocol.json_object import check_size
from app.settings.load import is_projector, projector_among
from app.system.said import said

if TYPE_CHECKING:
    from aiohttp import ClientResponse

T = TypeVar("T")

MAX_FOUND = 40
MAX_ANSWER_S = 60.0
MAX_ANSWER_BYTES = 8 * 2**20  # unpacked; 40 repositories with their chat templates are half a MiB
MAX_MODELS = 500  # of one repository
MAX_BESIDE = 200  # files in which each model's projector is looked for
MAX_COUNT = 2**48
_INVALID = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, zlib.error)
_SHA256 = re.compile("[0-9a-f]{64}")
_QUANTISATION = re.compile(
    r"(?:^|[-._/])"
    r"(IQ[1-4]_(?:XXS|XS|S|M|NL)|Q[1-8](?:_[01K](?:_(?:XS|XL|S|M|L))?)?|TQ[12]_0|MXFP4(?:_MOE)?|BF16|FP?16|FP?32)"
    r"(?=$|[-._/])",
    re.IGNORECASE,
)
_PROJECTOR = re.compile(r"(^|[-._/])mmproj([-._]|$)|(^|[-._/])imatrix([-._]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository in the results of a search."""

    id: str  # "Qwen/Qwen3-4B-GGUF"
    num_downloads: int = 0  # in the last month
    num_likes: int = 0
    licence: str = ""
    is_gated: bool = False
    num_params: int = 0
    n_ctx_train: int = 0
    architecture: str = ""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as it must be after the download."""

    path: str  # in the repository
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model to download: one file, or all parts of a split one."""

    name: str
    quantisation: str
    files: tuple[HubFile, ...]
    problem: str = ""  # why it cannot be downloaded
    projector: HubFile | None = None  # lets it see or hear, and comes with it

    @property
    def all_files(self) -> tuple[HubFile, ...]:
        return (*self.files, self.projector) if self.projector else self.files

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.all_files)


@dataclass(frozen=True, slots=True)
class RepoContents:
    repo: Repo
    revision: str  # the commit that all of this describes
    models: tuple[HubModel, ...]  # smallest first


class Hub:
    def __init__(self, endpoint: str, token: str = "") -> None:
        self.endpoint = endpoint
        self._token = token

    async def search(self, words: str) -> tuple[Repo, ...]:
        """Repositories with GGUFs, most downloaded first. Raises HubError."""
        query = {
            "search": words.strip(),
            "filter": "gguf",
            "sort": "downloads",
            "limit": MAX_FOUND,
            "expand": ("downloads", "likes", "gated", "gguf", "tags"),
        }
        return await self._ask(f"?{urlencode(query, doseq=True)}", _found)

    async def contents(self, repo_id: str) -> RepoContents:
        """Raises HubError."""
        if not is_repo_id(repo_id):
            raise not_found(repo_id, self.endpoint)
        return await self._ask(f"/{repo_id}?blobs=true", _contents, repo_id)

    async def _ask(self, question: str, read: Callable[[Any], T], repo_id: str = "") -> T:
        import aiohttp

        from app.models.hub_session import HubSession

        try:
            async with (
                HubSession(self.endpoint, self._token) as session,
                session.get(f"{self.endpoint}/api/models{question}", packing="gzip") as (response, _),
            ):
                if response.status != 200:
                    raise refusal(
                        response.status, response.headers, repo_id, self.endpoint, bool(self._token)
                    )
                answer, packing = await self._read(response), response.headers.get("Content-Encoding", "")
            return await off_loop(lambda: read(_parsed(answer, packing)))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(self.endpoint, error) from error
        except _INVALID as error:
            raise no_hub(self.endpoint) from error

    async def _read(self, response: ClientResponse) -> bytes:
        """The answer as it was sent. Raises HubError."""
        began, answer = time.monotonic(), bytearray()
        async for piece in response.content.iter_any():
            answer += piece
            if len(answer) > MAX_ANSWER_BYTES:
                raise no_hub(self.endpoint)
            if time.monotonic() - began > MAX_ANSWER_S:
                raise offline(self.endpoint, said("its response does not end"))
        return bytes(answer)


def is_repo_id(text: str) -> bool:
    """The form is "owner/name"."""
    return re.fullmatch(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}", text, re.ASCII) is not None


def quantisation_of(name: str) -> str:
    """What the name of a file says; empty where it does not."""
    found = _QUANTISATION.search(name.removesuffix(".gguf"))
    return found[1].upper().replace("FP16", "F16").replace("FP32", "F32") if found else ""


# Parsing the hub's answers


def _parsed(answer: bytes, packing: str) -> Any:
    """Raises ValueError and RecursionError. What is packed in another way could grow to any size."""
    if packing == "gzip":
        answer = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(answer, MAX_ANSWER_BYTES + 1)
    elif packing not in ("", "identity"):
        raise ValueError("its packing was not asked for")
    if len(answer) > MAX_ANSWER_BYTES:
        raise ValueError("it is too large")
    check_size(answer)
    return json.loads(answer)


def _found(listed: list[Any]) -> tuple[Repo, ...]:
    return tuple(_repo(one) for one in listed[:MAX_FOUND] if is_repo_id(str(one["id"])))


def _repo(info: dict[str, Any]) -> Repo:
    tags = [str(tag) for tag in info.get("tags") or ()]
    gguf = info.get("gguf") or {}
    return Repo(
        id=str(info["id"]),
        num_downloads=_count(info.get("downloads")),
        num_likes=_count(info.get("likes")),
        licence=_licence(tags),
        is_gated=bool(info.get("gated")),
        num_params=_count(gguf.get("total")),
        n_ctx_train=_count(gguf.get("context_length")),
        architecture=shown(str(gguf.get("architecture") or "")),
    )


def _count(number: Any) -> int:
    """Capped, whatever the hub says."""
    return min(max(0, int(number or 0)), MAX_COUNT)


def _licence(tags: Iterable[str]) -> str:
    return next((shown(tag[len("license:") :]) for tag in tags if tag.startswith("license:")), "")


def _contents(info: dict[str, Any]) -> RepoContents:
    files = [
        HubFile(str(one["rfilename"]), int(one["lfs"]["size"]), str(one["lfs"]["sha256"]).lower())
        for one in info.get("siblings") or ()
        if one.get("lfs")  # files without a checksum are not downloaded
        and one["rfilename"].lower().endswith(".gguf")
    ]
    usable = [file for file in files if _SHA256.fullmatch(file.sha256) and 0 < file.size_bytes <= MAX_COUNT]
    return RepoContents(_repo(info), str(info.get("sha") or "main"), models_of(usable)[:MAX_MODELS])


def models_of(files: Iterable[HubFile]) -> tuple[HubModel, ...]:
    """Joins the parts of split models, each with its projector, if it has one."""
    files = list(files)
    whole: dict[str, list[HubFile]] = {}
    for file in files:
        if not _PROJECTOR.search(file.path):
            split = SPLIT_NAME.fullmatch(file.path)
            whole.setdefault(f"{split['stem']}/{split['count']}" if split else file.path, []).append(file)
    by_name = {_base(file): file for file in files if "imatrix" not in file.path.lower()}
    if len(by_name) > MAX_BESIDE or not any(map(is_projector, by_name)):
        by_name = {}
    models = [_model(sorted(parts, key=lambda part: part.path), by_name) for parts in whole.values()]
    return tuple(sorted(models, key=lambda model: (model.size_bytes, model.name)))


def _base(file: HubFile) -> str:
    return file.path.rsplit("/", 1)[-1]


def _model(parts: list[HubFile], by_name: Mapping[str, HubFile]) -> HubModel:
    path = parts[0].path
    split = SPLIT_NAME.fullmatch(path)
    name = shown((split["stem"] if split else path[: -len(".gguf")]).rsplit("/", 1)[-1])
    projector = projector_among(by_name, _base(parts[0]))
    found = by_name[projector] if projector else None
    return HubModel(name, quantisation_of(path), tuple(parts), _problem(parts), found)


def _problem(parts: list[HubFile]) -> str:
    splits = [SPLIT_NAME.fullmatch(part.path) for part in parts]
    first = splits[0]
    if not first:
        return ""
    count = int(first["count"])
    if not 0 < count <= MAX_PARTS:
        return said("its name claims {count:,} parts", count=count)
    numbers = [int(split["number"]) for split in splits if split]
    if numbers != list(range(1, count + 1)):
        return said(
            "{missing} of its {count} parts are missing on the hub", missing=count - len(numbers), count=count
        )
    return ""
