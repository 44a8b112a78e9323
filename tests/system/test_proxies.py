import pytest

from app.system.proxies import proxy_for

PROXY = "http://proxy.test:3128"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", PROXY)
    monkeypatch.setenv("https_proxy", "proxy.test:3128")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "localhost", "mcp.localhost", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_machine_is_asked_without_a_proxy(host: str) -> None:
    assert proxy_for(f"http://{host}:8000/mcp") is None
    assert proxy_for(f"https://{host}/mcp") is None


@pytest.mark.parametrize(
    ("excepted", "direct", "others"),
    [
        ("", [], ["a.test", "localhost.test", "10.1.2.3"]),
        ("*", ["a.test", "10.1.2.3"], []),
        ("a.test, .b.test", ["a.test", "x.a.test", "b.test", "x.b.test"], ["ba.test", "c.test"]),
        ("*.a.test", ["x.a.test", "x.y.A.test"], ["a.test", "xa.test"]),
        (
            "10.0.0.0/8,192.168.1.7,[fd00::]/8",
            ["10.1.2.3", "192.168.1.7", "[fd01::1]"],
            ["11.1.2.3", "192.168.1.8", "[fe80::1]"],
        ),
        ("fd00::/8", ["[fd01::1]"], ["[fe80::1]", "10.1.2.3"]),
    ],
)
def test_what_no_proxy_excepts_is_asked_without_one(
    excepted: str, direct: list[str], others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", excepted)
    assert [proxy_for(f"http://{host}/") for host in direct] == [None] * len(direct)
    assert [proxy_for(f"https://{host}/") for host in others] == [PROXY] * len(others)


def test_a_proxy_for_all_schemes_and_one_of_a_kind_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("https_proxy")
    assert proxy_for("https://a.test/") is None
    monkeypatch.setenv("all_proxy", "http://all.test")
    assert proxy_for("https://a.test/") == "http://all.test"
    monkeypatch.setenv("all_proxy", "socks5://all.test")
    assert proxy_for("https://a.test/") is None
    assert proxy_for("http://a.test/") == PROXY
