"""A model on disk as the user sees it: one item with a name, however many files it has.

Everything but its size comes from the header of the file. Any thread.
"""

import re
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.models.gguf_header import MAX_HEADER_BYTES, MAX_TENSORS, GgufHeader, HeaderError, read_header
from app.protocol.model_names import NAME_KEYS, model_name, quantisation_name, titled
from app.system.said import said

MAX_PARTS = 1000
MAX_SHOWN = 200  # characters of a name that a file gives itself
SPLIT_NAME = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)

DIFFUSION = {"dream", "llada", "llada-moe", "rnd1"}
ENCODER_DECODER = {"t5"}
ENCODERS = {"t5encoder", "gemma-embedding", "llama-embed"}
PROJECTORS = {"clip"}
POOLING_RANK = 4  # llama.cpp's LLAMA_POOLING_TYPE_RANK
NO_VOCABULARY = {"", "none", "no_vocab"}


class FileKind(StrEnum):
    CHAT = "chat"
    EMBEDDING = "embedding"  # turns texts into vectors
    RERANKER = "reranker"  # tells how well a text answers a question
    PROJECTOR = "projector"  # lets another model see or hear
    ADAPTER = "adapter"  # a LoRA
    OTHER = "other"  # a valid GGUF that is no chat model; `problem` says why
    INCOMPLETE = "incomplete"  # parts of it are missing
    DAMAGED = "damaged"  # it cannot be read


FOR_TEXTS = (FileKind.EMBEDDING, FileKind.RERANKER)


class ModelSource(StrEnum):
    """The kind of folder it is in."""

    DOWNLOADS = "downloads"
    FOLDER = "folder"  # one that was chosen
    OPENED = "opened"  # a single file that was opened
    STARTER = "starter"
    LM_STUDIO = "LM Studio"
    HUGGING_FACE = "Hugging Face"
    LLAMA_CPP = "llama.cpp"
    JAN = "Jan"
    GPT4ALL = "GPT4All"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model, or an unusable file: then `problem` says why, as half a sentence ("it is damaged: …").

    `path` is what llama.cpp is given, the first of `parts`. The header, a list of all weights, is not kept:
    `read_whole_header(model.path)` reads it again.
    """

    path: Path
    parts: tuple[Path, ...]
    kind: FileKind
    name: str
    family: str = ""  # the architecture: "qwen3"
    num_params: int = 0
    quantisation: str = ""  # "Q4_K_M"
    n_ctx_train: int = 0
    has_template: bool = False
    size_bytes: int = 0
    licence: str = ""
    source: ModelSource = ModelSource.FOLDER
    problem: str = ""

    @property
    def title(self) -> str:
        return titled(self.name, self.quantisation)

    @property
    def can_chat(self) -> bool:
        return self.kind is FileKind.CHAT


def open_header(path: Path) -> GgufHeader:
    """The header of one file. Raises HeaderError, OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # to open a pipe would wait for its writer
        raise HeaderError(said("it is not a file"))
    with path.open("rb") as file:
        return read_header(file, status.st_size)


def why_unusable(path: Path, error: HeaderError | OSError) -> str:
    """What `open_header` and `read_whole_header` raise, in a sentence for the user."""
    if isinstance(error, HeaderError):
        return said("{name} cannot be used: {reason}.", name=path.name, reason=str(error))
    return said("{name} cannot be read: {reason}.", name=path.name, reason=error.strerror or str(error))


def is_for_texts(path: Path) -> bool:
    """Whether the model makes vectors of texts, or ranks them. False of a file that cannot be read."""
    try:
        return _kind(open_header(path))[0] in FOR_TEXTS
    except (HeaderError, OSError):
        return False


def why_not_for_texts(path: Path, wanted: FileKind) -> str:
    """Why the file cannot make vectors of texts, or rank them: the `wanted` one. Empty if it can."""
    try:
        kind, _problem = _kind(open_header(path))
    except (HeaderError, OSError) as error:
        return why_unusable(path, error)
    if kind is wanted:
        return ""
    if wanted is FileKind.RERANKER:
        return said(
            "{name} is not a reranker. Choose one such as bge-reranker.",
            name=path.name,
        )
    if kind is FileKind.RERANKER:
        return said("{name} is a reranker: it ranks texts and computes no embeddings.", name=path.name)
    return said("{name} is not an embedding model. Choose one such as nomic-embed-text.", name=path.name)


