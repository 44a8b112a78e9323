"""The cells of an Excel file as comma-separated values. In the child process only."""

import csv
import datetime
import warnings
from io import BytesIO, StringIO

from app.attachments.collected import CollectedText


def text_of(file: BytesIO) -> str:
    """Each sheet by its name; formulas by the value they had when the file was saved."""
    warnings.simplefilter("ignore")  # of what openpyxl leaves out, none is text
    from openpyxl import load_workbook

    workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    collected = CollectedText()
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # what a file says of its size need not be true
        collected.add(f"{sheet.title}\n\n")
        for row in sheet.iter_rows(values_only=True):
            collected.add(_line(row))
        collected.add("\n")
    return collected.text


def _line(row: tuple[object, ...]) -> str:
    values = [_written(value) for value in row]
    while values and not values[-1]:
        values.pop()
    if not values:
        return ""
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _written(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime.datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
    return str(value)
