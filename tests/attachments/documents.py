"""Documents made for the tests, as small as their formats allow."""

import io
import zipfile
import zlib

NAMESPACES = (
    'xmlns:w="word" xmlns:a="drawing" xmlns:p="slides" xmlns:r="relations" xmlns:text="text" '
    'xmlns:table="table" xmlns:office="office" xmlns:draw="draw" xmlns:svg="svg" xmlns:mc="compatibility"'
)


def package(**parts: str | bytes) -> bytes:
    """A ZIP file. In the names, `__` stands for `/` and `_x` for `.xml`."""
    return zipped({name.replace("__", "/").replace("_x", ".xml"): content for name, content in parts.items()})


def zipped(parts: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def docx(body: str, **other_parts: str) -> bytes:
    return package(
        word__document_x=f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>", **other_parts
    )


def pptx(*slides: str, order: tuple[int, ...] = ()) -> bytes:
    """`order` are the numbers of the slides as they are shown."""
    numbers = order or tuple(range(1, len(slides) + 1))
    shown = "".join(f'<p:sldId id="{250 + n}" r:id="rId{n}"/>' for n in numbers)
    targets = "".join(f'<Relationship Id="rId{n}" Target="slides/slide{n}.xml"/>' for n in numbers)
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}>{shown}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": f"<Relationships>{targets}</Relationships>",
    }
    for number, slide in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {NAMESPACES}>{slide}</p:sld>"
    return zipped(parts)


def odf(kind: str, body: str, manifest: str = "") -> bytes:
    """`kind` is text, spreadsheet or presentation."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document {NAMESPACES}>{body}</office:document>",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
        }
    )


def pdf(text: str = "", content: bytes | None = None, kids: str = "3 0 R", count: int = 1) -> bytes:
    """One page that says `text`, or has this content stream, unpacked from zlib."""
    stream = zlib.compress(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode() if content is None else content)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    file = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, written in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    start = len(file)
    file += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % at for at in offsets)
    return bytes(file + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start)


def locked_pdf(text: str, password: str, algorithm: str) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(text))))
    writer.encrypt(password, algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def xlsx(**sheets: list[list[object]]) -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def png(colour: str = "red") -> bytes:
    """A picture of 40 x 20 pixels."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (40, 20), colour).save(file, "PNG")
    return file.getvalue()
