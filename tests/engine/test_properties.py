"""Random schedules over few slots and few cells: nobody ever gets another's words."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.engine import Engine
from app.engine.types import FinishReason, Message, Request, Role, SlotState
from tests.driver import GREEDY, Run, ask
from tests.fakes import CountingBackend

CHATS = ["ann", "bob", "cat", "dan", "eve"]
# What may happen between two steps, to which chat.
events = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "abort", "close", "step", "step", "step"]), st.sampled_from(CHATS)
    ),
    max_size=60,
)
words = st.sampled_from(["hi", "what is the common prefix of all these chats?", "tell me more", "1+1="])


class Schedule:
    """Several chats with one engine, and what each of them was told."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.history: dict[str, list[Message]] = {chat: [] for chat in CHATS}
        self.open: dict[str, Request] = {}
        self.asked: list[Request] = []
        self.run = Run()

    def ask(self, chat: str, text: str) -> None:
        if chat in self.open or len(self.history[chat]) > 6:
            return
        messages = (*self.history[chat], Message(Role.USER, text))
        request = Request(f"r{len(self.asked)}", chat, messages, GREEDY, max_tokens=12)
        self.asked.append(request)
        self.open[chat] = request
        self.engine.add_request(request)

    def abort(self, chat: str) -> None:
        if chat in self.open:
            self.engine.abort(self.open[chat].request_id)

    def close(self, chat: str) -> None:
        self.engine.forget(chat)
        self.history[chat] = []

    def step(self) -> None:
        if not self.engine.has_work:
            return
        self.run.add(self.engine.step())
        self.check_report()
        for chat, request in list(self.open.items()):
            if not self.run.is_open(request.request_id):
                text = self.run.answers[request.request_id].text
                self.history[chat] = [*request.messages, Message(Role.ASSISTANT, text)] if text else []
                del self.open[chat]

    def check_report(self) -> None:
        report = self.run.reports[-1]
        assert report.cells.num_used + report.cells.num_free == report.cells.num_total
        states = [slot.state for slot in report.slots]
        leased = [state for state in states if state in (SlotState.PREFILL, SlotState.DECODE)]
        free = [state for state in states if state in (SlotState.EMPTY, SlotState.WARM)]
        assert len(leased) + len(free) == len(report.slots)
        for span in report.spans:
            assert span.num_rows > 0
        for slot in report.slots:
            assert slot.pos_max + 1 == slot.num_cells


def check(backend, schedule: Schedule, alone) -> None:
    """Every answer is the one its chat gets alone, or the beginning of it where it was cut."""
    for request in schedule.asked:
        answer = schedule.run.answers[request.request_id]
        expected = alone(request)
        if answer.finish_reason is FinishReason.ABORT:
            assert expected.text.startswith(answer.text)
        else:
            assert (answer.text, answer.finish_reason) == (expected.text, expected.finish_reason)


@settings(deadline=None, max_examples=150)
@given(events, st.lists(words, min_size=60, max_size=60), st.integers(1, 4), st.sampled_from([256, 320, 512]))
def test_any_schedule_gives_every_chat_the_answer_it_gets_alone(happenings, texts, n_seq_max, n_ctx):
    backend = CountingBackend(n_ctx=n_ctx, n_seq_max=n_seq_max, n_batch=32)
    schedule = Schedule(Engine(backend))
    for (what, chat), text in zip(happenings, texts, strict=False):
        match what:
            case "ask":
                schedule.ask(chat, text)
            case "abort":
                schedule.abort(chat)
            case "close":
                schedule.close(chat)
            case "step":
                schedule.step()
    while schedule.engine.has_work:
        schedule.step()

    check(backend, schedule, lambda request: ask(Engine(CountingBackend(n_ctx=n_ctx)), request))
    for chat in CHATS:
        schedule.engine.forget(chat)
    assert backend.cells == []
    assert backend.num_samplers == 0
    assert schedule.engine.slots.cells.num_used == 0
    for batch in backend.batches:
        for positions in batch.values():
            assert positions == list(range(positions[0], positions[0] + len(positions)))
