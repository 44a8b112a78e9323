"""Installs the clients into the cache folder, in their newest versions. Nothing of them is kept here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import venv
from pathlib import Path

CLIENTS = Path(__file__).parent / "clients"
PROGRAMS = {"node": "nodejs", "npm": "npm", "chromium": "chromium"}  # and what Debian calls the package
# By the name of the script in `clients`. Each package has an environment: they want different versions.
PYTHON_PACKAGES = {
    "openai_python": "openai",
    "openai_responses": "openai",
    "langchain": "langchain-openai",
    "litellm_": "litellm mcp",  # the second for tools, which it does not say
    "llama_index_": "llama-index-llms-openai-like",
    "instructor_": "instructor",
    "pydantic_ai_": "pydantic-ai-slim[openai]",
    "llm_": "llm",
    "anthropic_": "anthropic",
    "ollama_": "ollama",
}
NODE_PACKAGES = {
    "vercel_ai": ("ai", "@ai-sdk/openai-compatible", "zod"),
    "openai_browser": ("openai", "esbuild"),
}


def python_of(folder: Path, client: str) -> Path:
    """The Python of a client, installed when it is missing. Raises CalledProcessError."""
    package = PYTHON_PACKAGES[client]
    environment = folder / re.split(r"[\[ ]", package)[0]
    python = environment / "bin" / "python"
    if not (environment / "ready").exists():
        _run(_uv(folder), "venv", "--quiet", "--clear", environment)
        _run(_uv(folder), "pip", "install", "--quiet", "--python", python, *package.split())
        (environment / "ready").touch()
    return python


def node_folder(folder: Path, client: str) -> Path:
    """Where the scripts of `clients` lie beside the packages of this client. Raises CalledProcessError."""
    packages = NODE_PACKAGES[client]
    environment = folder / f"node-{client}"
    if not (environment / "ready").exists():
        shutil.rmtree(environment, ignore_errors=True)
        environment.mkdir(parents=True)
        (environment / "package.json").write_text('{"private": true, "type": "module"}')
        _run("npm", "--prefix", environment, "install", "--silent", "--no-audit", "--no-fund", *packages)
        (environment / "ready").touch()
    for script in CLIENTS.glob("*.js"):
        shutil.copy(script, environment)
    return environment


def node_version(environment: Path, package: str) -> str:
    return str(json.loads((environment / "node_modules" / package / "package.json").read_text())["version"])


def require_programs() -> None:
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing. Debian has it in the package {package}.")


def _uv(folder: Path) -> Path:
    """pip takes many minutes to find versions of some of these that go together."""
    environment = folder / "uv"
    uv = environment / "bin" / "uv"
    if not uv.exists():
        venv.create(environment, with_pip=True)
        _run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", "uv")
    return uv


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)
