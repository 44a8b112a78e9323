"""The list of servers that run models: nobody is asked unasked, and no key is in the settings."""

from unittest.mock import Mock

import pytest
from keyring.errors import KeyringLocked

from app.bridge.tasks import finish_all
from app.models.hub_address import read_token
from app.protocol.errors import InvalidRequestError
from app.protocol.load import ServerKind
from app.remote.web import ServerError, UntrustedError
from app.services.preferences import Preferences
from app.services.servers import ServerModel, Servers, pasted
from app.settings.settings import Settings
from app.system.said import Said
from tests.remote.fake_server import VLLM_MODEL, FakeServer


@pytest.fixture
def preferences() -> Preferences:
    return Preferences(Settings())


@pytest.fixture
def servers(preferences, qapp) -> Servers:
    return Servers(preferences, preferences)


@pytest.mark.parametrize(
    ("text", "url", "key"),
    [
        ("gpu-box:8000", "http://gpu-box:8000", "typed"),
        (" https://gpu-box:8000/v1/ ", "https://gpu-box:8000", "typed"),
        ("https://host:8712/?key=linked", "https://host:8712", "typed"),
        ("https://gateway/openai/v1", "https://gateway/openai", "typed"),
    ],
)
def test_an_address_may_be_written_in_many_ways(text, url, key):
    server = pasted(text, key)
    assert (server.url, server.key) == (url, key)


def test_a_link_may_bring_its_key():
    assert pasted("https://host:8712/?key=linked").key == "linked"


@pytest.mark.parametrize("text", ["", "ftp://host", "http://", "http://host:none"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InvalidRequestError, match="https://host:8000"):
        pasted(text)


async def test_a_server_is_kept_without_its_key_and_opened_with_it(qloop, servers, preferences, ring):
    fake = FakeServer()
    async with fake.running():
        server, told = await servers.check(pasted(fake.url, "secret"))
        num_asked = len(fake.paths)
        servers.add(server, told.names)
        await finish_all()
        assert "secret" not in preferences.settings.model_dump_json()
        later = Servers(preferences, preferences)
        address = f"{fake.url}#{VLLM_MODEL['id']}"
        assert later.models == (ServerModel(address, VLLM_MODEL["id"], fake.url.removeprefix("http://")),)
        params = later.params_of(address)
        assert params
        assert params.server
        assert (params.server.key, params.server.kind, params.address) == ("", ServerKind.OPENAI, address)
        assert read_token(params.server.secret_name) == "secret", "which `open_remote` asks for"
        assert len(fake.paths) == num_asked, "nobody is asked before a chat is"


async def test_servers_at_the_same_host_are_told_apart(qloop, servers, ring):
    urls = ["http://gpu-box:8000", "https://gpu-box:8000", "https://gateway/a", "https://other"]
    for url in urls:
        servers.add(pasted(url), ("m",))
    await finish_all()
    assert [model.host for model in servers.models] == [*urls[:2], "gateway", "other"]
    servers.add(pasted("https://gateway/b"), ("m",))
    await finish_all()
    assert [model.host for model in servers.models][2:] == ["https://gateway/a", "other", "https://gateway/b"]


async def test_a_key_that_the_keyring_does_not_take_is_told(qloop, servers, ring, monkeypatch):
    told: list[str] = []
    servers.key_lost.connect(told.append)
    monkeypatch.setattr(ring, "set_password", Mock(side_effect=KeyringLocked))
    monkeypatch.setattr(ring, "delete_password", Mock(side_effect=KeyringLocked))
    servers.add(pasted("gpu-box:8000", "secret"), ("m",))
    servers.add(pasted("other:8000"), ("m",))
    await finish_all()
    assert len(told) == 1
    assert "The key of http://gpu-box:8000 could not be stored" in told[0]
    assert isinstance(told[0], Said), "it can be translated"
    assert servers.params_of("http://gpu-box:8000#m").server.key == "secret", "until Skein is closed"


async def test_a_removed_server_can_come_back_with_its_key(qloop, servers, ring):
    servers.add(pasted("gpu-box:8000", "secret"), ("m",))
    await finish_all()
    [one] = servers.known
    servers.remove(one)
    await finish_all()
    assert (servers.models, ring.kept) == ((), {})
    assert servers.params_of("http://gpu-box:8000#m") is None
    servers.undo_removal(one)
    await finish_all()
    assert list(ring.kept.values()) == ["secret"]
    assert servers.known == (one,)


async def test_what_is_no_such_server_is_told(qloop, servers):
    async with (fake := FakeServer([])).running():
        with pytest.raises(ServerError, match="lists no models"):
            await servers.check(pasted(fake.url))
    with pytest.raises(ServerError, match="cannot be reached"):
        await servers.check(pasted(fake.url))


async def test_a_skein_that_lends_its_engine_is_told_from_one_that_does_not(qloop, servers):
    skein = {"id": "m", "owned_by": "skein"}
    for pages, kind in (({}, ServerKind.OPENAI), ({"engine": "Upgrade."}, ServerKind.SKEIN)):
        async with (fake := FakeServer([skein], **pages)).running():
            assert (await servers.check(pasted(fake.url)))[0].kind is kind


async def test_a_strange_certificate_is_not_told_the_key(qloop, servers):
    from app.api.certificate import own_certificate

    async with (fake := FakeServer()).running(own_certificate([]).context()):
        with pytest.raises(UntrustedError):
            await servers.check(pasted(fake.url, "secret"))
        assert fake.keys == []
