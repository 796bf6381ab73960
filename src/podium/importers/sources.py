"""The files of an import, unpacked and decoded within limits: single files, folders, archives and standard input."""

import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from podium.errors import CANNOT_BE_READ, FormatError, needs_extra
from podium.results.reading import STDIN, refuse_other_source, refused_constant, repeated_key, standard_input
from podium.support.addresses import download, is_https

MAX_EXPANSION = 100  # maximum factor by which a compressed file may expand
MAX_KEYS = 100_000  # maximum number of keys in a JSON object
MAX_MEMBERS = 5_000  # maximum number of files in an archive
MAX_DEPTH = 64  # maximum depth of nested JSON
START_BYTES = 1 << 10  # number of bytes that reveal the encoding of text
SIGN_BYTES = 1 << 14  # number of bytes that reveal the format of a file
SIGNS = {  # first bytes of formats that cannot be tables
    "xonstat": rb"V \d+\s*\n|-+ BEGIN REQUEST BODY",
    "stk": rb"(?s)SQLite format 3\0.*CREATE TABLE \W?v\d_\w+_results",
    "ergast": rb'\{\s*"MRData"',
    "pgn": rb'\[\w+\s+"',
    "racetime": rb'(?s)[\[{].*"entrants(_count)?"\s*:.*"full_name"',
    "startgg": rb'\[?\s*\{\s*"data"\s*:\s*\{\s*"event"',
    "challonge": rb'\[?\s*\{\s*"tournament"\s*:\s*\{',
}
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SQLITE = b"SQLite format 3\0"
UTF8_MARK, UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
CHUNK_BYTES = 1 << 16
FRAME_PART_BYTES = 1 << 10  # four bytes may expand to 128 kB


def refuse_file(name: str, remedy: str, place: str = "", command: str = "") -> NoReturn:
    raise FormatError.whole(name, remedy, place, command)


def is_database(path: Path) -> bool:
    """Return True if a file is an SQLite database that is not compressed."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


@dataclass(frozen=True)
class Source:
    name: str  # the file's name in messages
    raw: Callable[[], BinaryIO]  # opens the file as stored

    def open(self) -> BinaryIO:
        """Open the unpacked content.

        Reading raises FormatError if the content is damaged, or expands to over 100 times its size.
        """
        try:
            stored = self.raw()
            start = stored.read(len(ZSTD))
            size = stored.seek(0, io.SEEK_END)
            stored.seek(0)
        except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
            refuse_file(self.name, f"{CANNOT_BE_READ} ({getattr(error, 'strerror', None) or error})")
        if start.startswith(GZIP):
            parts = gzip_parts(stored)
        elif start == ZSTD:
            parts = zstd_parts(stored)
        else:
            return stored
        limited = Unpacked(parts, stored, self.name, size * MAX_EXPANSION)
        return cast("BinaryIO", io.BufferedReader(limited, CHUNK_BYTES))

    def content(self) -> bytes:
        with self.open() as stream:
            return stream.read()


class Unpacked(io.RawIOBase):
    """The content of a compressed file, which is read part by part."""

    def __init__(self, parts: Iterator[bytes], stored: BinaryIO, name: str, limit: int) -> None:
        self.parts, self.stored, self.name, self.limit = parts, stored, name, limit
        self.ready, self.count = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            self.ready = self.ready or next(filter(None, self.parts), b"")
        except (OSError, EOFError, zlib.error) as error:
            refuse_file(self.name, f"is compressed and damaged ({error})")
        count = min(len(buffer), len(self.ready))
        buffer[:count], self.ready = self.ready[:count], self.ready[count:]
        self.count += count
        if self.count > self.limit:
            refuse_file(self.name, f"expands to more than {MAX_EXPANSION} times its size. Unpack it first.")
        return count

    def close(self) -> None:
        self.stored.close()
        super().close()


def gzip_parts(stored: BinaryIO) -> Iterator[bytes]:
    unwrapped = gzip.GzipFile(fileobj=stored)
    return iter(lambda: unwrapped.read1(CHUNK_BYTES), b"")


def zstd_parts(stored: BinaryIO) -> Iterator[bytes]:
    """Yield the content of all frames. Report an incomplete frame, which zstandard's own reader would ignore."""
    with needs_extra("zstd", "a .zst file"):
        import zstandard  # noqa: PLC0415  (an extra)

    frame: Any = None
    rest = b""
    while part := rest or stored.read(FRAME_PART_BYTES):
        frame = frame or zstandard.ZstdDecompressor().decompressobj()
        try:
            yield frame.decompress(part)
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None
        rest, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("the file ends within a frame")


def sources(path: str) -> list[Source]:
    """Return the files at a path: a single file, or the files below a folder or in a zip. `-` means standard input."""
    if path == STDIN:
        return [of_bytes(standard_input(), "standard input")]
    refuse_other_source(path)
    if is_https(path):
        try:
            return [of_bytes(download(path), path)]
        except OSError as error:
            refuse_file(path, f"{CANNOT_BE_READ} ({error})")
    place = Path(path)
    if place.is_dir():
        inside = sorted(file for file in place.rglob("*") if file.is_file() and not file.name.startswith("."))
        return [Source(str(file), partial(open_file, file)) for file in inside]
    if place.suffix.lower() == ".zip":
        return list(members(place))
    if not place.exists():
        refuse_file(path, f"{CANNOT_BE_READ} (No such file or directory). Check the path.")
    return [Source(path, partial(open_file, place))]


