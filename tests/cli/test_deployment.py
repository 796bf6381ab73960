"""The deployment files: valid as far as a test can tell, with existing commands."""

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from podium.service.server import GRACE_S

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "deployment"
UNITS = [DOCS / "podium.service", *sorted(FOLDER.glob("*.service")), *sorted(FOLDER.glob("*.timer"))]
OPTIONS = {  # in systemd.unit, systemd.service, systemd.exec, systemd.kill, systemd.resource-control and systemd.timer
    "Unit": "Description After Wants",
    "Install": "WantedBy",
    "Timer": "OnCalendar RandomizedDelaySec Persistent",
    "Service": """
        Type User StateDirectory StateDirectoryMode WorkingDirectory CacheDirectory Environment EnvironmentFile
        ExecStart Restart RestartSec TimeoutStopSec UMask LimitNOFILE NoNewPrivileges CapabilityBoundingSet
        AmbientCapabilities LockPersonality PrivateDevices PrivateTmp ProcSubset ProtectClock ProtectControlGroups
        ProtectHome ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc
        ProtectSystem RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID
        SystemCallArchitectures SystemCallFilter
    """,
}


def read_unit(path):
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(path.read_text(encoding="utf-8"))
    return unit


def refuse_unknown(podium_command, words):
    """Fail unless each command exists and accepts its options."""
    names = []
    for word in words:
        if word.startswith("-") or not re.fullmatch(r"[a-z-]+", word) or len(names) == 2:
            break
        names.append(word)
    status, shown, _ = podium_command(*names[:2], "--help")
    if status:
        names = names[:1]
        status, shown, _ = podium_command(*names, "--help")
    assert status == 0, words
    for word in words:
        if word.startswith("--"):
            assert re.search(rf"{word.partition('=')[0]}\b", shown), (names, word)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_have_valid_options_and_commands(path, podium_command):
    unit = read_unit(path)
    for section in unit.sections():
        assert {*unit[section]} <= {*OPTIONS[section].split()}
    if "Service" in unit:
        assert "MemoryDenyWriteExecute" not in unit["Service"]
        (command,) = re.findall(r"/opt/podium/bin/podium ([^'&]+)", unit["Service"]["ExecStart"])
        refuse_unknown(podium_command, shlex.split(command.replace("%i", "8000")))


def test_an_instance_has_a_port_a_cache_and_time_to_stop():
    service = read_unit(FOLDER / "podium@.service")["Service"]
    assert "--port %i" in service["ExecStart"]
    assert service["Environment"] == "PODIUM_CACHE_DIR=%C/podium"
    assert service["CacheDirectory"] == "podium"
    assert int(service["TimeoutStopSec"]) > 2 * GRACE_S
    plain = read_unit(DOCS / "podium.service")["Service"]
    hardening = {name for name in plain if name.startswith(("Protect", "Restrict", "Private", "SystemCall", "NoNew"))}
    assert {name: service[name] for name in hardening - {"Restart"}} == {
        name: plain[name] for name in hardening - {"Restart"}
    }


def test_the_container_file_has_two_stages_and_valid_commands(podium_command):
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    images = [rest for name, rest in lines if name == "FROM"]
    assert [image.split()[0] for image in images] == ["python:3.13-slim"] * 2  # no host, so the engine's registry
    assert "COPY --from=build /opt/podium /opt/podium" in text
    values = dict(lines)
    assert values["USER"] == "10001"
    volumes = json.loads(values["VOLUME"])
    environment = dict(each.split("=", 1) for each in values["ENV"].split())
    assert [Path(environment[name]).parent.as_posix() for name in ("PODIUM_CACHE_DIR", "PODIUM_DB")] == volumes * 2
    assert json.loads(values["ENTRYPOINT"]) == ["podium"]
    command = json.loads(values["CMD"])
    refuse_unknown(podium_command, command)
    assert Path(command[command.index("--key-file") + 1]).parent.as_posix() in volumes
    probe = re.search(r"HEALTHCHECK .*CMD (\[.*\])", text)
    compile(json.loads(probe[1])[2], "HEALTHCHECK", "exec")
    assert "/readyz" in probe[1]


def test_the_image_needs_few_files_and_checks_hashes():
    root = DOCS.parent
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    kept = [line[1:] for line in ignored if line.startswith("!")]
    assert all((root / each).exists() for each in kept)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [
        *project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"],
        *(path for path in project["project"]["license-files"] if not path.startswith("src/")),
    ]
    assert {"requirements.lock", "pyproject.toml", "hatch_build.py", "README.md", "src", *needed} == {*kept}
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    assert "--no-deps --require-hashes -r /source/requirements.lock" in text
    locked = re.findall(r"^([a-z0-9-]+)==", (root / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.search(r"uninstall --yes (.*)", text)[1].split()} <= {*locked}


def test_compose_has_two_profiles_with_valid_commands(podium_command):
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    profiles = {name: service["profiles"] for name, service in services.items()}
    assert {name for name, each in profiles.items() if each == ["sqlite"]} == {"podium"}
    assert {name for name, each in profiles.items() if each == ["postgres"]} == {"podium-postgres", "postgres", "caddy"}
    for name in ("podium", "podium-postgres"):
        assert services[name]["read_only"] is True
        assert services[name]["volumes"] == ["state:/var/lib/podium"]
        assert "/readyz" in services[name]["healthcheck"]["test"][-1]
        compile(services[name]["healthcheck"]["test"][-1], "healthcheck", "exec")
    refuse_unknown(podium_command, services["podium-postgres"]["command"])
    (network,) = compose["networks"]["default"]["ipam"]["config"]
    assert services["podium-postgres"]["command"][-1] == network["subnet"]
    used = {volume.partition(":")[0] for service in services.values() for volume in service.get("volumes", ())}
    assert used == {*compose["volumes"]}


@pytest.mark.parametrize("name", ["Caddyfile", "nginx.conf"])
def test_web_servers_balance_instances_and_pass_streams_on(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.count("{") == text.count("}")
    assert "127.0.0.1:8000" in text
    assert "127.0.0.1:8001" in text
    assert re.search(r"flush_interval -1|proxy_buffering off", text)


def test_the_pages_commands_exist(podium_command):
    text = (DOCS / "deployment.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    podium ([a-z].*)$", text, re.MULTILINE) + re.findall(r"`podium ([^`…]+)`", text)
    assert len(commands) >= 6
    for each in commands:
        refuse_unknown(podium_command, shlex.split(each))
    for name in re.findall(r"\]\((deployment/[^)]+)\)", text):
        assert (DOCS / name).is_file()
