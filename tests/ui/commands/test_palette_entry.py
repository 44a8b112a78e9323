from app.ui.commands.palette import PaletteEntry, hits


def entry(text: str, **more: object) -> PaletteEntry:
    return PaletteEntry(name=f"command {text}", text=text, run=lambda: None, **more)  # type: ignore[arg-type]


NEW = entry("New chat", detail="File", keywords="chat.new Open a new chat in a new tab")
CLOSE = entry("Close chat", detail="File", keywords="chat.close")
STOP = entry("Stop answer", detail="Chat", is_enabled=False, why_disabled="No answer is being written.")
STOP_ALL = entry("Stop all answers", detail="Model")
SAVED = entry("Chat about stops", detail="Saved chat", only_when_asked=True)
ALL = (NEW, CLOSE, STOP, STOP_ALL, SAVED)


def texts(query: str, recent: tuple[str, ...] = ()) -> list[str]:
    return [hit.entry.text for hit in hits(query, ALL, recent)]


def test_without_a_query_all_commands_come_as_in_the_menus_and_saved_chats_wait_to_be_asked_for() -> None:
    assert texts("") == ["New chat", "Close chat", "Stop answer", "Stop all answers"]


def test_what_was_used_last_comes_first() -> None:
    recent = (STOP_ALL.name, CLOSE.name)
    assert texts("", recent)[:3] == ["Stop all answers", "Close chat", "New chat"]
    assert texts("stop", recent)[0] == "Stop all answers"


def test_a_saved_chat_that_was_opened_lately_is_offered_without_being_asked_for() -> None:
    assert texts("", (SAVED.name,))[0] == "Chat about stops"


def test_names_come_before_places_and_keywords() -> None:
    assert texts("chat")[:2] == ["Chat about stops", "New chat"]
    assert "Stop answer" in texts("chat")
    assert texts("file close") == ["Close chat"]
    assert texts("open tab") == ["New chat"]


def test_keywords_are_found_by_whole_words_only() -> None:
    assert texts("pen") == []


def test_a_command_that_cannot_be_used_is_shown_all_the_same() -> None:
    assert "Stop answer" in texts("answer")


def test_a_thousand_names_are_cut_to_what_anybody_would_read() -> None:
    many = [entry(f"Chat {number}") for number in range(1000)]
    assert len(hits("chat", many, ())) == 200
