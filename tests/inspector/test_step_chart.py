from dataclasses import replace

from app.inspector.recording import Recording
from app.inspector.step_chart import encode_times, step_words
from app.protocol.events import Encoded
from app.protocol.report import CellUsage, StepReport
from tests.inspector.steps import span, step


def test_a_step_is_told_with_its_times_and_with_what_held_it_up() -> None:
    recording = Recording()
    recording.append([step(1, span(0, 50)), step(1_234, span(0, 51), span(1, 9), decode_ms=95.0)])
    words = step_words(recording, 1)
    assert words.head == "Step 1,234 · 2 rows"
    assert words.all_times == "schedule 0.10 ms · decode 95.0 ms · sample 0.20 ms · deliver 0.30 ms"
    assert words.causes[-1].startswith("The decode took 95.0 ms instead of about 10.0 ms")
    assert step_words(recording, 0).causes == ()
    assert step_words(recording, 0).rows == "1 row"


def test_the_time_of_encoding_stands_beside_the_step_that_waited_for_it() -> None:
    known = Encoded(None, "chat", "ab", 24, 0.0)
    report = StepReport(1, (), (), (), CellUsage(8, 0), events=(known, replace(known, ms=1157.4)))
    assert encode_times(report) == "encoding before it 1,157 ms"
    assert encode_times(replace(report, events=(known,))) == ""
