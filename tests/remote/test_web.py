"""The connection to a server."""

import socket

import pytest

from app.protocol.load import Server, ServerKind
from app.remote.web import Web
from tests.remote.fake_server import FakeServer


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="macOS names it otherwise")
async def test_a_silent_server_is_asked_by_the_system_whether_it_is_there() -> None:
    async with FakeServer().running() as fake:
        web = Web(Server(fake.url, ServerKind.OPENAI))
        async with web._response("GET", "/v1/models") as response:
            assert response.connection
            assert response.connection.transport
            connected = response.connection.transport.get_extra_info("socket")
            assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        await web.close()
