"""What leaves the program as a page: nothing of it is markup, and nothing is told that was to stay."""

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.inspector import recording_file
from app.inspector.recording import Recording
from app.inspector.recording_file import load, save
from app.inspector.stalls import has_run
from app.protocol import recording as file_format
from app.protocol.answer_format import AnswerFormat
from app.protocol.events import Encoded, EventKind, Leased, Shortened, Told, ToolRan
from app.protocol.media import Encoding, MediaSpan
from app.protocol.output import MessageDelta, Output, SampledToken, TokenLogprob
from app.protocol.recording import PACKED, RecordingFileError
from app.protocol.report import CellMap, StepReport, TokenTexts
from tests.fakes import model_info
from tests.inspector.steps import busy_step, idle_step, slot, step, waiting
from tests.inspector.test_recording import RARE

ATTACKS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<!--<script>",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=javascript:alert(1)>",
    "<link rel=stylesheet href=//evil.example>",
    "<style>@import '//evil.example'</style>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "<body onload=alert(1)>",
    "<math><mtext></mtext><script>alert(1)</script></math>",
    "<template><script>alert(1)</script></template>",
    "<form action=javascript:alert(1)><input type=submit>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "\u2028alert(1)\u2029",
    "';alert(1)//",
    "\\u003cscript\\u003ealert(1)",
    "${alert(1)}`",
    "__proto__",
    "constructor",
    "\x00<script>alert(1)</script>",
    "＜script＞alert(1)＜/script＞",
)


def with_texts(texts: Iterator[str]) -> Recording:
    """Each stands in a title, an answer, an event, a chat's id and the text of a token."""
    recording = Recording()
    recording.start(model_info(name="Hostile <b>model</b>"))
    for number, text in enumerate(texts):
        recording.note_titles({f"chat {number % 8}": text, text: text})
        recording.token_texts[100 + number] = text.encode()
        one = busy_step(number)
        outputs = tuple(replace(output, text=text) for output in one.outputs)
        event = Told(EventKind.NATIVE, text, 0, text)
        recording.append([replace(one, outputs=outputs, events=(event,))])
    return recording


def packed_in(path: Path) -> bytes:
    """The lines of a page."""
    _, _, rest = path.read_text("utf-8").partition(PACKED)
    return gzip.decompress(b"".join(map(base64.b64decode, rest.partition("<")[0].split())))


def test_a_page_is_opened_again_as_it_was(tmp_path: Path) -> None:
    recording = with_texts(iter(ATTACKS))
    holders = np.array([[1], [3], [0]], np.uint64)
    recording.cell_map = CellMap(np.arange(3, dtype=np.int32), np.array([7, 9, -1], np.int32), holders, 2)
    recording.append(replace(busy_step(number), step=number) for number in range(40, 400))
    save(recording, tmp_path / "a.html")
    again = load(tmp_path / "a.html")
    assert list(again.steps) == list(recording.steps)
    assert again.titles.items() <= recording.titles.items()
    assert again.token_texts == recording.token_texts
    assert again.model == recording.model
    for name in ("pos", "token_ids", "holders"):
        assert np.array_equal(getattr(again.cell_map, name), getattr(recording.cell_map, name))


def test_no_text_of_a_recording_is_markup(tmp_path: Path) -> None:
    """Between the page and its end there is base64, and nothing else."""
    assert len(ATTACKS) >= 30
    save(with_texts(iter(ATTACKS)), tmp_path / "a.html")
    begin, end = recording_file.page()
    text = (tmp_path / "a.html").read_text("utf-8")
    assert text.startswith(begin)
    assert text.endswith(end)
    assert re.fullmatch(r"[A-Za-z0-9+/=\n]+", text[len(begin) : -len(end)])
    for attack in ATTACKS:
        assert json.dumps(attack)[1:-1] in packed_in(
            tmp_path / "a.html"
        ).decode() or attack.encode() in packed_in(tmp_path / "a.html")


def test_the_page_runs_its_own_script_alone() -> None:
    text = "".join(recording_file.page())
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    for kind in ("style", "script"):
        [content] = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "://" not in text  # it loads nothing
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|srcdoc|href", text
    )
    assert not re.findall(r"""\bon[a-z]+=|style=|createContextualFragment|parseFromString|\.src\b""", text)


# Without prompts and answers.

