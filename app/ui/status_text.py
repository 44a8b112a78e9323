"""The status bar's parts. Pure functions."""

from app.engine.types import ModelInfo, SlotState, StepReport
from app.look.figures import count, rate


def model_text(model: ModelInfo | None) -> str:
    return model.name if model else "No model"


def cells_text(report: StepReport | None, n_ctx: int) -> str:
    if not n_ctx:
        return ""
    used = report.cells.num_used if report else 0
    shared = report.cells.num_shared if report else 0
    return f"{count(used)} / {count(n_ctx)} cells, {count(shared)} shared, {count(n_ctx - used)} free"


def queue_text(report: StepReport | None) -> str:
    running = sum(slot.is_running for slot in report.slots) if report else 0
    waiting = report.num_waiting if report else 0
    what = "paused" if report and report.pause else "running"
    return f"{running} {what}, {waiting} waiting"


def speed_text(report: StepReport | None) -> str:
    """All answers together."""
    slots = report.slots if report else ()
    return rate(sum(slot.usage.tokens_per_s for slot in slots if slot.state is SlotState.DECODE))
