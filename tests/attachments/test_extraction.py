import csv
import io
import json
import re
import zipfile
from datetime import datetime, time, timedelta

import pytest

from app.attachments.extraction import text_of
from app.attachments.refusal import Reason, RefusedError
from tests.attachments.documents import docx, locked_pdf, odf, package, pdf, pptx, xlsx, zipped


def read(data: bytes, name: str = "file") -> tuple[str, str]:
    return text_of(io.BytesIO(data), name)


def reason_of(data: bytes, name: str = "file") -> Reason:
    with pytest.raises(RefusedError) as refused:
        read(data, name)
    return refused.value.reason


# Plain text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_text_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    assert read("Größe 三\nzwei".encode(encoding), "notes.txt") == ("Größe 三\nzwei", "text")


RIGHTS = {
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "sk": "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv.",
    "hr": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu, sa sviješću i željom.",
    "ro": "Toate fiinţele umane se nasc libere şi egale în demnitate şi în drepturi, cu raţiune.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága van, testvéri szellemben.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "fr": "Tous les êtres humains naissent libres et égaux… Voilà où ça mène, à l’œuvre, 5 m².",
    "es": "¿Todos los seres humanos nacen libres? ¡El 1º año, mañana! «La razón» y señores.",
    "it": "Nascono eguali in dignità e diritti. È così: perché la città è più bella, però…",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder, i broderskabets ånd.",
    "pt": "Dotados de razão e de consciência, em espírito de fraternidade. Não há opções.",
    "de": "Alle Menschen sind frei und gleich an Würde. „Größe“ – 10 € für Öl, Straße, Äpfel.",
    "en": "His naïve plan – a “résumé” at the café – cost £20. El Niño, façade, über, coördinate.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İstanbul güneşli.",
    "lt": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "ja": "これは日本語の文章です。文字コードを調べています。",
    "zh": "这是一段中文文字，用来检测文件的编码。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "code": "x = 1  # 你好，世界：这是注释\ndef function(argument): return argument * 2\n",
}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Zoë kostet 5 € – Größe", "cp1252"),
        ("Citroën 10 € Größe", "cp1252"),
        ("naïve café\nGrößenänderung über Straße", "cp1252"),
        ("Škoda Größe 5 €", "cp1250"),
    ],
)
def test_a_text_may_mix_languages(text: str, encoding: str) -> None:
    assert read(text.encode(encoding))[0] == text


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *((language, "cp1252") for language in ("fr", "es", "it", "da", "pt", "de", "en")),
        *((language, "cp1250") for language in ("cs", "sk", "hr", "ro", "hu", "pl")),
        *(("cs", "iso8859_2"), ("pl", "iso8859_2"), ("it", "iso8859_15"), ("tr", "cp1254"), ("lt", "cp1257")),
        *(("ru", "cp1251"), ("ru", "koi8_r"), ("ru", "cp866"), ("el", "cp1253"), ("ja", "shift_jis")),
        *(("ja", "euc_jp"), ("zh", "gb18030"), ("zh", "big5"), ("ko", "euc_kr"), ("code", "gb18030")),
    ],
)
def test_an_encoding_that_is_not_declared_is_found_out(language: str, encoding: str) -> None:
    text = RIGHTS[language] if encoding != "big5" else "這是一段中文文字，用來檢測文件的編碼。"
    assert read(text.encode(encoding, "replace" if encoding == "iso8859_15" else "strict"))[
        0
    ] == text.replace("…", "?" if encoding == "iso8859_15" else "…").strip("\n")


@pytest.mark.parametrize(
    "text", ["naïve", "Größe", "señor", "déjà vu", "100 €", "“so”", "Ærø", "a ± 2 µm", "Ça, où?"]
)
def test_a_few_letters_are_taken_for_those_of_the_west(text: str) -> None:
    assert read(text.encode("cp1252"))[0] == text
    assert read((text + ", and 200 words in English. " * 40).encode("cp1252"))[0].startswith(text)


