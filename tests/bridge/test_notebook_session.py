from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bridge.engines import Engines
from app.bridge.media_files import MediaFiles
from app.bridge.model_engine import NO_MODEL
from app.bridge.notebook_session import CONTINUATION_TOKENS, NotebookSession
from app.bridge.workspace import Workspace
from app.chats.chat import Chat, TurnState
from app.protocol.output import FinishReason, Output
from app.protocol.request import Role
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from tests.bridge.conftest import MemoryStore
from tests.fakes import saved


@pytest.fixture
def thread(load):
    return load("base.gguf")


@pytest.fixture
def notebook(thread, workspace: Workspace) -> NotebookSession:
    session = workspace.new_notebook()
    assert isinstance(session, NotebookSession)
    return session


def end(thread, request, text: str, reason: FinishReason = FinishReason.LENGTH) -> None:
    thread.report(Output(request.request_id, request.chat_id, text, reason))


async def test_the_text_is_the_prompt_and_no_template_is_asked_for(qloop, notebook, thread) -> None:
    notebook.write("Once upon a time")
    notebook.go_on_writing()
    (request,) = thread.submitted
    assert (request.messages, request.prompt) == ((), ("Once upon a time",))
    assert request.chat_id == notebook.chat.id
    assert request.max_tokens == CONTINUATION_TOKENS
    assert request.is_saved
    end(thread, request, " there was")
    assert notebook.text == "Once upon a time there was"
    assert [(turn.role, turn.state) for turn in notebook.chat.turns] == [
        (Role.USER, TurnState.DONE),
        (Role.ASSISTANT, TurnState.DONE),
    ]

    notebook.go_on_writing()
    assert thread.submitted[1].prompt == ("Once upon a time there was",)


async def test_its_own_limit_counts(qloop, notebook, thread) -> None:
    notebook.chat.max_tokens = 7
    notebook.write("Once")
    notebook.go_on_writing()
    assert thread.submitted[0].max_tokens == 7


async def test_what_is_typed_behind_a_continuation_leaves_it_as_it_is(qloop, notebook, thread) -> None:
    notebook.write("One")
    notebook.go_on_writing()
    end(thread, thread.submitted[0], " two")
    continuation = notebook.chat.turns[1]
    notebook.write("One two three")
    notebook.write("One two three four")
    assert [turn.text for turn in notebook.chat.turns] == ["One", " two", " three four"]
    assert notebook.chat.turns[1] is continuation
    assert notebook.chat.turns[2].parent_id == continuation.id


async def test_an_undone_continuation_is_gone(qloop, notebook, thread) -> None:
    removed: list[tuple[str, ...]] = []
    notebook.write("One")
    notebook.go_on_writing()
    end(thread, thread.submitted[0], " two")
    gone = notebook.chat.turns[1].id
    notebook.touched.connect(lambda _turns, ids: removed.append(ids))
    notebook.write("One")
    assert [turn.text for turn in notebook.chat.turns] == ["One"]
    assert (gone,) in removed


async def test_a_failed_continuation_leaves_no_trace_but_its_reason(qloop, workspace) -> None:
    session = workspace.new_notebook()
    notices: list[str] = []
    session.finished.connect(lambda answer: notices.append(answer.notice))
    session.write("One")
    session.go_on_writing()
    await workspace.autosave.flush()
    assert notices == [NO_MODEL]
    assert session.text == "One"
    assert len(session.chat.turns) == 1


async def test_it_is_read_again_from_its_text(qloop, notebook, thread) -> None:
    notebook.write("One")
    notebook.go_on_writing()
    end(thread, thread.submitted[0], " two")
    request = notebook.reading_of(notebook.chat.turns[1])
    assert request is not None
    assert (request.prompt, request.answer_start, request.max_tokens) == (("One",), " two", 0)
    assert notebook.reading_ahead() is None


async def test_its_title_is_how_it_begins(qloop, notebook) -> None:
    assert notebook.chat.display_title == "New notebook"
    for text in ("O", "On", "On the printing press"):
        notebook.write(text)
    assert notebook.chat.display_title == "On the printing press"


async def test_it_takes_the_place_of_an_empty_chat_only(qloop, workspace) -> None:
    workspace.new_chat()
    first = workspace.new_notebook()
    assert workspace.sessions == (first,)
    first.write("One")
    second = workspace.new_notebook()
    assert workspace.sessions == (first, second)
    assert workspace.current is second


async def test_a_fork_is_a_notebook_too(qloop, notebook, workspace) -> None:
    notebook.write("One")
    fork = workspace.fork(notebook)
    assert isinstance(fork, NotebookSession)
    assert fork.text == "One"


@given(st.lists(st.text(alphabet="ab\n", max_size=6), max_size=8))
def test_whatever_is_written_is_its_text(qapp: object, texts: list[str]) -> None:
    media = MediaFiles(MemoryStore())  # type: ignore[arg-type]
    session = NotebookSession(Chat(is_notebook=True), Engines(), Settings(), media=media, save=saved)
    for text in texts:
        session.write(text)
        assert session.text == text
        assert all(turn.text for turn in session.chat.turns)
        for before, after in pairwise(session.chat.turns):
            assert after.parent_id == before.id


@pytest.mark.parametrize("is_notebook", [False, True])
async def test_a_tab_that_never_had_a_draft_is_there_at_the_next_start(
    qloop, engine, tmp_path, is_notebook: bool
) -> None:
    """As when a message is chosen on the page of an empty chat."""
    store = ChatStore(tmp_path / "chats.db")
    await store.open()
    workspace = Workspace(engine, store, Settings())
    await workspace.restore()
    session = workspace.new_notebook() if is_notebook else workspace.new_chat()
    await workspace.autosave.flush()
    if isinstance(session, NotebookSession):
        session.write("Once")
    else:
        session.send("Once")
    await workspace.autosave.flush()
    await workspace.stop_saving()
    assert session.chat.id in (await store.load()).tabs.open
    await store.close()
