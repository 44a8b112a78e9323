import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage import search
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.search import FOUND_END, FOUND_START, MAX_WORD_CHARS, MAX_WORDS, excerpt, words_of


@asynccontextmanager
async def store_of(path: Path, *texts: str) -> AsyncIterator[ChatStore]:
    """One chat of these messages."""
    store = ChatStore(path / "chats.db")
    await store.open()
    await store.save([ChatChange.of(Chat("a", "Title", turns=[Turn(Role.USER, text) for text in texts]))])
    yield store
    await store.close()


async def found(store: ChatStore, words: str, limit: int = 100) -> list[str]:
    """Without marks."""
    hits = await store.search(words, limit)
    return [hit.snippet.replace(FOUND_START, "").replace(FOUND_END, "") for hit in hits]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kv cache", ["kv", "cache"]),
        ('"KV cache" slots', ["KV cache", "slots"]),
        ('the "half written', ["the", "half written"]),
        (' " " "" ', ['"']),
        ('5"', ["5"]),
        (" ", []),
        ('a"b c"d', ["a", "b c", "d"]),
    ],
)
def test_words_between_quotes_stay_together(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_of_a_text_that_was_pasted_the_first_words_are_looked_for() -> None:
    assert words_of("x" * 1_000 + " y" * 100_000) == ["x" * MAX_WORD_CHARS, *["y"] * (MAX_WORDS - 1)]


async def test_a_phrase_is_found_only_where_it_stands_together(tmp_path) -> None:
    async with store_of(tmp_path, "the prompt cache", "a cache for the prompt", "Prompt Cache!") as store:
        assert await found(store, '"prompt cache"') == ["Prompt Cache!", "the prompt cache"]
        assert len(await found(store, "prompt cache")) == 3


async def test_words_are_found_from_their_beginning_on_and_the_newest_first(tmp_path) -> None:
    async with store_of(tmp_path, "tokenise", "detokenizer", "token", "other") as store:
        assert await found(store, "token") == ["token", "detokenizer", "tokenise"]
        assert await found(store, "token", limit=2) == ["token", "detokenizer"]


async def test_short_words_narrow_what_the_index_finds(tmp_path) -> None:
    async with store_of(tmp_path, "the KV cache", "the other cache") as store:
        assert await found(store, "cache kv") == ["the KV cache"]


@pytest.mark.parametrize(
    "words", ["ün", "ÜN", "Ün", "ß", "ωμ", "Ωμ", "жд", "ЖД", "重", "e\u0301", "%", "_", "\\", "K%", '"']
)
async def test_short_words_ignore_case_in_all_scripts(tmp_path, words: str) -> None:
    texts = (
        "Ünlü",
        "straße",
        "ΩΜΈΓΑ",
        "Ждать",
        "重要",
        "CAFE\u0301",
        "a_b",
        "k%",
        "\\",
        'so "it" is',
        "other",
    )
    async with store_of(tmp_path, *texts) as store:
        assert await found(store, words) == [
            text for text in texts[::-1] if words.casefold() in text.casefold()
        ]
        assert await found(store, f"{words} {words}") == await found(store, words)


async def test_short_words_are_found_however_far_back_they_stand(tmp_path) -> None:
    texts = [f"{number} is kv{number}" for number in range(500)]
    async with store_of(tmp_path, *texts) as store:
        assert await found(store, "kv", limit=1_000) == texts[::-1]
        assert await found(store, "k7 v", limit=7) == []
        assert await found(store, "v7", limit=3) == [texts[number] for number in (79, 78, 77)]


async def test_whoever_needs_the_thread_waits_for_a_piece_of_a_search_only(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(search, "PIECE_S", 0.0)  # of one text, after the first ones
    async with store_of(tmp_path, *["nothing of that kind"] * 300) as store:
        ended: list[str] = []

        async def note(work: Awaitable[object], name: str) -> None:
            await work
            ended.append(name)

        await asyncio.gather(note(store.search("zq"), "search"), note(store.folders(), "folders"))
        assert ended == ["folders", "search"]


@pytest.mark.parametrize("words", ["缓存", "键值缓存", "键 缓存", "КЭШ", "캐시"])
async def test_every_script_is_found(tmp_path, words) -> None:
    async with store_of(tmp_path, "什么是键值缓存？ кэш 캐시", "something else") as store:
        assert await found(store, words) == ["什么是键值缓存？ кэш 캐시"]


@pytest.mark.parametrize(
    "words",
    ["text: cache", "NEAR(cache)", "cache*", "^cache", "a AND", "-cache", "'; --", "cache(", "\0", "%_%"],
)
async def test_the_query_language_of_the_index_cannot_be_reached(tmp_path, words) -> None:
    async with store_of(tmp_path, "nothing of that kind") as store:
        assert await found(store, words) == []


async def test_a_chat_that_is_deleted_is_not_found(tmp_path) -> None:
    async with store_of(tmp_path, "the prompt cache") as store:
        await store.delete(["a"])
        assert await found(store, "cache") == []


class TestExcerpt:
    def test_it_stands_around_the_first_word_and_marks_all(self) -> None:
        text = f"{'before ' * 20}the KV Cache and its cache lines{' after' * 60}"
        cut = excerpt(text, ["cache", "kv"])
        assert cut.startswith("…")
        assert cut.endswith("…")
        assert f"{FOUND_START}KV{FOUND_END} {FOUND_START}Cache{FOUND_END} and its" in cut
        assert len(cut) < 230

    def test_a_short_text_is_whole(self) -> None:
        assert excerpt("a cache", ["cache"]) == f"a {FOUND_START}cache{FOUND_END}"

    def test_of_two_words_the_longer_one_is_marked(self) -> None:
        assert excerpt("caches", ["cache", "caches"]) == f"{FOUND_START}caches{FOUND_END}"

    @given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
    def test_it_is_always_part_of_the_text(self, text: str, words: list[str]) -> None:
        cut = excerpt(text, words)
        if FOUND_START not in text and FOUND_END not in text:
            cut = cut.replace(FOUND_START, "").replace(FOUND_END, "")
            assert cut.removeprefix("…").removesuffix("…") in text or cut in text


def test_in_a_long_text_of_one_letter_the_words_are_shown_where_they_stand() -> None:
    """The pattern that marks them would try each word at each letter."""
    words = ["a" * 150 + str(number) for number in range(10, 26)]
    shown = excerpt("a" * 2_000_000 + "Z " + words[3].upper() + " and more", words)
    assert f"{FOUND_START}{words[3].upper()}{FOUND_END}" in shown


def test_an_answer_is_shown_without_its_marks() -> None:
    text = "<think>\nSums.\n</think>\n\n## The **whole** sum\n\n- `34 + 21` is **55**"
    assert excerpt(text, ["sum"], is_markdown=True) == (
        f"{FOUND_START}Sum{FOUND_END}s.\nThe whole {FOUND_START}sum{FOUND_END}\n• 34 + 21 is 55"
    )
    assert excerpt(text, ["**55**"], is_markdown=True).endswith(f"{FOUND_START}**55**{FOUND_END}")


async def test_of_a_user_s_message_the_marks_are_shown_as_they_were_typed(tmp_path) -> None:
    said = [Turn(Role.USER, "a **typed** word"), Turn(Role.ASSISTANT, "a **written** word")]
    store = ChatStore(tmp_path / "chats.db")
    await store.open()
    await store.save([ChatChange.of(Chat("a", "Title", turns=said))])
    assert await found(store, "word") == ["a written word", "a **typed** word"]
    await store.close()


def test_letters_that_get_longer_in_lower_case_do_not_move_the_excerpt() -> None:
    assert excerpt("İ" * 500 + " word", ["word"]).endswith(f" {FOUND_START}word{FOUND_END}")
