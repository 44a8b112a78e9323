"""A chat names a shelf: it is read before the chat, or searched for its last message."""

from app.api.state import ServedShelves
from app.chats.attachment import PASSAGE, Attachment
from app.shelves.shelf import ListedShelf
from tests.api.conftest import serving
from tests.api.parrot import Parrot

PATH = "/v1/chat/completions"
ASKED = {"messages": [{"role": "user", "content": "Why?"}], "max_tokens": 6, "temperature": 0}


class Shelves:
    """One, which fits or does not."""

    def __init__(self, *, fits: bool) -> None:
        self.fits = fits

    async def refresh(self) -> None: ...

    def id_of(self, name: str) -> str | None:
        return "d1" if name in ("Docs", "d1") else None

    def listed(self) -> tuple[ListedShelf, ...]:
        return (ListedShelf("d1", "Docs", 3, 40),)

    def is_ready(self, _shelf_id: str) -> bool:
        return True

    async def prepare(self, _shelf_id: str) -> None: ...

    def is_whole(self, _shelf_id: str, _room: int) -> bool:
        return self.fits

    def text_before(self, _shelf_id: str, _room: int) -> str:
        return "All documents." if self.fits else "Passages come."

    async def passages(
        self, _shelf_id: str, text: str, before: str, number: int, _room: int
    ) -> tuple[Attachment, ...]:
        about = f"About {before}{text}"
        return () if self.fits else (Attachment(f"[{number}] a.txt:1", about, PASSAGE),)


async def prompt_of(shelves: Shelves | None, **more: object) -> tuple[int, dict, str]:
    """Status, body, and the prompt of the answer, as text."""
    async with serving(Parrot("Hi."), shelf_access=ServedShelves(shelves) if shelves else None) as served:
        status, body = await served.post(PATH, ASKED | {"verbose": True} | more)
        return status, body, body.get("__verbose", {}).get("prompt", "")


async def test_a_shelf_that_fits_stands_before_the_chat():
    status, _body, prompt = await prompt_of(Shelves(fits=True), shelf="Docs")
    assert status == 200
    assert prompt.index("All documents.") < prompt.index("Why?")
    assert "a.txt" not in prompt


async def test_a_larger_one_is_searched_for_the_last_message():
    _status, _body, prompt = await prompt_of(Shelves(fits=False), shelf="d1")
    assert prompt.index("Passages come.") < prompt.index("[1] a.txt:1") < prompt.index("About Why?")
    told = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "I."}, *ASKED["messages"]]
    _status, _body, prompt = await prompt_of(Shelves(fits=False), shelf="d1", messages=told)
    assert "About Who?Why?" in prompt, "it may refer to the question before"


async def test_without_a_name_nothing_is_added():
    _status, _body, prompt = await prompt_of(Shelves(fits=True))
    assert "documents" not in prompt


async def test_a_shelf_that_is_not_there_is_refused_by_name():
    status, body, _prompt = await prompt_of(Shelves(fits=True), shelf="Books")
    assert status == 400
    assert "'Books'" in body["error"]["message"]
    assert "'Docs'" in body["error"]["message"]
    status, body, _prompt = await prompt_of(None, shelf="Docs")
    assert status == 400
    assert "--no-shelves" in body["error"]["message"]


async def test_shelves_are_listed():
    async with serving(Parrot("Hi."), shelf_access=ServedShelves(Shelves(fits=True))) as served:
        _status, body = await served.get("/v1/shelves")
        (one,) = body["data"]
        assert (one["id"], one["name"], one["num_files"], one["is_whole"]) == ("d1", "Docs", 3, True)
