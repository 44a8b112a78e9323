from app.ui.message.code_colours import MAX_CHARS, MAX_LINE_CHARS, Ink, coloured_lines, file_name


def inks(code: str, language: str) -> list[list[tuple[str, Ink]]]:
    lines = code.split("\n")
    return [
        [(lines[number][run.start : run.start + run.length], run.ink) for run in runs]
        for number, runs in enumerate(coloured_lines(code, language))
    ]


def test_keywords_names_numbers_strings_and_comments_have_their_ink() -> None:
    first, second = inks('def f():\n    return "a" + 1  # why', "python")
    assert ("def", Ink.KEYWORD) in first
    assert ("f", Ink.FUNCTION) in first
    assert ("return", Ink.KEYWORD) in second
    assert ("+", Ink.OPERATOR) in second
    assert ("1", Ink.NUMBER) in second
    assert ("# why", Ink.COMMENT) in second


def test_types_are_told_from_functions_in_several_languages() -> None:
    assert ("Slot", Ink.TYPE) in inks("class Slot(list): pass", "python")[0]
    assert ("list", Ink.TYPE) in inks("class Slot(list): pass", "python")[0]
    c = inks("int main(void) { return 0; }", "c")[0]
    assert ("int", Ink.TYPE) in c
    assert ("main", Ink.FUNCTION) in c
    assert ("return", Ink.KEYWORD) in c
    assert ("true", Ink.NUMBER) in inks("const a = true", "js")[0]


def test_what_spans_lines_is_coloured_on_each() -> None:
    lines = inks('x = """one\ntwo\n"""', "python")
    assert ("two", Ink.STRING) in lines[1]


def test_what_a_diff_adds_and_takes_away_is_told_apart() -> None:
    _, _, _, same, less, more = inks("--- a\n+++ b\n@@ -1 +1 @@\n same\n-less\n+more", "diff")
    assert (same, less, more) == ([], [("-less", Ink.REMOVED)], [("+more", Ink.ADDED)])


def test_unknown_languages_and_very_long_code_stay_plain() -> None:
    assert list(coloured_lines("x = 1", "no such language")) == []
    assert list(coloured_lines("x = 1", "")) == []
    assert list(coloured_lines("x\n" * MAX_CHARS, "python")) == []
    assert list(coloured_lines("x" * (MAX_LINE_CHARS + 1), "python")) == []


def test_a_file_is_named_for_its_language() -> None:
    assert file_name("python") == "code.py"
    assert file_name("js") == "code.js"
    assert file_name("no such language") == file_name("") == "code.txt"
