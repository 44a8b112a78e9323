"""Patterns of web pages and host names, as they are written on a command line or in Settings."""

import re

import pytest

from app.settings.api_access import fault_of_hosts, fault_of_origins, matches, words_of


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://example.com, http://192.168.1.5:3000",
        "app://obsidian.md vscode-webview://* chrome-extension://abc tauri://localhost",
        "https://*.example.com null http://[fe80::1]:80",
        "*",
    ],
)
def test_origins_that_can_be_allowed(text):
    assert fault_of_origins(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("example.com", "is not an origin"),
        ("https://example.com/path", "is not an origin"),
        ("https://*", "every website"),
        ("http://*:80", "every website"),
        ("https://*.com", "every website"),
        ("https://a.com, https://*", r"^https://\* would allow"),
    ],
)
def test_origins_that_cannot_are_refused_with_the_reason(text, reason):
    assert re.search(reason, fault_of_origins(text))


def test_host_names():
    assert fault_of_hosts("host.docker.internal, *.lan *.ts.net my-pc") == ""
    for text in ("*", "http://x", "a.*", "*.*", "x:80"):
        assert "is not a host name" in fault_of_hosts(text)


def test_a_star_stands_for_a_host_and_nothing_else():
    assert matches("PC.lan", ["*.lan"])
    assert matches("app://x", ["app://*"])
    assert not matches("app://x/y", ["app://*"])
    assert not matches("axlan", ["*.lan"])
    assert words_of(" a,b  c ,") == ("a", "b", "c")
