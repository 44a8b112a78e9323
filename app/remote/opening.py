"""Opens an engine that another program runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from app.engine.running import RunningEngine
from app.protocol.load import LoadParams, ServerKind
from app.protocol.model import ModelInfo
from app.remote.openai_engine import open_openai


def open_remote(
    params: LoadParams, on_progress: Callable[[float], bool], on_reports_ready: Callable[[], None]
) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
    """Call `run` on this thread. `on_progress` cancels by returning False. Raises EngineError."""
    assert params.server
    assert params.server.kind is ServerKind.OPENAI
    return open_openai(params, on_progress, on_reports_ready)
