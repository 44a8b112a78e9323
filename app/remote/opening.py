"""Opens an engine that another program runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from app.engine.running import RunningEngine
from app.models.hub_address import read_token
from app.protocol.load import LoadParams, ServerKind
from app.protocol.model import ModelInfo


def open_remote(
    params: LoadParams, on_progress: Callable[[float], bool], on_reports_ready: Callable[[], None]
) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
    """Call `run` on this thread, which asks the keyring. `on_progress` cancels by returning False.

    Raises EngineError.
    """
    # Here, so that the window need not wait for aiohttp.
    from app.remote.openai_engine import open_openai
    from app.remote.skein_engine import open_skein

    server = params.server
    assert server
    key = server.key or read_token(server.secret_name)
    opens = open_skein if server.kind is ServerKind.SKEIN else open_openai
    return opens(replace(params, server=replace(server, key=key)), on_progress, on_reports_ready)
