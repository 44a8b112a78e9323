"""Which panels the inspector has, and where they are at first. A new panel is one more name here."""

from app.inspector.batch_timeline import TimelinePanel
from app.inspector.docks import Rows
from app.inspector.events import EventsPanel
from app.inspector.kv_map import KvMapPanel
from app.inspector.prefix_panel import PrefixPanel
from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.sequences import SequencesPanel
from app.inspector.stepper_panel import StepperPanel

ROWS: Rows = (
    (5, (SequencesPanel, PrefixPanel, ProbabilitiesPanel)),
    (5, (KvMapPanel, TimelinePanel, StepperPanel, EventsPanel)),
)
