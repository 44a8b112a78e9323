"""What a server tells of its work, and that the other panels do not guess the rest."""

import pytest

from app.inspector.batch_timeline import TimelinePanel
from app.inspector.kv_map import KvMapPanel
from app.inspector.recording import Recording
from app.inspector.sequences import SequencesPanel
from app.inspector.server_panel import ServerPanel
from app.protocol.report import CellUsage, StepReport
from app.protocol.server_figures import FigureKind, ServerFigure, ServerFigures
from tests.fakes import model_info

THERE = model_info(server="http://gpu-box:8000", n_seq_max=0)


def told(*figures: ServerFigure) -> StepReport:
    return StepReport(1, (), (), (), CellUsage(0), server=ServerFigures("vLLM 0.11.0", figures))


@pytest.fixture
def recording(qapp) -> Recording:
    recording = Recording()
    recording.start(THERE)
    return recording


@pytest.fixture
def panel(recording, qtbot) -> ServerPanel:
    panel = ServerPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(600, 340)
    panel.show()
    return panel


def test_each_figure_has_its_unit_and_its_source(panel, recording):
    source = "vllm:kv_cache_usage_perc"
    recording.append([told(ServerFigure(FigureKind.KV_USE, 0.25, source))])
    panel.draw()
    assert panel.head.text() == "vLLM 0.11.0 · gpu-box:8000"
    row = panel.rows[FigureKind.KV_USE]
    assert (row.text, row.toolTip()) == ("25%", source)
    assert panel.rows[FigureKind.WAITING].text == "not told by this server"
    assert panel.grab().width()


def test_a_second_without_an_answer_leaves_a_gap_and_the_last_figure(panel, recording):
    seen = [ServerFigure(FigureKind.FIRST_TOKEN_S, value, "ttft") for value in (0.5, 0.25, None)]
    recording.append([told(one) for one in seen])
    panel.draw()
    row = panel.rows[FigureKind.FIRST_TOKEN_S]
    assert row.text == "0.2 s"
    assert row.accessibleName() == "First token: 0.2 s"


@pytest.mark.parametrize(
    ("model", "says"),
    [(THERE, "gpu-box:8000 is asked"), (model_info(), "runs in Skein"), (None, "Add an engine")],
)
def test_an_empty_panel_says_why(recording, panel, model, says):
    recording.start(model)
    panel.reset()
    assert says in panel.message.text()
    assert not panel.message.isHidden()


@pytest.mark.parametrize("kind", [KvMapPanel, TimelinePanel, SequencesPanel])
def test_the_other_panels_have_nothing_to_show_of_it(recording, qtbot, kind):
    panel = kind(recording)
    qtbot.addWidget(panel)
    recording.append([told()])
    panel.draw()
    assert not recording.steps
    if kind is not SequencesPanel:
        assert "Not told by this server" in panel.message.text()
