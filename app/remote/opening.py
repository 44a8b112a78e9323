"""Opens an engine that another program runs."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

from app.engine.running import RunningEngine
from app.models.hub_address import read_token
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams, ServerKind
from app.protocol.model import ModelInfo

POLL_S = 0.05


@contextlib.contextmanager
def open_remote(
    params: LoadParams, on_progress: Callable[[float], bool], on_reports_ready: Callable[[], None]
) -> Iterator[tuple[ModelInfo, RunningEngine]]:
    """Call `run` on this thread, which asks the keyring. `on_progress` cancels by returning False.

    Raises EngineError.
    """
    # Here, so that the window need not wait for aiohttp.
    from app.remote.openai_engine import OpenAiEngine
    from app.remote.skein_engine import SkeinEngine
    from app.remote.web import ServerError, Web

    server = params.server
    assert server
    web = Web(replace(server, key=server.key or read_token(server.secret_name)))
    kind = SkeinEngine if server.kind is ServerKind.SKEIN else OpenAiEngine
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        engine = kind(web, params.path, runner, on_reports_ready)
        try:
            yield runner.run(_unless_cancelled(engine.connect(), on_progress)), engine
        except ServerError as error:
            raise ModelLoadError(str(error)) from error
        finally:
            runner.run(engine.close())


async def _unless_cancelled(
    connecting: Coroutine[Any, Any, ModelInfo], on_progress: Callable[[float], bool]
) -> ModelInfo:
    """Raises ModelLoadCancelledError once `on_progress` returns False."""
    task = asyncio.ensure_future(connecting)
    while not (await asyncio.wait([task], timeout=POLL_S))[0]:
        if not on_progress(0.0):
            task.cancel()
            raise ModelLoadCancelledError("It was called off.")
    return task.result()