def read_whole_header(path: Path) -> GgufHeader:
    """The header of a model with all parts: metadata of the first, tensors of all.

    Raises HeaderError, OSError.
    """
    paths = parts_of(path)
    first = open_header(paths[0])
    tensors, num_bytes = list(first.tensors), first.num_bytes
    for part in paths[1:]:
        header = open_header(part)
        tensors += header.tensors
        num_bytes += header.num_bytes
        # Together as much as one may have: all parts may be links to one file with the largest header.
        if len(tensors) > MAX_TENSORS or num_bytes > MAX_HEADER_BYTES:
            raise HeaderError(said("its parts claim more tensors than any model has"))
    return GgufHeader(first.version, first.values, tuple(tensors), first.num_bytes)


def parts_of(path: Path) -> tuple[Path, ...]:
    """All files of a split model, there or not. llama.cpp finds the others by the name of the first."""
    split = SPLIT_NAME.fullmatch(path.name)
    if not split:
        return (path,)
    count = int(split["count"])
    if not 0 < count <= MAX_PARTS:
        raise HeaderError(said("its name claims {count:,} parts", count=count))
    stem, end = split["stem"], path.name[-len("-of-00001.gguf") :]
    return tuple(path.with_name(f"{stem}-{number:05}{end}") for number in range(1, count + 1))


def describe(
    header: GgufHeader, path: Path, parts: Sequence[Path], size_bytes: int, source: ModelSource
) -> ModelFile:
    kind, problem = _kind(header)
    if split_problem := _split_problem(header, len(parts)):
        kind, problem = FileKind.DAMAGED, split_problem
    return ModelFile(
        path=path,
        parts=tuple(parts),
        kind=kind,
        name=model_name(*(shown(header.text(key)) for key in NAME_KEYS)) or name_of(path),
        family=shown(header.architecture),
        num_params=header.num_params,
        quantisation=quantisation(header),
        n_ctx_train=max(header.number("{arch}.context_length"), 0),
        has_template=bool(header.values.get("tokenizer.chat_template")),
        size_bytes=size_bytes,
        licence=shown(header.text("general.license") or header.text("general.license.name")),
        source=source,
        problem=problem,
    )


def quantisation(header: GgufHeader) -> str:
    """What the file says, else the type of most of its bytes."""
    if name := quantisation_name(header.number("general.file_type", -1)):
        return name
    sizes: Counter[str] = Counter()
    for tensor in header.tensors:
        sizes[tensor.type_name] += tensor.size_bytes
    return sizes.most_common(1)[0][0] if sizes else ""


def shown(text: str) -> str:
    """A text from the file, without control characters and direction marks."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 2 * MAX_SHOWN])
    return " ".join(printable.split())[:MAX_SHOWN]


def name_of(path: Path) -> str:
    """The name of a file without metadata."""
    split = SPLIT_NAME.fullmatch(path.name)
    return shown(split["stem"] if split else path.stem)


def _split_problem(header: GgufHeader, num_parts: int) -> str:
    """Checks the parts: llama.cpp takes their number from the header, and expects matching file names."""
    count = header.number("split.count", 1)
    if count == num_parts or num_parts == 1 >= count:
        return ""
    if num_parts == 1:
        return said("it is one of {count} parts of a model, but has been renamed", count=count)
    return said(
        "its header claims {count} parts, its name {num_parts}",
        count=count,
        num_parts=num_parts,
    )


def _kind(header: GgufHeader) -> tuple[FileKind, str]:
    architecture, purpose = header.architecture, header.text("general.type")
    if purpose == "adapter":
        return FileKind.ADAPTER, ""
    if architecture in PROJECTORS or purpose == "mmproj":
        return FileKind.PROJECTOR, ""
    if architecture in DIFFUSION:
        return FileKind.OTHER, said("it is a diffusion model")
    if architecture in ENCODER_DECODER:
        return FileKind.OTHER, said("it is an encoder-decoder model")
    if header.number("{arch}.pooling_type") == POOLING_RANK:
        return FileKind.RERANKER, ""
    if _makes_embeddings(header):
        return FileKind.EMBEDDING, ""
    if header.text("tokenizer.ggml.model") in NO_VOCABULARY:
        return FileKind.OTHER, said("it has no vocabulary")
    return FileKind.CHAT, ""


def _makes_embeddings(header: GgufHeader) -> bool:
    architecture = header.architecture
    if architecture in ENCODERS or "bert" in architecture:
        return True
    if header.values.get(f"{architecture}.attention.causal") is False:
        return True
    return header.number("{arch}.pooling_type") > 0
