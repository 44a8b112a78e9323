"""Who may ask: Host (T25), Origin (T26), the key and where it may stand (T27), what is bound (T28)."""

import itertools

import psutil
import pytest

from app.api.guard import is_loopback, new_key
from tests.api.conftest import KEY, serving

ROUTES = ["/health", "/v1/models", "/generate", "/v1/chat/completions", "/no-such-route"]


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", *headers, "Connection: close", "", ""]).encode()


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.com"],
        ["evil.com:PORT"],
        [":PORT"],
        [""],
        [],
        ["localhost:PORT", "evil.com"],
        ["127.0.0.1.evil.com:PORT"],
        ["localhost.:PORT"],
        ["127.0.0.1"],
        ["127.0.0.1:1"],
        ["user@127.0.0.1:PORT"],
        ["127.1:PORT"],
    ],
)
async def test_a_host_that_is_not_ours_is_refused_everywhere(hosts):
    async with serving() as served:
        lines = [f"Host: {host}".replace("PORT", str(served.port)) for host in hosts]
        for path in ROUTES:
            status, answer = await served.answer_to(get(path, *lines, f"X-Api-Key: {KEY}"))
            assert status in (400, 403), answer
            assert b'{"error":{' in answer


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
async def test_this_machines_names_are_answered(host):
    async with serving() as served:
        status, _ = await served.answer_to(get("/health", f"Host: {host}:{served.port}"))
        assert status == 200


async def test_an_absolute_target_does_not_get_round_the_check():
    async with serving() as served:
        request = get("http://evil.com/health", f"Host: 127.0.0.1:{served.port}")
        assert (await served.answer_to(request))[0] in (400, 403)
        tunnel = f"CONNECT evil.com:80 HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode()
        assert (await served.answer_to(tunnel))[0] in (400, 401, 403, 404, 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.com"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.com"},
        {"Origin": "http://notlocalhost"},
        {"Origin": "file://"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_page_from_elsewhere_is_refused_even_with_the_key(headers):
    async with serving() as served:
        for path in ROUTES:
            async with served.http.get(served.server.address + path, headers=headers) as response:
                assert response.status == 403
                assert "Access-Control-Allow-Origin" not in response.headers
                assert (await response.json())["error"]["type"] == "permission_error"
        async with served.http.post(
            served.server.address + "/generate", data='{"prompt": "x"}', headers=headers
        ) as response:  # a form's content type needs no preflight
            assert response.status == 403
        assert served.num_steps == 0


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8080"])
async def test_a_page_of_this_machine_may_ask_with_the_key(origin):
    async with serving() as served:
        headers = {"Origin": origin}
        async with served.http.get(served.server.address + "/v1/models", headers=headers) as response:
            assert response.status == 200
            assert response.headers["Access-Control-Allow-Origin"] == origin
        headers["Authorization"] = ""
        async with served.http.get(served.server.address + "/v1/models", headers=headers) as response:
            assert response.status == 401
            assert response.headers["Access-Control-Allow-Origin"] == origin  # else it could not read why


async def test_a_preflight_needs_no_key_and_tells_strangers_nothing():
    async with serving() as served:
        address = served.server.address + "/v1/chat/completions"
        for origin, is_allowed in [("http://localhost:3000", True), ("http://evil.com", False)]:
            headers = {"Origin": origin, "Authorization": "", "Access-Control-Request-Method": "POST"}
            async with served.http.options(address, headers=headers) as response:
                assert response.status == 200
                assert ("Access-Control-Allow-Origin" in response.headers) == is_allowed


OPENAI_JS = (
    "authorization, content-type, user-agent, x-stainless-arch, x-stainless-lang, x-stainless-os, "
    "x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, "
    "x-stainless-timeout, x-stainless-helper-method, openai-organization, openai-project, openai-beta"
)


async def test_a_page_may_send_every_header_that_its_client_sends():
    async with serving() as served:
        headers = {
            "Origin": "http://localhost:5173",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": OPENAI_JS,
            "Access-Control-Request-Private-Network": "true",
        }
        address = served.server.address + "/v1/chat/completions"
        async with served.http.options(address, headers=headers) as response:
            assert response.headers["Access-Control-Allow-Headers"] == OPENAI_JS
            assert response.headers["Access-Control-Allow-Credentials"] == "true"
            assert response.headers["Access-Control-Allow-Private-Network"] == "true"
        headers["Access-Control-Request-Headers"] = "x y, <script>"
        async with served.http.options(address, headers=headers) as response:
            assert "script" not in response.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("allowed", "origin", "is_allowed"),
    [
        ("app://obsidian.md", "app://obsidian.md", True),
        ("app://obsidian.md", "app://other.md", False),
        ("vscode-webview://*", "vscode-webview://0f3k1q", True),
        ("chrome-extension://abc", "chrome-extension://abc", True),
        ("chrome-extension://abc", "chrome-extension://abcd", False),
        ("tauri://localhost", "tauri://localhost", True),
        ("https://example.com", "https://example.com", True),
        ("https://example.com", "http://example.com", False),
        ("https://example.com", "https://example.com:8443", False),
        ("https://example.com", "https://example.com.evil.com", False),
        ("https://*.example.com", "https://chat.example.com", True),
        ("https://*.example.com", "https://evil.com", False),
        ("null", "null", True),
        ("*", "https://any.example.com:8443", True),
    ],
)
async def test_a_page_from_elsewhere_may_ask_where_it_is_allowed_but_not_without_the_key(
    allowed, origin, is_allowed
):
    async with serving(allowed_origins=[allowed]) as served:
        address = served.server.address + "/v1/models"
        headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
        async with served.http.get(address, headers=headers) as response:
            assert response.status == (200 if is_allowed else 403)
            assert response.headers.get("Access-Control-Allow-Origin") == (origin if is_allowed else None)
        async with served.http.get(address, headers=headers | {"Authorization": ""}) as response:
            assert response.status == (401 if is_allowed else 403)


