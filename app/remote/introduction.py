"""What a server with OpenAI's API tells of itself and its models. The rest is 0, empty or None."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from app.protocol.media import Senses
from app.protocol.model import ModelInfo
from app.system.said import said

if TYPE_CHECKING:
    from app.remote.web import Web


class Program(StrEnum):
    LLAMA_SERVER = "llama-server"
    SKEIN = "Skein"
    VLLM = "vLLM"
    SGLANG = "SGLang"
    UNKNOWN = ""

    @property
    def is_llama_like(self) -> bool:
        return self in (Program.LLAMA_SERVER, Program.SKEIN)


# By the prefix of their metrics, else by who they say owns a model.
_PREFIXES = {"vllm:": Program.VLLM, "sglang:": Program.SGLANG, "llamacpp:": Program.LLAMA_SERVER}
_OWNERS = {prefix.strip(":"): program for prefix, program in _PREFIXES.items()}


@dataclass(frozen=True, slots=True)
class Introduction:
    program: Program
    version: str
    models: tuple[dict[str, Any], ...]  # as /v1/models lists them, each with an "id"
    props: dict[str, Any]  # of a llama-server or a Skein

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(model["id"] for model in self.models)

    @property
    def title(self) -> str:
        return f"{self.program} {self.version}".strip()

    def model(self, name: str, url: str) -> ModelInfo:
        """Raises ServerError where it is not there."""
        from app.remote.web import ServerError  # here, so that the window need not wait for aiohttp

        entry = next((model for model in self.models if model["id"] == name), None)
        if entry is None:
            raise ServerError(said("{url} does not have the model {name} any more.", url=url, name=name))
        meta, told = _mapping(entry.get("meta")), _mapping(self.props.get("modalities"))
        template = str(self.props.get("chat_template", ""))
        return ModelInfo(
            path=Path(name),
            name=title_of(name),
            description=self.title,
            architecture="",
            n_vocab=_number(meta.get("n_vocab")),
            n_params=_number(meta.get("n_params")),
            size_bytes=_number(meta.get("size")),
            n_ctx=_number(entry.get("max_model_len")) or _number(meta.get("n_ctx")),
            n_ctx_train=_number(meta.get("n_ctx_train")),
            n_seq_max=0,
            n_batch=0,
            takes_tools="tools" in template,
            thinks="<think>" in template or "enable_thinking" in template,
            # Where it is not told, a picture is sent: a refusal is better than words in its place.
            senses=Senses(bool(told.get("vision", True)), bool(told.get("audio")), is_told=bool(told)),
            server=url,
        )


async def introduced(web: Web) -> Introduction:
    """Raises ServerError for one that cannot be asked or is something else."""
    from app.remote.web import ServerError

    listed = _mapping(await web.get("/v1/models")).get("data")
    entries = listed if isinstance(listed, list) else []
    models = tuple(one for one in entries if isinstance(one, dict) and isinstance(one.get("id"), str))
    if not models:
        raise ServerError(said("{host} lists no models at /v1/models.", host=web.host))
    pages = map(web.get_if_there, ("/metrics", "/props", "/version"))
    metrics, props, version = await asyncio.gather(*pages)
    told = _mapping(props).get("build_info") or _mapping(version).get("version") or ""
    return Introduction(_program(models, str(metrics)), str(told), models, _mapping(props))


def title_of(name: str) -> str:
    """A file's name for a path, which is what a llama-server calls its model."""
    return PurePath(name).stem if name.lower().endswith(".gguf") else name


def _program(models: tuple[dict[str, Any], ...], metrics: str) -> Program:
    owner = str(models[0].get("owned_by")).lower()
    if owner == "skein":  # its metrics have llama-server's names
        return Program.SKEIN
    told = (program for prefix, program in _PREFIXES.items() if f"\n{prefix}" in f"\n{metrics}")
    return next(told, _OWNERS.get(owner, Program.UNKNOWN))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0
