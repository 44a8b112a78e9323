"""Reads the header of a GGUF on the hub: downloads some megabytes, no weights. Any asyncio loop."""

from __future__ import annotations

import asyncio
import io
import re
from typing import TYPE_CHECKING

from app.models import hub_trouble
from app.models.gguf_header import GgufHeader, HeaderCutError, HeaderError, read_header
from app.system.said import said

if TYPE_CHECKING:
    from app.models.hub_session import HubSession

FIRST_BYTES = 2**20
MAX_BYTES = 32 * 2**20  # vocabularies of 260,000 words take 15 MB
MAX_S = 120.0


async def read_remote_header(url: str, endpoint: str, token: str = "") -> GgufHeader:
    """Doubles the range until the header is complete. Raises HubError, HeaderError."""
    import aiohttp

    from app.models.hub_session import HubSession

    begin = b""
    try:
        async with asyncio.timeout(MAX_S), HubSession(endpoint, token) as session:
            while len(begin) < MAX_BYTES:
                begin += await _piece(session, url, len(begin), max(len(begin), FIRST_BYTES))
                try:
                    return read_header(io.BytesIO(begin))
                except HeaderCutError:
                    continue
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise hub_trouble.unreachable(endpoint, error) from error
    raise HeaderError(said("its header is too large to inspect remotely"))


async def _piece(session: HubSession, url: str, begin: int, length: int) -> bytes:
    async with session.get(url, f"{begin}-{begin + length - 1}") as (response, _checksum):
        span = re.match(rf"bytes {begin}-", response.headers.get("Content-Range", ""))
        if response.status != 206 or not span:
            raise HeaderError(said("the hub does not support range requests"))
        piece = bytearray()
        async for chunk in response.content.iter_chunked(2**18):
            piece += chunk
            if len(piece) >= length:
                break
    if not piece:
        raise HeaderError(said("it is truncated within its header"))
    return bytes(piece[:length])
