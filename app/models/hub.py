"""Queries the hub: search for models, and the files of one with sizes and checksums.

Uses `huggingface_hub`, but never a token stored by another program, and without its retries, which would
sleep for half a minute. Downloads nothing. Blocks, so call it by `off_loop`. Any thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from app.models.hub_address import gated, no_hub, not_found, refused, unreachable
from app.models.model_file import MAX_PARTS, SPLIT_NAME, shown
from app.settings.load import is_projector, projector_among
from app.system.said import said

if TYPE_CHECKING:
    from huggingface_hub.hf_api import HfApi

T = TypeVar("T")

MAX_FOUND = 40
MAX_MODELS = 500  # of one repository
MAX_BESIDE = 200  # files in which each model's projector is looked for
MAX_COUNT = 2**48
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

    def search(self, words: str, limit: int = MAX_FOUND) -> tuple[Repo, ...]:
        """Repositories with GGUFs, most downloaded first. Raises HubError."""
        return self._ask(
            lambda api: tuple(
                _repo(found)
                for found in api.list_models(
                    search=words.strip(),
                    filter="gguf",
                    sort="downloads",
                    limit=limit,
                    expand=["downloads", "likes", "gated", "gguf", "tags"],
                )
                if is_repo_id(str(found.id))
            )
        )

    def contents(self, repo_id: str) -> RepoContents:
        """Raises HubError."""
        if not is_repo_id(repo_id):
            raise not_found(repo_id, self.endpoint)
        return self._ask(lambda api: _contents(api.model_info(repo_id, files_metadata=True)), repo_id)

    def _ask(self, question: Callable[[HfApi], T], repo_id: str = "") -> T:
        from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
        from huggingface_hub.hf_api import HfApi

        from app.models.hub_client import use_limits

        use_limits()
        # False: never use a token that another program has stored.
        api = HfApi(endpoint=self.endpoint, token=self._token or False)
        try:
            return question(api)
        except GatedRepoError as error:
            raise gated(repo_id, self.endpoint) from error
        except RepositoryNotFoundError as error:
            raise (not_found(repo_id, self.endpoint) if repo_id else no_hub(self.endpoint)) from error
        except HfHubHTTPError as error:
            has_token = bool(self._token)
            raise refused(error.response.status_code, repo_id, self.endpoint, has_token) from error
        except OSError as error:  # unreadable certificates, for example
            raise unreachable(self.endpoint, error) from error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise no_hub(self.endpoint) from error


def is_repo_id(text: str) -> bool:
    """The form is "owner/name"."""
    return re.fullmatch(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}", text, re.ASCII) is not None


def quantisation_of(name: str) -> str:
    """What the name of a file says; empty where it does not."""
    found = _QUANTISATION.search(name.removesuffix(".gguf"))
    return found[1].upper().replace("FP16", "F16").replace("FP32", "F32") if found else ""


# Parsing the hub's answers


def _repo(info: Any) -> Repo:
    tags = [str(tag) for tag in info.tags or ()]
    gguf = info.gguf or {}
    return Repo(
        id=str(info.id),
        num_downloads=_count(info.downloads),
        num_likes=_count(info.likes),
        licence=_licence(tags),
        is_gated=bool(info.gated),
        num_params=_count(gguf.get("total")),
        n_ctx_train=_count(gguf.get("context_length")),
        architecture=shown(str(gguf.get("architecture") or "")),
    )


def _count(number: Any) -> int:
    """Capped, whatever the hub says."""
    return min(max(0, int(number or 0)), MAX_COUNT)


def _licence(tags: Iterable[str]) -> str:
    return next((shown(tag[len("license:") :]) for tag in tags if tag.startswith("license:")), "")


def _contents(info: Any) -> RepoContents:
    files = [
        HubFile(str(sibling.rfilename), int(sibling.lfs.size), str(sibling.lfs.sha256).lower())
        for sibling in info.siblings or ()
        if sibling.lfs
        and sibling.rfilename.lower().endswith(".gguf")  # files without a checksum are not downloaded
    ]
    usable = [file for file in files if _SHA256.fullmatch(file.sha256) and 0 < file.size_bytes <= MAX_COUNT]
    return RepoContents(_repo(info), str(info.sha or "main"), models_of(usable)[:MAX_MODELS])


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
