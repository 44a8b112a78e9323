import socket

import pytest

from app.models.hub_address import HubError
from app.models.hub_session import _Resolver


async def test_no_name_may_lead_into_the_local_network() -> None:
    assert await _Resolver("http://localhost:1").resolve("localhost", 80, socket.AF_INET)
    with pytest.raises(HubError, match="not safe"):
        await _Resolver("https://huggingface.co").resolve("localhost", 80, socket.AF_INET)
