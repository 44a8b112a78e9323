from app.ui.settings.tool_choice import chosen_text, has_all, is_chosen, with_all, with_tool

FILES = ("files/read", "files/write")


def test_all_of_a_server_or_none() -> None:
    keys = with_all(("files/read", "skein/time"), "files", is_on=True)
    assert keys == ("skein/time", "files/*")
    assert has_all(keys, "files")
    assert is_chosen(keys, "files/a tool that comes later")
    assert with_all(keys, "files", is_on=False) == ("skein/time",)


def test_one_less_than_all_are_named_one_by_one() -> None:
    keys = with_tool(("files/*", "skein/time"), "files/write", FILES, is_on=False)
    assert keys == ("skein/time", "files/read")
    assert not is_chosen(keys, "files/write")


def test_one_more() -> None:
    assert with_tool((), "files/read", FILES, is_on=True) == ("files/read",)
    assert with_tool(("files/read",), "files/read", FILES, is_on=True) == ("files/read",)


def test_what_is_said_of_it() -> None:
    assert chosen_text(()) == "None"
    assert chosen_text(("files/*", "skein/time")) == "all of files, 1 tool"
