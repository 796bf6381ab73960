"""Endless files, archives with too many files and library panics each end in one clear error."""

import io
import zipfile
from pathlib import Path
from unittest import mock

import polars as pl
import pytest

import podium
from podium.cli.terminal.options import read_table
from podium.importers import Options, read_format, sources
from podium.results import reading
from podium.results.parquet_files import ParquetFiles


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
@pytest.mark.parametrize("options", [{}, {"lenient": True}])
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_not_read(path, options):
    with pytest.raises(podium.PodiumError, match=r"is a device\. Give a file"):
        podium.read_results(path, **options)


def test_an_archive_of_too_many_files_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_MEMBERS", 3)
    path = tmp_path / "many.zip"
    for count, words in ((3, None), (4, "has 4 files, but at most 3 are read. Unpack it")):
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}.csv", "event_id,player,position\n1,a,1\n1,b,2\n")
        if words is None:
            assert len(sources.sources(str(path))) == count
            assert all(each.content() for each in sources.sources(str(path)))
        else:
            with pytest.raises(podium.PodiumError, match=words):
                sources.sources(str(path))


def test_an_object_of_too_many_keys_is_rejected(monkeypatch):
    monkeypatch.setattr(sources, "MAX_KEYS", 3)
    assert sources.strict_json('{"a": 1, "b": 2, "c": 3}', "x.json") == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(podium.PodiumError, match="more than 3 keys"):
        sources.strict_json('[{"x": {"a": 1, "b": 2, "c": 3, "d": 4}}]', "x.json")


def test_a_panic_of_polars_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    path = tmp_path / "r.parquet"
    pl.DataFrame({"event_id": ["1"], "player": ["a"], "position": [1]}).write_parquet(path)

    def panic(*_arguments, **_options):
        raise pl.exceptions.PanicException("index out of bounds")

    for name in ("scan_parquet", "read_parquet", "read_parquet_schema"):
        monkeypatch.setattr(reading.pl, name, panic)
    for read in (podium.read_results, lambda each: podium.read_results(each, lenient=True)):
        with pytest.raises(podium.PodiumError, match=r"r.parquet.*is not a Parquet file .index out of bounds"):
            read(path)
    with pytest.raises(podium.PodiumError, match=r"r.parquet: cannot be read .index out of bounds"):
        read_table(path)
    with pytest.raises(podium.PodiumError, match=r"r.parquet.*is not a Parquet file .index out of bounds"):
        ParquetFiles(path)


@pytest.mark.parametrize("read", [
    podium.read_results,
    lambda path: podium.read_results(path, lenient=True),
    lambda path: read_format("csv", [path], Options()),
])  # fmt: skip
def test_endless_standard_input_is_rejected(monkeypatch, read):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"\0" * size

    monkeypatch.setattr(reading, "MAX_STDIN_BYTES", 1_000_000)
    monkeypatch.setattr("sys.stdin", mock.Mock(buffer=Endless()))
    with pytest.raises(podium.PodiumError, match=r"standard input.*has more than 1 MB\. Save it as a file"):
        read("-")


@pytest.mark.parametrize("method", [1, 6, 99])
def test_saved_live_ratings_with_an_unknown_compression_are_rejected(tmp_path, method):
    path = tmp_path / "live.podium"
    live = podium.Live("elo")
    live.save(path)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02", 0, content.index(b"PK\x05\x06"))
    for start in (content.index(b"PK\x01\x02"), at):
        content[start + 10] = method
    path.write_bytes(content)
    with pytest.raises(podium.ParameterError, match=r"is damaged, or is not a file from Live\.save"):
        podium.Live.load(path)
