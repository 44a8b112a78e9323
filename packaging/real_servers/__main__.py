"""Chats with real servers through Skein's engine for them, and prints a table of what each can.

    packaging/real_servers/run [--llama-server PROGRAM] [--model FILE.gguf] [vllm] [skein] [llama-server]

vLLM is installed once, about 3 GB, below the cache folder; its model is tiny and random. The others have
FILE.gguf, or a model that babbles. Exit code 0: whatever a server has a way for was done.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from api_clients import server
from api_clients.model import write_babbler
from real_servers import vllm
from real_servers.checks import CHECKS, Check, chatting, picture
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.native.tiny_projectors import MODEL_OF, write_tiny_projector

CACHE = Path(platformdirs.user_cache_dir("skein")) / "real-servers"
KEY = "the-right-key"
SERVERS = ("llama-server", "skein", "vllm")


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/real_servers/run", description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=f"of {', '.join(SERVERS)}; all")
    parser.add_argument("--llama-server", type=Path, help="of the pinned version")
    parser.add_argument("--model", type=Path, metavar="FILE.gguf")
    options = parser.parse_args()
    os.environ.update(vllm.ENVIRONMENT)
    server.START_TIMEOUT_S = vllm.START_TIMEOUT_S
    chosen = options.servers or [one for one in SERVERS if one != "llama-server" or options.llama_server]
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or Path(folder) / "babbler.gguf"
        if not options.model:
            write_babbler(model)
        num_failed = sum(_run(name, _command(name, options.llama_server, model.resolve())) for name in chosen)
        seeing = (name for name in chosen if name != "vllm")
        num_failed += sum(_run_seeing(name, options.llama_server, Path(folder)) for name in seeing)
    return 1 if num_failed else 0


def _run_seeing(name: str, llama_server: Path | None, folder: Path) -> int:
    """Pictures, with a tiny projector of random weights."""
    model, projector = folder / "seeing.gguf", folder / "mmproj-seeing.gguf"
    write_tiny_gguf(model, MODEL_OF["gemma3"])
    write_tiny_projector(projector, "gemma3")
    command = [*_command(name, llama_server, model), "--mmproj", str(projector)]
    return _run(f"{name} sees", command, (picture,))


def _command(name: str, llama_server: Path | None, model: Path) -> list[str]:
    match name:
        case "vllm":
            return vllm.serving(CACHE / "vllm", KEY)
        case "skein":
            return server.skein(model, KEY)
        case "llama-server" if llama_server:
            return server.llama_server(llama_server.resolve(), model, KEY)
    raise SystemExit(f"{name}: one of {', '.join(SERVERS)}, and the program of a llama-server.")


def _run(name: str, command: list[str], checks: Sequence[Check] = CHECKS) -> int:
    with server.running(command) as url:
        return asyncio.run(_checked(name, url, checks))


async def _checked(name: str, url: str, checks: Sequence[Check]) -> int:
    num_failed = 0
    async with chatting(url, KEY) as chats:
        for check in checks:
            try:
                words = await check(chats)
            except Exception as error:  # of one check; the others go on
                words, num_failed = f"FAILED: {error!r}"[:200], num_failed + 1
            print(f"{name:20}{check.__name__:14}{' '.join(words.split())}", flush=True)
    return num_failed


if __name__ == "__main__":
    sys.exit(main())
