"""Small workbooks, written by hand: .xlsx and .ods with texts, numbers, dates and times."""

import html
import zipfile

OFFICE = "http://schemas.openxmlformats.org"
PACKAGE, DOCUMENT, SHEET = (
    f"{OFFICE}/package/2006",
    f"{OFFICE}/officeDocument/2006/relationships",
    f"{OFFICE}/spreadsheetml/2006/main",
)
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
DATE, TIME = 1, 2  # styles of cells: a day, and a duration


def write_xlsx(path, **sheets):
    """Sheets by name, each a list of rows; a pair is a number in a style."""
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
        parts[f"xl/worksheets/{n}.xml"] = f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData></worksheet>'
    write_parts(path, parts)


def relationships(targets):
    """The relations of a part."""
    lines = "".join(
        f'<Relationship Id="r{n}" Type="{DOCUMENT}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{lines}</Relationships>'


def xlsx_cell(reference, value):
    """A cell: a text, a number, or a number in a style."""
    if value is None or value == "":
        return ""
    if isinstance(value, tuple):
        return f'<c r="{reference}" s="{value[1]}"><v>{value[0]}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{reference}"><v>{value}</v></c>'
    return f'<c r="{reference}" t="inlineStr"><is><t>{html.escape(value)}</t></is></c>'


def write_ods(path, rows):
    """A sheet; a pair is a type of value and the value."""
    lines = "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)
    names = " ".join(f'xmlns:{each}="{OASIS}:{each}:1.0"' for each in ("office", "table", "text"))
    content = (
        f'<office:document-content {names}><office:body><office:spreadsheet><table:table table:name="Sheet">{lines}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    write_parts(path, {"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def ods_cell(value):
    """A cell: a text, a number, or a typed value."""
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
    """A zip of parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
