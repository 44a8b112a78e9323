import asyncio
import json

import pytest

from app.chats.project import MAX_PROPOSED, TOLD, Fact, Project
from app.protocol.output import FinishReason
from app.protocol.report import CellUsage, SlotSnapshot, SlotState, StepReport
from app.protocol.request import FACTS, TITLE, Request, Role
from app.services.fact_writer import WISH, FactWriter, written_facts
from app.services.title_writer import TitleWriter
from tests.bridge.conftest import ScriptedThread

BOAT = Project("Boat", "boat", facts=(Fact("It is 9 m long."),))


class Projects:
    def __init__(self) -> None:
        self.known = {"Boat": BOAT}

    def of(self, folder: str) -> Project | None:
        return self.known.get(folder)

    def change(self, folder: str, change, facts) -> None:
        self.known[folder] = change(self.known[folder], facts)

    @property
    def proposed(self) -> list[str]:
        return [fact.text for fact in self.known["Boat"].proposed]


@pytest.fixture
def projects(workspace) -> Projects:
    projects = Projects()
    workspace.shelves.project_of = projects.of
    return projects


@pytest.fixture(autouse=True)
def writer(engine, workspace, thread, projects) -> FactWriter:
    writer = FactWriter(engine, workspace, projects, workspace)
    writer._idle.setInterval(0)
    return writer


def answered(workspace, thread: ScriptedThread, folder: str = "Boat", reason=FinishReason.STOP):
    session = workspace.new_chat(folder)
    session.send("Ann steers the boat.")
    thread.answer(thread.submitted[-1], "I see.", reason)
    return session


async def asked(thread: ScriptedThread, num_requests: int) -> Request:
    async with asyncio.timeout(5):
        while len(thread.submitted) < num_requests:
            await asyncio.sleep(0)
    return thread.submitted[-1]


async def nothing_more() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_behind_the_chat_as_it_is_the_model_is_asked_and_the_user_has_the_last_word(
    qloop, workspace, thread, projects
) -> None:
    session = answered(workspace, thread)
    request = await asked(thread, 2)
    answer = session.chat.turns[1]
    system, *said = request.messages
    assert system.content == f"{TOLD}\n- It is 9 m long."
    assert [one.content for one in said] == ["Ann steers the boat.", "I see.", WISH]
    assert (request.chat_id, request.keep_cells, request.is_saved) == (
        f"{session.chat.id}{FACTS}",
        False,
        False,
    )
    assert request.begins_as == "project boat"
    thread.answer(request, '["Ann steers.", "It is 9 m')
    thread.answer(request, ' long", "Bob cooks."]', FinishReason.STOP)
    assert projects.proposed == ["Ann steers.", "Bob cooks."]
    assert projects.known["Boat"].facts == BOAT.facts
    fact = projects.known["Boat"].proposed[0]
    assert (fact.chat_id, fact.turn_id) == (session.chat.id, answer.id)
    assert [turn.text for turn in session.chat.turns] == ["Ann steers the boat.", "I see."]


@pytest.mark.parametrize(
    ("text", "facts"), [('<think>["Hm."]</think>\n\n["One."]', ["One."]), ('<think>["Hm."]', [])]
)
async def test_what_the_model_thinks_is_no_fact(qloop, workspace, thread, projects, text, facts) -> None:
    answered(workspace, thread)
    thread.answer(await asked(thread, 2), text, FinishReason.STOP)
    assert projects.proposed == facts


