"""mcp.json, as other programs write it."""

from __future__ import annotations

import json

import pytest

from app.protocol.errors import InvalidRequestError
from app.tools.server_config import Input, ServerConfig, checked_name, read_mcp_json


def test_claude_desktop_and_lm_studio():
    entry = {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "/tmp", "timeout_ms": 500}
    remote = {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}}
    text = json.dumps({"mcpServers": {"files": entry, "remote": remote}})
    assert read_mcp_json(text) == [
        ServerConfig("files", "npx", ("-y", "x"), {"A": "1"}, "/tmp", timeout_s=0.5),
        ServerConfig("remote", url=remote["url"], headers={"Authorization": "Bearer x"}),
    ]
    assert read_mcp_json("{}") == []


def test_vs_code_with_inputs():
    text = json.dumps(
        {
            "inputs": [{"id": "key", "type": "promptString", "description": "API key", "password": True}],
            "servers": {
                "a": {"type": "stdio", "command": "x", "env": {"KEY": "${input:key}"}},
                "b": {"type": "sse", "url": "http://localhost:1/sse"},
            },
        }
    )
    first, second = read_mcp_json(text)
    assert first.inputs == (Input("key", "API key", True),)
    filled = first.filled({"key": "secret"})
    assert (filled.environment, filled.inputs) == ({"KEY": "secret"}, ())
    assert second.uses_sse
    assert second.inputs == ()


def test_what_is_written_is_read_again():
    whole = {
        "one": ServerConfig("one", "x", ("a b",), {"A": "1"}, "/tmp", timeout_s=2),
        "two": ServerConfig("two", url="https://example.com", headers={"X": "y"}, uses_sse=True),
    }
    text = json.dumps({"mcpServers": {name: config.entry() for name, config in whole.items()}})
    assert read_mcp_json(text) == list(whole.values())


def test_secrets_are_in_no_repr():
    config = ServerConfig("a", "x", environment={"K": "canary"}, headers={"K": "canary"})
    assert "canary" not in repr(config)


def test_the_fingerprint_is_of_all_that_is_started():
    plain = ServerConfig("a", "x", ("y",), {"A": "1"})
    assert plain.fingerprint == ServerConfig("other", "x", ("y",), {"A": "1"}, timeout_s=5).fingerprint
    others = [
        ServerConfig("a", "x", ("z",), {"A": "1"}),
        ServerConfig("a", "x", ("y",), {"A": "2"}),
        ServerConfig("a", "x", ("y",), {"A": "1"}, folder="/"),
        ServerConfig("a", "x y", (), {"A": "1"}),
    ]
    assert len({plain.fingerprint, *(other.fingerprint for other in others)}) == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        '{"mcpServers": 5}',
        '{"mcpServers": {"a": 5}}',
        '{"mcpServers": {"a": {}}}',
        '{"mcpServers": {"": {"command": "x"}}}',
        '{"mcpServers": {"a": {"command": "x", "timeout_ms": 0}}}',
        '{"mcpServers": {"a": {"command": "x\\u0000"}}}',
        '{"mcpServers": {"a": {"type": "carrier pigeon", "command": "x"}}}',
        '{"mcpServers": {"a": {"url": "file:///etc/passwd"}}}',
        "[" * 100_000,
    ],
)
def test_a_list_that_cannot_be_read_is_refused(text):
    with pytest.raises(InvalidRequestError, match="list of MCP servers"):
        read_mcp_json(text)


def test_names_can_be_part_of_a_key():
    assert checked_name("io.github.me/files") == "io.github.me-files"
    assert checked_name("bell\a") == "bell-"
    assert checked_name("skein") == "skein-mcp"
    assert len(checked_name("x" * 500)) <= 40