@pytest.mark.parametrize(
    ("head", "encoding", "text"),
    [
        ('<meta charset="windows-1251">', "cp1251", "Привет"),
        ("<meta charset=iso-8859-1>", "cp1252", "“naïve”"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=gb2312">', "gb18030", "你好"),
        ('<?xml version="1.0" encoding="Shift_JIS"?>', "cp932", "日本語①"),
        ('<meta charset="nonsense">', "cp1252", "naïve"),
        ('<meta charset="utf-8">', "cp1252", "naïve"),
        ('<meta charset="rot13">', "cp1252", "naïve"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(head: str, encoding: str, text: str) -> None:
    page = f"{head}<body><p>{text}".encode(encoding)
    assert read(page, "page.html")[0] == text


def test_line_ends_become_one_kind_and_control_characters_go() -> None:
    rest = "x" * 200
    log = b"\n\na\r\nb\rc\x0cd\x1b[31;1mred\x1b[0m\x07\n\n\n\n\n\n" + rest.encode() + b"\n"
    assert read(log)[0] == f"a\nb\nc\ndred\n\n\n{rest}"


def test_what_a_text_file_is_called_tells_its_kind() -> None:
    assert read(b"a,b\n1,2", "table.CSV") == ("a,b\n1,2", "csv")
    assert read(b'{"a": 1}', "a.json") == ('{"a": 1}', "json")
    assert read(b'HEAD = b"%PDF-"', "reader.py") == ('HEAD = b"%PDF-"', "text")


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01\0\0",
        bytes(range(256)) * 8,
        b"\0" * 1000,
        b"\x1f\x8b\x08" + bytes(range(1, 32)) * 10,
        package(some__file="text"),
    ],
    ids=["program", "all bytes", "zeros", "archive", "zip"],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    assert reason_of(data) is Reason.BINARY


@pytest.mark.parametrize(
    "head",
    [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
        b"\0\0\0\x18ftypheic",
        b"BM\0\0",
    ],
)
def test_an_image_is_known_by_its_head(head: bytes) -> None:
    assert reason_of(head + b"\0" * 30, "notes.txt") is Reason.IMAGE


def test_a_text_may_begin_as_an_image_does() -> None:
    assert read(b"BMW builds cars in Munich.") == ("BMW builds cars in Munich.", "text")


# Pages and notebooks


def test_a_page_is_read_without_its_scripts_and_looks() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>No</title><style>p {}</style><body><h1>Cells</h1>"
        "<p>Keys &amp; <b>values</b> in<br>memory<script>alert(1)</script></p><ul><li>one<li>two</ul>"
        "<table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x\n  y</pre></body></html>"
    )
    text, kind = read(page.encode(), "page.txt")
    assert (text, kind) == (
        "# Cells\n\nKeys & values in\nmemory\n\n- one\n- two\n\na | b\n1 | 2\n\nx\n  y",
        "html",
    )


def test_a_notebook_is_its_text_its_code_and_what_it_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Sums\n", "Two of them."]},
        {
            "cell_type": "code",
            "source": "print(1 + 1)",
            "outputs": [
                {"output_type": "stream", "text": ["2\n"]},
                {"data": {"text/plain": ["3"], "image/png": "iVBORw0KGgo"}},
                {"ename": "E", "traceback": ["\x1b[31mError\x1b[0m"]},
            ],
        },
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    text, kind = read(json.dumps({"cells": cells, "metadata": {}}).encode(), "a.ipynb")
    assert kind == "notebook"
    assert text == "# Sums\nTwo of them.\n\n```python\nprint(1 + 1)\n```\n\nOutput:\n```\n2\n3\nError\n```"


def test_a_cell_of_a_notebook_that_cannot_be_read_is_marked() -> None:
    cells = [{"cell_type": "markdown", "source": "a"}, 3, {"cell_type": "code", "source": "b", "outputs": 5}]
    notebook = {"cells": [*cells, {"cell_type": "code", "source": ["c"]}], "metadata": {"kernelspec": None}}
    text = read(json.dumps(notebook).encode(), "a.ipynb")[0]
    assert text == "a\n\n[unreadable cell]\n\n[unreadable cell]\n\n```python\nc\n```"


def test_a_notebook_without_cells_is_damaged() -> None:
    assert reason_of(b"{}", "a.ipynb") is Reason.DAMAGED


# PDF


def test_the_pages_of_a_pdf_are_read() -> None:
    assert read(pdf("Hello from a page")) == ("Hello from a page", "pdf")


def test_a_page_that_cannot_be_read_is_marked_and_the_others_are_read() -> None:
    from pypdf import PdfWriter

    bad = pdf("second").replace(b"/FlateDecode", b"/OtherDecode")
    writer = PdfWriter()
    for page in (pdf("first"), bad, pdf("third")):
        writer.append(io.BytesIO(page))
    file = io.BytesIO()
    writer.write(file)
    assert read(file.getvalue()) == ("first\n\n[unreadable page 2]\n\nthird", "pdf")
    with pytest.raises(NotImplementedError):
        read(bad)


def test_a_pdf_of_pictures_has_no_text() -> None:
    assert reason_of(pdf(content=b"q Q")) is Reason.NO_TEXT


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_pdf_with_a_password_is_refused_and_one_without_is_read(algorithm: str) -> None:
    assert reason_of(locked_pdf("secret words", "pw", algorithm)) is Reason.PASSWORD
    assert read(locked_pdf("for all", "", algorithm))[0] == "for all"


# Office


def test_a_word_document_is_read_with_headings_lists_and_tables() -> None:
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading2"/><w:numPr/><w:tabs><w:tab/></w:tabs></w:pPr>'
        "<w:r><w:t>Cells</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>Keys </w:t></w:r>"
        "<w:r><w:t>and</w:t><w:tab/><w:t>values</w:t><w:br/><w:t>x</w:t></w:r></w:p>"
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t><w:noBreakHyphen/><w:t>way</w:t></w:r></w:p>"
        "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
        "<w:p><w:r><w:delText>gone</w:delText><w:instrText>PAGE</w:instrText></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>"
        "</w:tr></w:tbl>"
        "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    notes = '<w:footnotes xmlns:w="word"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>'
    assert read(docx(body, word__footnotes_x=notes)) == (
        "## Cells\nKeys and\tvalues\nx\n- one-way\n\na | b\nbox\n\nA note.",
        "docx",
    )


def test_slides_are_read_in_the_order_in_which_they_are_shown() -> None:
    def slide(text: str) -> str:
        return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"

    assert read(pptx(slide("last"), slide("first"), order=(2, 1))) == (
        "Slide 1\n\nfirst\n\nSlide 2\n\nlast",
        "pptx",
    )


def test_a_workbook_is_read_sheet_by_sheet() -> None:
    rows: list[list[object]] = [
        ["name", "when", "share"],
        ["a,b", datetime.fromisoformat("2026-11-21"), 0.5],
        [None, None, None],
        ["x", datetime.fromisoformat("2026-11-21 09:30"), 3.0],
    ]
    assert read(xlsx(Sums=rows, Empty=[], More=[[True]])) == (
        'Sums\n\nname,when,share\n"a,b",2026-11-21,0.5\nx,2026-11-21 09:30:00,3\n\nEmpty\n\n\nMore\n\nTrue',
        "xlsx",
    )


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TEXTS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
STRICT = {
    MAIN: "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "http://purl.oclc.org/ooxml/officeDocument/relationships",
}


def workbook(rows: str, *changes: tuple[str, str], **sheets: list[list[object]]) -> bytes:
    """One made by Excel's rules, in whose first sheet these rows stand. `changes` are made in all parts."""
    with zipfile.ZipFile(io.BytesIO(xlsx(**(sheets or {"Sums": [["one", "two"]]})))) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    parts["xl/sharedStrings.xml"] = (
        f'<sst xmlns="{MAIN}"><si><t>one</t></si><si><r><t>tw</t></r><r><t>o</t></r></si></sst>'
    )
    for name, end, added in (
        (
            "[Content_Types].xml",
            "</Types>",
            f'<Override PartName="/xl/sharedStrings.xml" ContentType="{TEXTS}"/>',
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "</Rel",
            f'<Relationship Id="t" Type="{RELATION}" Target="sharedStrings.xml"/>',
        ),
    ):
        parts[name] = parts[name].replace(end, added + end, 1)
    first = "xl/worksheets/sheet1.xml"
    if rows:
        parts[first] = re.sub("<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData>", parts[first])
    for before, after in changes:
        parts = {name: text.replace(before, after) for name, text in parts.items()}
    return zipped({name: text.encode() for name, text in parts.items()})


def cells_of(cells: str, *changes: tuple[str, str], **sheets: list[list[object]]) -> list[str]:
    """Of the first row."""
    text, kind = read(workbook(f'<row r="1">{cells}</row>', *changes, **sheets))
    assert kind == "xlsx"
    head, _, row = text.partition("\n\n")
    assert head == "Sums"
    return next(csv.reader([row]))


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c t="s"><v>1</v></c>', "two"),
        ('<c t="s"><v>99</v></c>', "[unreadable cell: 99]"),
        ('<c t="s"><v>-1</v></c>', "[unreadable cell: -1]"),
        ("<c><v>abc</v></c>", "[unreadable cell: abc]"),
        ("<c><v>1_000</v></c>", "[unreadable cell: 1_000]"),
        ("<c><v>nan</v></c>", "[unreadable cell: nan]"),
        ('<c t="b"><v>x</v></c>', "[unreadable cell: x]"),
        ('<c t="d"><v>soon</v></c>', "[unreadable cell: soon]"),
        ('<c t="d"><v>2026-11-21T09:30:00</v></c>', "2026-11-21 09:30:00"),
        ('<c t="b"><v>0</v></c>', "False"),
        ('<c t="e"><v>#DIV/0!</v></c>', "#DIV/0!"),
        ('<c t="zz"><v>new</v></c>', "new"),
        ('<c t="str"><v>a_x000D_b_x005F_x0041_</v></c>', "a\nb_x0041_"),
        ("<c><v>1.50</v></c>", "1.5"),
        ("<c><v>1E3</v></c>", "1000"),
        ("<c><v>12345678901234567890</v></c>", "12345678901234567890"),
        ('<c s="77"><v>4</v></c>', "4"),
        ('<c s="x"><v>4</v></c>', "4"),
        (
            '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh sb="0" eb="1"><t>c</t></rPh></is></c>',
            "ab",
        ),
        ("<c><f>SUM(A1:A2)</f><v>3</v></c>", "3"),
        ("<c><f>SUM(A1:A2)</f></c>", "=SUM(A1:A2)"),
        ("<c><f>SUM(A1:A2)</f><v></v></c>", "=SUM(A1:A2)"),
        ('<c t="str"><f>T(A1)</f><v></v></c>', "…"),
        ("<c><v> </v></c>", "…"),
    ],
)
def test_what_a_cell_holds_is_decided_for_it_alone(cell: str, shown: str) -> None:
    row = cells_of(f'<c t="s"><v>0</v></c>{cell}<c t="inlineStr"><is><t>after</t></is></c>')
    assert row == ["one", shown.replace("…", ""), "after"]