async def test_after_each_answer_but_not_for_what_is_no_project_or_wants_none(
    qloop, workspace, thread, projects
) -> None:
    session = answered(workspace, thread)
    thread.answer(await asked(thread, 2), "[]", FinishReason.STOP)
    session.send("And Bob cooks.")
    thread.answer(thread.submitted[2], "Good.", FinishReason.STOP)
    request = await asked(thread, 4)
    assert [one.role for one in request.messages[1:]] == [Role.USER, Role.ASSISTANT] * 2 + [Role.USER]
    thread.answer(request, "[]", FinishReason.STOP)
    answered(workspace, thread, folder="")
    answered(workspace, thread, folder="Garden")
    answered(workspace, thread, reason=FinishReason.ABORT)
    projects.known["Boat"] = Project("Boat", proposes=False)
    answered(workspace, thread)
    full = tuple(Fact(str(number)) for number in range(MAX_PROPOSED))
    projects.known["Boat"] = Project("Boat", proposed=full)
    answered(workspace, thread)
    notebook = workspace.new_notebook()
    notebook.place(folder="Boat")
    notebook.write("Once")
    notebook.go_on_writing()
    thread.answer(thread.submitted[-1], " upon a time", FinishReason.STOP)
    await nothing_more()
    assert not any(one.chat_id.endswith(FACTS) for one in thread.submitted[4:])


async def test_a_model_on_another_machine_is_not_asked(qloop, workspace, load, projects) -> None:
    thread = load("b.gguf", server="http://gpu-box:8712")
    answered(workspace, thread)
    await nothing_more()
    assert len(thread.submitted) == 1


@pytest.mark.parametrize("then", ["send", "type", "api"])
async def test_it_gives_way_at_once_and_asks_again_later(
    qloop, workspace, thread, projects, then: str
) -> None:
    session = answered(workspace, thread)
    request = await asked(thread, 2)
    if then == "send":
        session.send("What else?")
    elif then == "type":
        session.draft = "What"
    else:
        slots = (SlotSnapshot(0, SlotState.PREFILL, "a chat of the API"),)
        thread._reports.append(StepReport(1, (), (), slots, CellUsage(512)))
        thread.reported.emit()
    assert thread.aborted == [request.request_id]
    thread.answer(request, '["Half', FinishReason.ABORT)
    if then == "send":
        assert thread.submitted[2].chat_id == session.chat.id, "the answer waits for nothing"
        thread.answer(thread.submitted[2], "Nothing.", FinishReason.STOP)
    again = await asked(thread, 4 if then == "send" else 3)
    assert again.chat_id == request.chat_id
    thread.answer(again, '["Ann steers."]', FinishReason.STOP)
    assert projects.proposed == ["Ann steers."]


async def test_title_and_facts_do_not_give_way_to_each_other(
    qloop, engine, workspace, thread, settings, projects
) -> None:
    settings.model_titles = True
    titles = TitleWriter(engine, workspace, settings, workspace)
    titles._idle.setInterval(0)
    session = answered(workspace, thread)
    await asked(thread, 3)
    ids = {one.chat_id for one in thread.submitted[1:]}
    assert ids == {f"{session.chat.id}{TITLE}", f"{session.chat.id}{FACTS}"}
    slots = tuple(SlotSnapshot(number, SlotState.PREFILL, chat_id) for number, chat_id in enumerate(ids))
    thread._reports.append(StepReport(1, (), (), slots, CellUsage(512)))
    thread.reported.emit()
    assert thread.aborted == []


async def test_a_chat_that_was_closed_or_moved_is_asked_nothing(qloop, workspace, thread, projects) -> None:
    session = answered(workspace, thread)
    session.place(folder="Garden")
    workspace.close(answered(workspace, thread))
    await nothing_more()
    assert len(thread.submitted) == 2


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('["One.", "Two."]', ["One.", "Two."]),
        (json.dumps(list("abcdef")), ["a", "b", "c"]),
        ('["One.", 2, null, ["x"]]', ["One."]),
        ('```json\n["One."]\n```', ["One."]),
        ("[]", []),
        ('["Cut off', []),
        ('{"fact": "x"}', []),
        ("] [", []),
        ("[" * 100_000, []),
        ("", []),
    ],
)
def test_only_a_whole_list_is_taken(text: str, facts: list[str]) -> None:
    assert written_facts(text) == facts
