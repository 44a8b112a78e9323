"""Awaits blocking work that may hang, such as a name server or keyring, without blocking the program's exit.

Threads of `asyncio.to_thread` are joined at exit; these are daemons. Any asyncio loop.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises. Cancelling returns at once; the work then runs on unobserved."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work(*args, **kwargs)
        except BaseException as error:
            _call_in_loop(loop, _fail, done, error)
        else:
            _call_in_loop(loop, _succeed, done, result)

    threading.Thread(target=run, name=getattr(work, "__name__", "off_loop"), daemon=True).start()
    return await done


def _call_in_loop(loop: asyncio.AbstractEventLoop, how: Callable[..., None], *what: Any) -> None:
    try:
        loop.call_soon_threadsafe(how, *what)
    except RuntimeError:  # the loop is closed: the result is not needed any more
        return


def _succeed(done: "asyncio.Future[T]", result: T) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: "asyncio.Future[T]", error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
