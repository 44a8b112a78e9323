"""Limits for each caller, so that none can use up what others need."""

from dataclasses import dataclass

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds. An idle connection is closed as early as one whose first headers do not come."""

    num_connections: int = 512
    max_body_bytes: int = 16 << 20  # some pictures; to read as much text holds up other threads for 80 ms
    send_buffer_bytes: int = 64 << 10  # of the system, which else lets megabytes of an answer pile up unread
    header_s: float = 10.0
    body_s: float = 30.0
    send_s: float = 30.0  # for a reader to make room for the next piece of an answer
    linger_s: float = 1.0  # for a caller to read that its body is refused, while the body is discarded
    stop_s: float = 0.5  # for answers to end by themselves when the server is stopped


LIMITS = web.AppKey("limits", Limits)