def format_of(path: str) -> str | None:
    """Return the format of a file, based on its first bytes.

    Return None if the file may be a table, or if the path is not a single file.
    """
    if not (is_https(path) or Path(path).is_file()) or len(sources(path)) != 1:
        return None
    with sources(path)[0].open() as stream:
        start = stream.read(SIGN_BYTES).removeprefix(UTF8_MARK).lstrip()
    return next((name for name, sign in SIGNS.items() if re.match(sign, start)), None)


def open_file(path: Path) -> BinaryIO:
    return path.open("rb")


def of_bytes(content: bytes, name: str) -> Source:
    return Source(name, lambda: io.BytesIO(content))


def members(path: Path) -> Iterator[Source]:
    try:
        archive = zipfile.ZipFile(path)  # open the archive only once, because this reads the list of files
        infos = [info for info in archive.infolist() if not info.is_dir() and "__MACOSX" not in info.filename]
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
        refuse_file(str(path), f"is not a zip archive ({getattr(error, 'strerror', None) or error})")
    if len(infos) > MAX_MEMBERS:
        refuse_file(
            str(path),
            f"has {len(infos):,} files, but at most {MAX_MEMBERS:,} are read. Unpack it, and give its folder.",
        )
    for info in infos:
        yield Source(f"{path}/{info.filename}", partial(open_member, archive, path, info))


def open_member(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> BinaryIO:
    """Read a file in a zip into memory, up to its stated size and up to the limit."""
    limit = info.compress_size * MAX_EXPANSION
    with archive.open(info) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        refuse_file(f"{path}/{info.filename}", f"expands to more than {MAX_EXPANSION} times its size")
    return io.BytesIO(content)


def decode(
    content: bytes, name: str, encoding: str | None = None, *, advice: str = "Name its encoding", command: str = ""
) -> str:
    """Decode bytes as UTF-8 or UTF-16, with or without a byte order mark, or in a chosen encoding.

    `advice` ends an error message, before the command to type.

    The encoding `xml` means UTF-8, or Latin-1 if the bytes are not valid UTF-8. Some programs write logs like this.
    """
    marked = content[:2] in UTF16_MARKS and encoding in (None, "xml")
    if encoding == "xml":
        with suppress(UnicodeDecodeError):
            return decode(content.decode().encode(), name)
        encoding = None if b"\0" in content[:2] or marked else "cp1252"
    codec = "utf-16" if marked else encoding or unmarked_codec(content[:START_BYTES])
    try:
        decoded = content.removeprefix(UTF8_MARK).decode(codec)
    except LookupError:
        refuse_file(name, f"there is no encoding {encoding!r}. Name one such as cp1252, cp1250 or cp1251.")
    except UnicodeDecodeError as error:
        kind = "UTF-8" if codec == "utf-8" else codec.upper()
        place = error.start + len(UTF8_MARK) * content.startswith(UTF8_MARK)
        remedy = f"is not {kind} text (byte {place})"
        if codec == "utf-8":
            refuse_file(name, f"{remedy}. {advice}", command=command)
        refuse_file(name, remedy)
    nul = decoded.find("\0")
    if nul >= 0:
        place = len(decoded[:nul].encode(codec if not marked else "utf-16-le")) + 2 * marked
        refuse_file(name, f"contains a NUL character (byte {place}). It is not text, or it is damaged.")
    return decoded


def unmarked_codec(start: bytes) -> str:
    """Return the codec of text without a byte order mark: UTF-16 if most bytes in even or odd positions are zero."""
    first, second = start[::2].count(0), start[1::2].count(0)
    if 2 * max(first, second) < len(start[::2]) or not first + second:
        return "utf-8"
    return "utf-16-be" if first > second else "utf-16-le"


def strict_json(content: str, name: str, *, literal_numbers: bool = False, place: str = "") -> Any:
    """Parse JSON strictly: no NaN, no repeated key, and at most 64 levels.

    `place` is the text's place in the file.
    """

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(pairs) > MAX_KEYS:
            message = f"an object has more than {MAX_KEYS:,} keys"
            raise ValueError(message)
        if len(whole) < len(pairs):
            message = f"{repeated_key(pairs)!r} appears twice in one object"
            raise ValueError(message)
        return whole

    number = str if literal_numbers else None
    decoder = json.JSONDecoder(
        parse_constant=refused_constant, object_pairs_hook=make_object, parse_float=number, parse_int=number
    )
    try:
        value = decoder.decode(content)
    except json.JSONDecodeError as error:
        refuse_file(name, f"is not JSON ({error.msg})", place or f"line {error.lineno}")
    except RecursionError:
        refuse_file(name, f"has JSON that is nested more than {MAX_DEPTH} levels deep", place)
    except ValueError as error:
        refuse_file(name, f"is not JSON ({error})", place)
    if depth_exceeds(value, MAX_DEPTH):
        refuse_file(name, f"has JSON that is nested more than {MAX_DEPTH} levels deep", place)
    return value


def depth_exceeds(value: Any, limit: int) -> bool:
    level: list[Any] = [[value]]
    for _ in range(limit + 1):
        parts = (part.values() if isinstance(part, dict) else part for part in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def stem(name: str) -> str:
    """Return the name of a file without its folder and suffixes."""
    return name.replace("\\", "/").rpartition("/")[2].partition(".")[0]