async def test_further_names_lead_here_where_they_are_allowed():
    names = ["host.docker.internal", "*.lan", "*.ts.net"]
    cases = [
        ("host.docker.internal:9999", 200),
        ("pc.lan", 200),
        ("Pc.Tail1234.TS.net:443", 200),
        ("lan", 403),
        ("pc.lan.evil.com", 403),
        ("evil.com", 403),
    ]
    for host in ("127.0.0.1", "0.0.0.0"):
        async with serving(host=host, allowed_hosts=names) as served:
            for name, expected in cases:
                assert (await served.answer_to(get("/health", f"Host: {name}")))[0] == expected, name


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": f"Bearer {KEY}x"},
        {"Authorization": f"Bearer {KEY[:-1]}"},
        {"Authorization": KEY},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": "Bearer ÿ\u00e9"},
        {"Authorization": "", "X-Api-Key": "wrong"},
    ],
)
async def test_without_the_key_nothing_is_told(headers):
    async with serving() as served:
        for method, path in itertools.product(("GET", "POST"), ROUTES[1:]):
            url = served.server.address + path
            async with served.http.request(method, url, headers=headers, data=b"{}") as response:
                assert response.status == 401
                body = await response.json()
                assert body["error"]["type"] == "authentication_error"
                assert KEY not in str(body)


@pytest.mark.parametrize(
    "path",
    ["/V1/models", "//v1/models", "/v1//models", "/v1/models/", "/%761/models", "/health/../v1/models"],
)
async def test_no_spelling_of_a_path_gets_round_the_key(path):
    async with serving() as served:
        status, answer = await served.answer_to(get(path, f"Host: localhost:{served.port}"))
        assert status == 401, answer
        status, _ = await served.answer_to(get(f"{path}?key={KEY}", f"Host: localhost:{served.port}"))
        assert status == 401


async def test_the_key_is_taken_from_either_header():
    async with serving() as served:
        for header in (f"Authorization: Bearer {KEY}", f"authorization: bearer {KEY}", f"X-Api-Key: {KEY}"):
            status, _ = await served.answer_to(get("/v1/models", f"Host: localhost:{served.port}", header))
            assert status == 200


async def test_health_is_public_and_no_key_can_be_asked_for():
    async with serving() as served:
        assert await served.get("/health", headers={"Authorization": ""}) == (200, {"status": "ok"})
    async with serving(key=None) as served:
        assert (await served.get("/v1/models"))[0] == 200


async def test_only_the_loopback_interface_is_bound():
    async with serving() as served:
        bound = [
            one.laddr.ip
            for one in psutil.Process().net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.laddr.port == served.port
        ]
        assert bound == ["127.0.0.1"]


async def test_a_server_for_other_machines_answers_addresses_but_no_strange_names():
    async with serving(host="0.0.0.0") as served:
        for host, expected in [("192.168.1.5:80", 200), ("rebound.evil.com", 403), ("localhost", 200)]:
            assert (await served.answer_to(get("/health", f"Host: {host}")))[0] == expected


def test_what_is_loopback():
    assert all(map(is_loopback, ["127.0.0.1", "127.3.2.1", "::1", "[::1]", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "192.168.0.1", "::", "example.com", ""]))


def test_keys_are_long_and_never_the_same():
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert min(map(len, keys)) >= 43  # 32 random bytes
