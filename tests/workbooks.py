"""Small workbooks, written by hand: .xlsx and .ods with texts, numbers, dates and times."""

import html
import zipfile
from typing import Any, NamedTuple

OFFICE = "http://schemas.openxmlformats.org"
PACKAGE, DOCUMENT, SHEET = (
    f"{OFFICE}/package/2006",
    f"{OFFICE}/officeDocument/2006/relationships",
    f"{OFFICE}/spreadsheetml/2006/main",
)
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
DATE, TIME = 1, 2  # styles of date and duration cells


class Merged(NamedTuple):
    """A cell that covers the empty cells to its right and below it."""

    value: Any
    across: int = 1
    down: int = 1


def write_xlsx(path, **sheets):
    """Write sheets by name, each a list of rows. A pair is a number and its style."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": relationships([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{DOCUMENT}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, start=1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            [("worksheet", f"worksheets/{n}.xml") for n in range(1, len(sheets) + 1)] + [("styles", "styles.xml")]
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/>'
        '<xf numFmtId="46"/></cellXfs></styleSheet>',
    }
    for n, rows in enumerate(sheets.values(), start=1):
        lines = "".join(
            f'<row r="{r}">' + "".join(xlsx_cell(f"{chr(64 + c)}{r}", v) for c, v in enumerate(row, start=1)) + "</row>"
            for r, row in enumerate(rows, start=1)
        )
        parts[f"xl/worksheets/{n}.xml"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData>{merged_ranges(rows)}</worksheet>'
        )
    write_parts(path, parts)


def merged_ranges(rows):
    """Return the ranges of merged cells."""
    ranges = [
        f'<mergeCell ref="{chr(64 + c)}{r}:{chr(63 + c + value.across)}{r - 1 + value.down}"/>'
        for r, row in enumerate(rows, start=1)
        for c, value in enumerate(row, start=1)
        if isinstance(value, Merged)
    ]
    return f'<mergeCells count="{len(ranges)}">{"".join(ranges)}</mergeCells>' if ranges else ""


def relationships(targets):
    """Return the relationships of a part."""
    lines = "".join(
        f'<Relationship Id="r{n}" Type="{DOCUMENT}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{lines}</Relationships>'


def xlsx_cell(reference, value):
    """Return a cell with a text, a number, or a number in a style."""
    value = value.value if isinstance(value, Merged) else value
    if value is None or value == "":
        return ""
    if isinstance(value, tuple):
        return f'<c r="{reference}" s="{value[1]}"><v>{value[0]}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{reference}"><v>{value}</v></c>'
    return f'<c r="{reference}" t="inlineStr"><is><t>{html.escape(value)}</t></is></c>'


def write_ods(path, rows=(), **sheets):
    """Write a sheet, or sheets by name. A pair is a type and its value."""
    tables = "".join(
        f'<table:table table:name="{name}">{"".join(ods_rows(each))}</table:table>'
        for name, each in (sheets or {"Sheet": rows}).items()
    )
    names = " ".join(f'xmlns:{each}="{OASIS}:{each}:1.0"' for each in ("office", "table", "text"))
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet>{tables}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    write_parts(path, {"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def ods_rows(rows):
    """Return rows in which cells below a merged cell are marked as covered."""
    covered = {
        (r + down, c + across)
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if isinstance(value, Merged)
        for down in range(value.down)
        for across in range(value.across)
        if down or across
    }
    for r, row in enumerate(rows):
        cells = ("<table:covered-table-cell/>" if (r, c) in covered else ods_cell(v) for c, v in enumerate(row))
        yield f"<table:table-row>{''.join(cells)}</table:table-row>"


def ods_cell(value):
    """Return a cell with a text, a number or a typed value, spanning its merged cells."""
    if isinstance(value, Merged):
        spans = f' table:number-columns-spanned="{value.across}" table:number-rows-spanned="{value.down}"'
        return ods_cell(value.value).replace("<table:table-cell", f"<table:table-cell{spans}", 1)
    kind, written = (
        value if isinstance(value, tuple) else ("float" if isinstance(value, int | float) else "string", value)
    )
    if kind == "string":
        text = f"<text:p>{html.escape(str(written))}</text:p>" if written else ""
        return (
            f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
            if written
            else "<table:table-cell/>"
        )
    name = {"float": "value"}.get(kind, f"{kind}-value")
    return (
        f'<table:table-cell office:value-type="{kind}" office:{name}="{written}"><text:p>?</text:p></table:table-cell>'
    )


def write_parts(path, parts):
    """Write a zip of parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
