"""The inspector's panels and their default arrangement. A new panel is added here.

Panels whose actions are in the window's menus are made at the start, the others when first seen.
"""

from app.inspector.dock_panel import DockPanel, Later
from app.inspector.docks import Rows
from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.sequences import SequencesPanel
from app.inspector.stepper_panel import StepperPanel
from app.look.words import mark


def _prefix() -> type[DockPanel]:
    from app.inspector.prefix_panel import PrefixPanel

    return PrefixPanel


def _lens() -> type[DockPanel]:
    from app.inspector.lens_panel import LensPanel

    return LensPanel


def _tree() -> type[DockPanel]:
    from app.inspector.tree_panel import TreePanel

    return TreePanel


def _kv_map() -> type[DockPanel]:
    from app.inspector.kv_map import KvMapPanel

    return KvMapPanel


def _timeline() -> type[DockPanel]:
    from app.inspector.batch_timeline import TimelinePanel

    return TimelinePanel


def _events() -> type[DockPanel]:
    from app.inspector.events import EventsPanel

    return EventsPanel


PREFIX = Later("prefix", mark("Why did it recompute?"), _prefix)
LENS = Later("lens", mark("Lens"), _lens)
TREE = Later("tree", mark("Branches"), _tree)
KV_MAP = Later("kv map", mark("KV map"), _kv_map)
TIMELINE = Later("timeline", mark("Batches"), _timeline)
EVENTS = Later("events", mark("Events"), _events)

ROWS: Rows = (
    (5, (SequencesPanel, PREFIX, ProbabilitiesPanel, LENS, TREE)),
    (5, (KV_MAP, TIMELINE, StepperPanel, EVENTS)),
)
