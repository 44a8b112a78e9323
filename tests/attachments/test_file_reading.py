"""What a hostile file can do: end in one reason, within limits, with nothing else touched."""

import io
import os
import threading
import zipfile
from pathlib import Path

import pytest

from app.attachments import reading_child
from app.attachments.file_reading import FileReading
from app.attachments.refusal import MAX_CHARS, MAX_FILE_BYTES, Reason, RefusedError
from app.chats.attachment import Attachment
from app.media.reading import ReadingCancelledError
from tests.attachments.documents import docx, odf, pdf, xlsx, zipped

MIB = 1 << 20
ENDLESS = b"BT /F1 12 Tf " + b"1 0 0 1 9 9 Tm (ab) Tj " * 500_000 + b"ET"


def reason_of(path: Path, **limits: float) -> Reason:
    with pytest.raises(RefusedError) as refused:
        FileReading(path, **limits).run()  # type: ignore[arg-type]
    return refused.value.reason


@pytest.fixture
def write(tmp_path: Path):
    def write_file(data: bytes, name: str = "file.bin") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_file


def test_a_file_becomes_an_attachment_of_its_name_text_and_kind(write) -> None:
    assert FileReading(write("Größe\n".encode(), "notes.txt")).run() == Attachment(
        "notes.txt", "Größe", "text"
    )
    long = "Größe\n" * 500_000
    assert FileReading(write(long.encode(), "long.txt")).run().text == long.strip("\n")
    assert FileReading(write(pdf("A page"), "page.pdf")).run() == Attachment("page.pdf", "A page", "pdf")


def test_a_relative_path_and_a_name_that_is_no_unicode_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"bad \xff name.txt")
    Path(name).write_bytes(b"text")
    assert FileReading(Path(name)).run() == Attachment("bad ? name.txt", "text", "text")


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    assert reason_of(tmp_path) is Reason.FOLDER
    assert reason_of(tmp_path / "pipe") is Reason.NO_FILE
    assert reason_of(tmp_path / "link") is Reason.NO_FILE
    assert reason_of(Path("/dev/zero")) is Reason.NO_FILE
    # The pipe was never opened for reading, so it cannot be opened for writing without blocking.
    with pytest.raises(OSError):
        os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK)


def test_what_is_not_there_or_empty_is_refused(write, tmp_path: Path) -> None:
    assert reason_of(tmp_path / "nowhere") is Reason.MISSING
    assert reason_of(write(b"")) is Reason.EMPTY
    assert reason_of(write(b" \n\n ")) is Reason.NO_TEXT


def test_what_may_not_be_read_is_refused(write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the system's answer is given here."""

    def refuse(*_arguments: object) -> int:
        raise PermissionError

    path = write(b"secret")
    monkeypatch.setattr(reading_child.os, "open", refuse)
    with pytest.raises(RefusedError) as refused:
        reading_child.read(path)
    assert refused.value.reason is Reason.FORBIDDEN


def test_a_file_of_ten_gigabytes_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.txt"
    with path.open("wb") as file:
        file.truncate(10 << 30)
    assert reason_of(path) is Reason.TOO_LARGE
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES)
    assert reason_of(path) is Reason.BINARY


def test_more_text_than_any_context_holds_is_refused(write) -> None:
    assert reason_of(write(b"word " * (MAX_CHARS // 5 + 1), "long.txt")) is Reason.TOO_MUCH_TEXT


def test_a_zip_bomb_ends_at_a_limit(write) -> None:
    text = " " * 20 * MIB
    path = write(docx(f"<w:p><w:t>{text}</w:t></w:p>"))
    assert path.stat().st_size < MIB / 10
    assert reason_of(path) is Reason.TOO_MUCH_TEXT
    assert reason_of(write(docx(f"<w:p x='{text}'/>")), max_memory_bytes=100 * MIB) is Reason.LIMITS


def test_a_workbook_that_unpacks_to_much_ends_at_a_limit(write) -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx(Sums=[["a"]]))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    row = b'<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
    sheet = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    parts["xl/worksheets/sheet1.xml"] = sheet + row * 300_000 + b"</sheetData></worksheet>"
    assert reason_of(write(zipped(parts), "a.xlsx"), max_cpu_s=1) is Reason.LIMITS


def test_a_table_of_repeated_cells_ends_at_a_limit(write) -> None:
    text = "x" * 100_000
    cell = f'<table:table-cell table:number-columns-repeated="256"><text:p>{text}</text:p></table:table-cell>'
    body = f'<table:table table:name="a"><table:table-row>{cell}</table:table-row></table:table>'
    assert reason_of(write(odf("spreadsheet", body))) is Reason.TOO_MUCH_TEXT


def test_a_pdf_whose_pages_contain_themselves_is_refused(write) -> None:
    assert reason_of(write(pdf("x", kids="2 0 R")), max_cpu_s=3) in (Reason.DAMAGED, Reason.LIMITS)


def test_a_pdf_of_endless_work_is_stopped_by_its_time(write) -> None:
    path = write(pdf(content=ENDLESS))
    assert reason_of(path, max_cpu_s=1) is Reason.LIMITS
    assert reason_of(path, max_wall_s=0.1) is Reason.LIMITS


def test_a_pdf_that_unpacks_to_gigabytes_is_refused(write) -> None:
    assert reason_of(write(pdf(content=b" " * 80 * MIB)), max_cpu_s=10) in (Reason.LIMITS, Reason.DAMAGED)


def test_a_broken_document_is_damaged(write) -> None:
    whole = docx("<w:p><w:t>text</w:t></w:p>")
    assert reason_of(write(whole[: len(whole) // 2])) is Reason.DAMAGED
    assert reason_of(write(b"%PDF-1.7\n garbage")) is Reason.DAMAGED
    assert reason_of(write(b"{", "a.ipynb")) is Reason.DAMAGED


def test_a_reading_can_be_cancelled_before_and_while_it_runs(write) -> None:
    reading = FileReading(write(b"text"))
    reading.cancel()
    with pytest.raises(ReadingCancelledError):
        reading.run()
    reading = FileReading(write(pdf(content=ENDLESS)))
    timer = threading.Timer(0.3, reading.cancel)
    timer.start()
    with pytest.raises(ReadingCancelledError):
        reading.run()
    timer.join()