def test_formulas_that_cells_share_are_told_for_each() -> None:
    first = '<c r="C1"><f t="shared" ref="C1:C2" si="0">A1+$B$1</f></c>'
    other = '<row r="2"><c r="C2"><f t="shared" si="0"/></c><c r="D2"><f t="shared" si="7"/></c></row>'
    text, _kind = read(workbook(f'<row r="1">{first}</row>{other}'))
    assert text == "Sums\n\n,,=A1+$B$1\n,,=A2+$B$1,="


def test_cells_stand_in_their_columns() -> None:
    def cell(place: str, text: str) -> str:
        return f'<c r="{place}" t="str"><v>{text}</v></c>'

    assert cells_of(cell("B1", "b") + cell("AA1", "aa")) == ["", "b", *[""] * 24, "aa"]
    assert cells_of(cell("A1", "a") + cell("ZZZ1", "b") + cell("x", "c") + cell("", "d")) == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_dates_are_told_by_the_format_of_their_cells() -> None:
    moments: list[object] = [
        datetime.fromisoformat("2026-11-21 09:30"),
        time(9, 30),
        timedelta(hours=30),
    ]
    text, _kind = read(xlsx(Sums=[moments]))
    assert text == 'Sums\n\n2026-11-21 09:30:00,09:30:00,"1 day, 6:00:00"'
    with_1904 = workbook("", ("<workbookPr />", '<workbookPr date1904="1"/>'), Sums=[[moments[0]]])
    assert read(with_1904)[0] == "Sums\n\n2030-11-22 09:30:00"
    far = cells_of('<c s="1"><v>1e9</v></c>', Sums=[[moments[0]]])
    assert far == ["[unreadable cell: 1e9]"]


