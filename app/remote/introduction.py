"""What a server with OpenAI's API tells of itself and its models. What it does not tell is 0, empty or None.

It is recognised by the prefix of its metrics, else by what else only it tells.
"""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from app.protocol.media import Senses
from app.protocol.model import ModelInfo
from app.remote.web import ServerError, Web
from app.system.said import said


class Program(StrEnum):
    LLAMA_SERVER = "llama-server"
    SKEIN = "Skein"
    VLLM = "vLLM"
    SGLANG = "SGLang"
    UNKNOWN = ""

    @property
    def is_llama_like(self) -> bool:
        return self in (Program.LLAMA_SERVER, Program.SKEIN)


_PREFIXES = {"vllm:": Program.VLLM, "sglang:": Program.SGLANG, "llamacpp:": Program.LLAMA_SERVER}
_OWNERS = {
    "skein": Program.SKEIN,
    "vllm": Program.VLLM,
    "sglang": Program.SGLANG,
    "llamacpp": Program.LLAMA_SERVER,
}


@dataclass(frozen=True, slots=True)
class Introduction:
    url: str
    program: Program
    version: str
    models: tuple[dict[str, Any], ...]  # as /v1/models lists them, each with an "id"
    props: dict[str, Any]  # of a llama-server or a Skein

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(model["id"] for model in self.models)

    def model(self, name: str) -> ModelInfo:
        """Raises ServerError where it is not there."""
        entry = next((model for model in self.models if model["id"] == name), None)
        if entry is None:
            raise ServerError(said("{url} does not have the model {name} any more.", url=self.url, name=name))
        meta = _mapping(entry.get("meta"))
        template = str(self.props.get("chat_template", ""))
        told = _mapping(self.props.get("modalities"))
        return ModelInfo(
            path=Path(name),
            name=title_of(name),
            description=" ".join(filter(None, (self.program, self.version))),
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
            server=self.url,
        )


async def introduced(web: Web) -> Introduction:
    """Raises ServerError for one that cannot be asked or is something else."""
    listed = await web.get("/v1/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    models = tuple(
        entry for entry in entries or () if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    )
    if not models:
        raise ServerError(said("{host} lists no models at /v1/models.", host=web.host))
    metrics, props, version = await asyncio.gather(*map(web.get_if_there, ("/metrics", "/props", "/version")))
    props = _mapping(props)
    program = _program(models, metrics if isinstance(metrics, str) else "", props)
    told = str(props.get("build_info") or _mapping(version).get("version") or "")
    return Introduction(web.server.url, program, told, models, props)


def title_of(name: str) -> str:
    """A file's name for a path, which is what a llama-server calls its model."""
    return PurePath(name).stem if name.lower().endswith(".gguf") else name


def _program(models: tuple[dict[str, Any], ...], metrics: str, props: dict[str, Any]) -> Program:
    owner = _OWNERS.get(str(models[0].get("owned_by")).lower(), Program.UNKNOWN)
    if owner is Program.SKEIN:  # its metrics have llama-server's names
        return owner
    lines = metrics.splitlines()
    found = next((program for prefix, program in _PREFIXES.items() if _has(lines, prefix)), owner)
    return found or (Program.LLAMA_SERVER if "build_info" in props else Program.UNKNOWN)


def _has(lines: list[str], prefix: str) -> bool:
    return any(line.startswith(prefix) for line in lines)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
