from app.look.plain_text import as_table


def test_a_table_for_a_tooltip_cannot_become_html() -> None:
    table = as_table([("a", "1", "<b>x</b>")], ["<img src=file:///dev/zero>", ""])
    assert "&lt;b&gt;x&lt;/b&gt;" in table
    assert "&lt;img" in table
    assert table.count("<p") == 1