def test_a_workbook_in_strict_ooxml_is_read() -> None:
    rows: list[list[object]] = [["name", datetime.fromisoformat("2026-11-21")]]
    assert read(workbook("", *STRICT.items(), Sums=rows)) == ("Sums\n\nname,2026-11-21", "xlsx")


def test_parts_that_hold_no_cells_do_not_spoil_a_workbook() -> None:
    bad = ("<dc:creator>openpyxl</dc:creator>", "<dcterms:created>soon</dcterms:created>")
    styles = (
        "<fill><patternFill /></fill>",
        '<fill><patternFill patternType="none"><bad/></patternFill><x/></fill>',
    )
    sheet = (
        "</sheetData>",
        '</sheetData><conditionalFormatting sqref="x"><cfRule type="y"/></conditionalFormatting>',
    )
    assert cells_of('<c t="s"><v>0</v></c>', bad, styles, sheet) == ["one"]


def test_an_open_document_text_is_read() -> None:
    body = (
        '<text:h text:outline-level="1">Cells</text:h>'
        '<text:p>Keys<text:s text:c="2"/>and <text:span>values</text:span><text:line-break/>x'
        "<office:annotation><text:p>not this</text:p></office:annotation>"
        "<draw:frame><office:binary-data>aGVsbG8=</office:binary-data><svg:title>nor this</svg:title>"
        "</draw:frame></text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    )
    assert read(odf("text", body)) == ("# Cells\nKeys  and values\nx\n- one", "odt")


def test_an_open_document_sheet_is_read_up_to_its_last_cell() -> None:
    body = (
        '<table:table table:name="Sums"><table:table-row>'
        '<table:table-cell table:number-columns-repeated="2"><text:p>1</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048576">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
    )
    assert read(odf("spreadsheet", body)) == ("Sums\n\n1 | 1", "ods")


def test_an_open_document_presentation_is_read() -> None:
    body = "<draw:page><text:p>first</text:p></draw:page><draw:page><text:p>last</text:p></draw:page>"
    assert read(odf("presentation", body)) == ("Slide 1\n\nfirst\n\nSlide 2\n\nlast", "odp")


def test_documents_with_a_password_are_refused() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100
    assert reason_of(ole + "EncryptedPackage".encode("utf-16-le"), "locked.docx") is Reason.PASSWORD
    assert reason_of(odf("text", "", manifest="<encryption-data/>")) is Reason.PASSWORD
    locked = bytearray(docx(""))
    for signature, flags_at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(signature) + flags_at] |= 1
    assert reason_of(bytes(locked)) is Reason.PASSWORD


def test_old_formats_are_refused() -> None:
    assert reason_of(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100) is Reason.OLD_OFFICE
    assert reason_of(rb"{\rtf1\ansi Hello}", "letter.rtf") is Reason.OLD_OFFICE


def test_xml_that_declares_entities_is_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    document = f'{bomb}<w:document xmlns:w="word"><w:p><w:t>&b;</w:t></w:p></w:document>'
    assert reason_of(package(word__document_x=document)) is Reason.DAMAGED


def test_a_package_that_says_it_unpacks_to_gigabytes_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<w/>")
        archive.getinfo("word/document.xml").file_size = 1 << 31
    assert reason_of(file.getvalue()) is Reason.LIMITS


def test_a_package_that_lies_about_its_size_is_read_no_further() -> None:
    whole = docx("<w:p><w:t>" + "word " * 100_000 + "</w:t></w:p>")
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        size_bytes = archive.getinfo("word/document.xml").file_size
    with pytest.raises(zipfile.BadZipFile):
        read(whole.replace(size_bytes.to_bytes(4, "little"), (1000).to_bytes(4, "little")))
