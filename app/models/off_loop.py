"""Waits for work that may hang, such as a name server or a keyring, without keeping the program from ending.

`asyncio.to_thread` uses threads that are waited for at the end; these are not. Any asyncio loop.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises. Whoever is cancelled goes at once; the work goes on for nobody."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work(*args, **kwargs)
        except BaseException as error:
            _tell(loop, _fail, done, error)
        else:
            _tell(loop, _succeed, done, result)

    threading.Thread(target=run, name=getattr(work, "__name__", "off_loop"), daemon=True).start()
    return await done


def _tell(loop: asyncio.AbstractEventLoop, how: Callable[..., None], *what: Any) -> None:
    try:
        loop.call_soon_threadsafe(how, *what)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return


def _succeed(done: "asyncio.Future[T]", result: T) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: "asyncio.Future[T]", error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
