import socket

import pytest

from app.models import hub_address
from app.models.hub_address import HubError
from app.models.hub_session import _Resolver


@pytest.mark.parametrize(
    ("setting", "environment", "endpoint"),
    [
        ("", {}, "https://huggingface.co"),
        ("", {"HF_ENDPOINT": "https://hf-mirror.com/"}, "https://hf-mirror.com"),
        ("https://mirror.example/hub/", {"HF_ENDPOINT": "https://other"}, "https://mirror.example/hub"),
        ("http://127.0.0.1:8090", {}, "http://127.0.0.1:8090"),
        ("http://localhost:8090", {}, "http://localhost:8090"),
        ("http://mirror.example", {}, None),
        ("https://user:secret@mirror.example", {}, None),
        ("mirror.example", {}, None),
        ("file:///etc", {}, None),
        ("https://", {}, None),
        ("https://a:99999", {}, None),
        ("https://a?b", {}, None),
    ],
)
def test_the_address_of_a_hub(setting: str, environment: dict[str, str], endpoint: str | None) -> None:
    if endpoint:
        assert hub_address.endpoint_of(setting, environment) == endpoint
    else:
        with pytest.raises(HubError, match="https://"):
            hub_address.endpoint_of(setting, environment)


@pytest.mark.parametrize(
    ("url", "endpoint", "is_allowed"),
    [
        ("https://cdn.example/x", "https://huggingface.co", True),
        ("https://127.0.0.1/x", "https://huggingface.co", False),
        ("https://[::1]/x", "https://huggingface.co", False),
        ("https://[::ffff:10.0.0.1]/x", "https://huggingface.co", False),
        ("https://10.1.2.3/x", "https://huggingface.co", False),
        ("https://169.254.169.254/x", "https://huggingface.co", False),
        ("https://printer.local/x", "https://huggingface.co", False),
        ("https://localhost/x", "https://huggingface.co", False),
        ("http://cdn.example/x", "https://huggingface.co", False),
        ("http://127.0.0.1:2/x", "http://127.0.0.1:1", True),
        ("http://10.0.0.2/x", "http://127.0.0.1:1", False),
        ("https://10.0.0.2/x", "https://10.0.0.1", True),
    ],
)
def test_where_a_hub_may_send_us(url: str, endpoint: str, is_allowed: bool) -> None:
    if is_allowed:
        hub_address.check(url, endpoint)
    else:
        with pytest.raises(HubError, match="not safe"):
            hub_address.check(url, endpoint)


async def test_no_name_may_lead_into_the_local_network() -> None:
    assert await _Resolver("http://localhost:1").resolve("localhost", 80, socket.AF_INET)
    with pytest.raises(HubError, match="not safe"):
        await _Resolver("https://huggingface.co").resolve("localhost", 80, socket.AF_INET)
