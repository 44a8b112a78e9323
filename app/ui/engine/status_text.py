"""The status bar's parts. Pure functions."""

from app.look.figures import count, rate
from app.look.words import tr
from app.protocol.model import ModelInfo
from app.protocol.report import SlotState, StepReport


def model_text(model: ModelInfo | None, is_asleep: bool = False) -> str:
    if model and is_asleep:
        return tr("{name}, asleep", name=model.name)
    return model.name if model else tr("No model")


def cells_text(report: StepReport | None, n_ctx: int) -> str:
    if not n_ctx:
        return ""
    used = report.cells.num_used if report else 0
    shared = report.cells.num_shared if report else 0
    return tr(
        "{used} / {total} cells, {shared} shared, {free} free",
        used=count(used),
        total=count(n_ctx),
        shared=count(shared),
        free=count(n_ctx - used),
    )


def queue_text(report: StepReport | None) -> str:
    running = sum(slot.is_running for slot in report.slots) if report else 0
    waiting = report.num_waiting if report else 0
    if report and report.pause:
        return tr("{paused} paused, {waiting} waiting", paused=running, waiting=waiting)
    return tr("{running} running, {waiting} waiting", running=running, waiting=waiting)


def speed_text(report: StepReport | None) -> str:
    """All answers together."""
    slots = report.slots if report else ()
    return rate(sum(slot.usage.tokens_per_s for slot in slots if slot.state is SlotState.DECODE))