SECRET, SECRET_TOKEN = "hunter2 is the word", 66_666_666
KEPT = ("kind", "state", "reason", "finish_reason", "prefix_end", "step", "seq_id")


def all_secret(value: Any, name: str = "") -> Any:
    """The same value, each text and token in it a secret one."""
    if name in KEPT or isinstance(value, bool | Enum | float) or value is None:
        return value
    if isinstance(value, str):
        return SECRET
    if isinstance(value, bytes):
        return (
            np.array([SECRET_TOKEN] * (len(value) // 4), np.int32).tobytes()
            if len(value) % 4 == 0
            else SECRET.encode()
        )
    if isinstance(value, int):
        return SECRET_TOKEN if name in ("token_ids", "wanted", "held", "common", "token_id") else value
    if isinstance(value, tuple):
        return tuple(all_secret(one, name) for one in value)
    if is_dataclass(value):
        changed = {one.name: all_secret(getattr(value, one.name), one.name) for one in fields(value)}
        return replace(value, **changed)  # type: ignore[type-var]
    return value


def told_report() -> StepReport:
    likely = TokenLogprob(4, b"cat", -0.1, 0.9)
    [lease] = RARE.leases
    return replace(
        RARE,
        outputs=(
            Output(
                "r",
                "c",
                "x",
                logprobs=(SampledToken(likely, (likely,)),),
                token_ids=(4,),
                ended_by=SampledToken(likely, ()),
                format=AnswerFormat(),
                delta=MessageDelta("x"),
            ),
        ),
        leases=(replace(lease, prompt_bytes=b"1234" * 8),),
        spans=tuple(replace(one, logits_hashes=b"1234") for one in busy_step(1).spans),
        slots=(replace(slot(1, 5), media=(MediaSpan(0, 1, 0, 1, None, "x"),), checkpoints=(3,)),),
        events=(
            Leased(1, "c", 20, 3),
            Shortened(1, "c", "x"),
            ToolRan(1, "c", "x", 1.0),
            Encoded(1, "c", "x", 3, 1.0),
            Told(EventKind.NATIVE, "x", 1, "c"),
        ),
        waiting=(waiting(),),
        encodings=(Encoding("r", "c", "x", 1, 2, 0.5),),
        answers=(TokenTexts((4,), (b"cat",)),),
        trouble="x",
    )


def test_without_what_was_told_no_text_and_no_token_leaves(tmp_path: Path) -> None:
    recording = Recording()
    recording.start(model_info())
    recording.append([all_secret(told_report())])
    recording.note_titles({SECRET: SECRET})
    recording.token_texts = {SECRET_TOKEN: SECRET.encode()}
    tokens = np.full(4, SECRET_TOKEN, np.int32)
    recording.cell_map = CellMap(np.arange(4, dtype=np.int32), tokens, np.ones((4, 1), np.uint64))
    traces = [SECRET.encode(), str(SECRET_TOKEN).encode()]
    for content in (SECRET.encode(), tokens.tobytes()):
        starts = map(bytes, range(3))  # wherever it stands in base64
        traces += [base64.urlsafe_b64encode(start + content)[4:-4] for start in starts]
    save(recording, tmp_path / "told.html")
    found = packed_in(tmp_path / "told.html")
    assert all(
        any(trace in found for trace in group) for group in (traces[:1], traces[1:2], traces[2:5], traces[5:])
    )
    save(recording, tmp_path / "untold.html", is_told=False)
    found = packed_in(tmp_path / "untold.html")
    assert [trace for trace in traces if trace in found] == []


def test_without_what_was_told_the_figures_stay(tmp_path: Path) -> None:
    recording = Recording()
    recording.append(
        [*(busy_step(number) for number in range(90)), replace(step(91), events=(Leased(1, "c", 20, 3),))]
    )
    save(recording, tmp_path / "a.html", is_told=False)
    again = list(load(tmp_path / "a.html").steps)
    assert [one.cells for one in again] == [one.cells for one in recording.steps]
    for one, known in zip(again, recording.steps, strict=True):
        assert [(span.seq_id, span.num_rows, span.first_pos) for span in one.spans] == [
            (span.seq_id, span.num_rows, span.first_pos) for span in known.spans
        ]
        assert [held.usage for held in one.slots] == [held.usage for held in known.slots]
    assert len({span.chat_id for span in again[0].spans}) == 8
    assert again[0].spans[0].chat_id == again[5].spans[0].chat_id
    assert again[-1].events[0].text == "began in sequence 1: 20 tokens cached, 3 to compute"


# Pages of others.


def damaged(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "a.html"
    path.write_bytes(content)
    with pytest.raises(RecordingFileError) as caught:
        load(path)
    return str(caught.value)


def test_a_page_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    save(with_texts(iter(ATTACKS)), tmp_path / "good.html")
    good = (tmp_path / "good.html").read_bytes()
    start = good.index(PACKED.encode()) + len(PACKED)
    for content in (
        b"<!doctype html>",
        b"<!doctype html>\n<title>A page</title>\n",
        good[:start],
        good[: start + 40],
        good[: start + 4000],
        good[: start + 100] + b"####" + good[start + 104 :],
        good[: start + 100] + b"AAAA" + good[start + 104 :],
        good[:start] + b"H4sI\n" + good[start:],
    ):
        assert "cannot be opened as a recording" in damaged(tmp_path, content)


NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "[]",
        '{"report":5}',
        ',5":1',
        ',1":"two"',
        ',999999999999":1',
        ',-999":1',
        ',":1',
        ',1":' + "9" * 5_000,
        ',2":' + NESTED,
        '{"report":' + NESTED + "}",
    ],
)
def test_a_folded_line_that_does_not_follow_is_refused(tmp_path: Path, line: str) -> None:
    recording = Recording()
    recording.append([busy_step(1), busy_step(2)])
    head, first, _ = recording_file.lines(recording)
    (tmp_path / "a.jsonl").write_text(f"{head}\n{first}\n{line}\n")
    with pytest.raises(RecordingFileError, match="line 3 of 3 is damaged or missing"):
        load(tmp_path / "a.jsonl")


def test_what_unpacks_to_more_than_a_file_may_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = json.loads(next(recording_file.lines(Recording())))
    bomb = json.dumps(head | {"num_steps": 3}).encode() + b"\n" + b" " * 50_000_000
    content = f"<!doctype html>\n{PACKED}{base64.b64encode(gzip.compress(bomb)).decode()}\n</script>".encode()
    assert len(content) < 100_000
    assert "line 2 of 4 is damaged or missing (it is truncated)" in damaged(tmp_path, content)
    monkeypatch.setattr(file_format, "MAX_FILE_BYTES", 10_000_000)
    assert "line 2 of 4 is damaged or missing (it is larger than" in damaged(tmp_path, content)


# The page's own counts, where there is something that runs its script.

COUNT = """
const fs = require("fs"), file = fs.readFileSync(process.argv[2], "utf8");
const script = file.match(/<script>([^]*?)addEventListener\\("DOM[^]*?<\\/script>/)[1];
const packed = file.match(/id="recording">([^]*?)<\\/script>/)[1];
globalThis.document = { getElementById: () => ({ textContent: packed }) };
const [Recording, unpacked, plural] = new Function(script + "; return [Recording, unpacked, plural];")();
unpacked().then(lines => {
  const it = new Recording(lines), last = it.outputs.get("request 3").at(-1)[1];
  const texts = [last.text, it.textOf([4, 9]), it.name("chat 9"), plural(1, "step")];
  const counts = [it.numSteps, it.length, it.numRows, it.chats.size, it.events.length];
  console.log(JSON.stringify([...counts, ...texts]));
});
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
def test_the_script_counts_as_the_recording_does(tmp_path: Path) -> None:
    recording = with_texts(iter(ATTACKS))
    recording.token_texts |= {4: "é ü".encode()[:4], 9: "é ü".encode()[4:]}
    recording.note_titles({"chat 9": "A fox \u202edaeha\u2069"})
    recording.append([RARE, idle_step(99), *(replace(busy_step(one), step=one + 100) for one in range(200))])
    save(recording, tmp_path / "a.html")
    (tmp_path / "count.js").write_text(COUNT)
    command = ["node", tmp_path / "count.js", tmp_path / "a.html"]
    counted = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    reports = list(recording.steps)
    num_rows = sum(report.num_rows for report in reports)
    num_events = sum(len(report.events) for report in reports)
    num_steps = sum(map(has_run, reports))
    expected = [num_steps, len(reports), num_rows, 8, num_events, " word199", "é ü"]
    assert counted == [*expected, "\u2068A fox daeha\u2069", "1 step"], "no mark of direction acts outside"
