"""The schemas of tools that real MCP servers offer. The servers are installed into the cache folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SERVERS = {
    "@modelcontextprotocol/server-filesystem": ["mcp-server-filesystem", "."],
    "@modelcontextprotocol/server-memory": ["mcp-server-memory"],
    "@modelcontextprotocol/server-everything": ["mcp-server-everything"],
    "@modelcontextprotocol/server-sequential-thinking": ["mcp-server-sequential-thinking"],
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "skein", "version": "0"}}
MESSAGES: list[dict[str, Any]] = [
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
]


def mcp_tools(folder: Path) -> dict[str, dict[str, Any]]:
    """By server and tool. Raises CalledProcessError."""
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        command = ["npm", "--prefix", str(folder), "install", "--silent", "--no-audit", "--no-fund", *SERVERS]
        subprocess.run(command, check=True)
        (folder / "ready").touch()
    return {
        f"{command[0]} {name}": schema
        for command in SERVERS.values()
        for name, schema in _tools(folder, command)
    }


def _tools(folder: Path, command: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    program = folder / "node_modules" / ".bin" / command[0]
    server = subprocess.Popen(
        [str(program), *command[1:]],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdin
    assert server.stdout
    for message in MESSAGES:
        print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == MESSAGES[-1]["id"]:
            yield from ((tool["name"], tool["inputSchema"]) for tool in answer["result"]["tools"])
            break
    server.kill()
    server.wait()
