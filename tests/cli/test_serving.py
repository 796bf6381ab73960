"""The first admin key, and the systemd unit."""

import configparser
import stat
from pathlib import Path

import pytest

from podium.cli.service.serving import create_first_key
from podium.errors import PodiumError
from podium.store import Store
from podium.store.keys import find_key, list_keys

UNIT = Path(__file__).parents[2] / "docs" / "podium.service"


def test_the_first_admin_key_can_be_a_file_that_only_its_owner_reads(tmp_path, capsys):
    store, file = Store(str(tmp_path / "podium.db")), tmp_path / "key"
    file.touch()
    with pytest.raises(PodiumError, match=r"already exists\. Choose a new file"):
        create_first_key(store, file)
    with pytest.raises(PodiumError, match="cannot be written"):
        create_first_key(store, tmp_path / "none" / "key")
    assert list_keys(store.engine) == []
    file.unlink()
    create_first_key(store, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with store.engine.connect() as connection:
        assert find_key(connection, file.read_text(encoding="ascii").strip()).role == "admin"
    assert "podium_" not in capsys.readouterr().out
    create_first_key(store, file)  # an admin key exists already
    assert len(list_keys(store.engine)) == 1
    store.close()


def test_the_hardened_unit_allows_compiling_kernels():
    """Compiled code is written to executable memory, and stored in the cache folder."""
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.read_string(UNIT.read_text(encoding="utf-8"))
    service = unit["Service"]
    assert "MemoryDenyWriteExecute" not in service
    assert service["Environment"] == "PODIUM_CACHE_DIR=%C/podium"
    assert service["CacheDirectory"] == service["StateDirectory"] == "podium"
    for name in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictSUIDSGID"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert "--key-file" in service["ExecStart"]
