"""Model files by the names that requests give them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.models.model_file import FileKind, ModelFile, name_of
from app.protocol.load import Pooling
from app.protocol.model import ModelInfo

POOLINGS = {FileKind.EMBEDDING: Pooling.MODEL, FileKind.RERANKER: Pooling.RANK}


@dataclass(frozen=True, slots=True)
class ServedFile:
    """`info` is what its header tells."""

    name: str
    aliases: tuple[str, ...]
    info: ModelInfo


def served_files(files: Iterable[ModelFile]) -> list[ServedFile]:
    """Each has its file's name, with its folder's where two have the same; its title is an alias."""
    files = tuple(files)
    stems = Counter(name_of(one.path) for one in files)
    titles = Counter(one.title for one in files)
    return [
        ServedFile(
            stem if stems[stem := name_of(one.path)] == 1 else f"{one.path.parent.name}/{stem}",
            (one.title,) if titles[one.title] == 1 and one.title not in stems else (),
            _info(one),
        )
        for one in files
    ]


def _info(file: ModelFile) -> ModelInfo:
    known = ModelInfo(
        file.path, file.name, f"{file.family} {file.quantisation}", file.family, 0, file.num_params,
        file.size_bytes, file.n_ctx_train, file.n_ctx_train, 1, 0, quantisation=file.quantisation,
    )  # fmt: skip
    return replace(known, has_template=file.has_template, pooling=POOLINGS.get(file.kind))
