"""Has two models compared in a process that can be killed: see `comparison_child`. Any thread."""

from collections.abc import Callable

from app.protocol.comparison import Compare, Comparison
from app.protocol.errors import EngineError
from app.protocol.wire import COMPARE, COMPARISON
from app.system.said import said
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

CHILD = "app.engine.children.comparison_child"


def compared(question: Compare, child: Worker, on_progress: Callable[[float], object]) -> Comparison:
    """Blocks; `child`, a Worker of CHILD, ends it from any thread. Raises EngineError, RequestError."""
    try:
        asked = COMPARE.packed(question)
        _, parts = child.ask({}, *asked, on_news=lambda news: on_progress(news["progress"]))
    except WorkerRefusedError as refusal:
        raise EngineError(str(refusal)) from None
    except WorkerEndedError as error:
        raise EngineError(
            said(
                "The process of the comparison ended ({how}): there is not enough memory, or one of the two "
                "files is damaged. Close other programs, or choose another file.",
                how=error.signal_name or said("exit code {code}", code=error.exit_code),
            )
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise EngineError(
            said("The comparison could not be started: {reason}. Close other programs.", reason=reason)
        ) from error
    finally:
        child.close()
    return COMPARISON.unpacked(parts)
