"""The documentation's examples in other languages."""

import re
from pathlib import Path

import lupa
import pytest
from gdtoolkit.parser import parser
from starlette.testclient import TestClient

from podium.service import create_app
from podium.service.http.keys import NO_KEY
from podium.store.keys import create_key
from podium.systems import find

PAGE = (Path(__file__).parents[2] / "docs" / "service" / "other-languages.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def plain(value):
    """Return a Lua value as JSON; a table with keys from 1 is a list."""
    if lupa.lua_type(value) != "table":
        return value
    keys = [*value.keys()]
    if keys == [*range(1, len(keys) + 1)]:
        return [plain(each) for each in value.values()]
    return {key: plain(each) for key, each in value.items()}


class Game:
    """A game server in Lua, whose requests reach the service in this process after some failures."""

    def __init__(self, store, key, *failures):
        self.lua = lupa.LuaRuntime(unpack_returned_tuples=True)
        self.failures, self.requests, self.pauses, self.printed = [*failures], [], [], []
        self.client = TestClient(create_app(store))
        table, globals_ = self.lua.table, self.lua.globals()
        module, self.example = blocks("lua")
        assert len(module.splitlines()) <= 60
        globals_.package.loaded.podium = self.lua.execute(module)
        globals_.key, globals_.request = key, self.request
        globals_.json = table(encode=lambda value: value, decode=self.decode)
        globals_.print, globals_.pause = self.printed.append, self.pauses.append

    def decode(self, answer):
        return self.lua.table_from(answer, recursive=True)

    def request(self, method, url, headers, body):
        self.requests.append((method, url))
        failure = self.failures.pop(0) if self.failures else None
        if failure == "no answer":
            return None
        if failure is not None:
            return failure, {}
        sent = None if body is None else plain(body)
        answer = self.client.request(
            method, url.removeprefix("http://127.0.0.1:8000"), json=sent, headers=plain(headers)
        )
        return answer.status_code, answer.json()


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("karts", find("elo")())
    return sqlite_store


@pytest.mark.parametrize("failures", [(), ("no answer", 503, 429)])
def test_lua_sends_results_and_repeats_unanswered_requests(store, failures):
    game = Game(store, create_key(store.engine, "game", "write"), *failures)
    game.lua.execute(game.example)
    assert game.printed == [store.player("karts", "ana").rating]
    assert [method for method, _ in game.requests] == ["POST"] * (1 + len(failures))


def test_lua_reports_errors(store):
    game = Game(store, "podium_wrong")
    game.lua.execute(game.example)
    assert game.printed == [NO_KEY]
    assert len(game.requests) == 1
    game = Game(store, "podium_wrong", *["no answer"] * 9)
    game.lua.execute(game.example)
    assert (game.printed, len(game.requests)) == (["the service does not answer"], 5)


def test_lua_escapes_names(store):
    key = create_key(store.engine, "game", "write")
    game = Game(store, key)
    game.lua.execute(game.example)
    call = "client = require('podium').new({url = 'http://127.0.0.1:8000', key = key, request = request, json = json})"
    game.lua.execute(f"{call} _, problem = client:player('karts', 'Zoë / ..')")
    assert game.requests[-1][1].endswith("/api/v1/pools/karts/players/Zo%C3%AB%20%2F%20%2E%2E")
    assert "Zoë / .." in game.lua.globals().problem
    assert game.lua.execute(f"{call} return client:player('karts', 'ben').rating") < 1500.0


def test_the_godot_script_is_valid():
    (script,) = blocks("gdscript")
    parser.parse(script)


def test_typescript_calls_existing_routes(store):
    (script,) = blocks("ts")
    paths = create_app(store).openapi()["paths"]
    called = re.findall(r'podium\.(\w+)\("([^"]+)"', script)
    assert called
    for method, path in called:
        assert method.lower() in paths[path]
