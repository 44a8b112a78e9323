"""Opens an engine that another program runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from app.engine.running import RunningEngine
from app.protocol.load import LoadParams, ServerKind
from app.protocol.model import ModelInfo
from app.remote.openai_engine import open_openai
from app.remote.skein_engine import open_skein


def open_remote(
    params: LoadParams, on_progress: Callable[[float], bool], on_reports_ready: Callable[[], None]
) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
    """Call `run` on this thread. `on_progress` cancels by returning False. Raises EngineError."""
    assert params.server
    opens = open_skein if params.server.kind is ServerKind.SKEIN else open_openai
    return opens(params, on_progress, on_reports_ready)
