"""Inputs in every format that Podium imports, small and complete, and their results."""

import json
from pathlib import Path

from podium.cli.terminal.options import as_written
from podium.cli.terminal.show import as_text
from podium.errors import FormatError
from podium.importers import Options, read_format

REPORT = """V 9
G dm
O Xonotic
M stormkeep
I 7.1767225600.000042
S ^1My^7 server
D 600.000000
P Ana=
i 1
n ^x0FFAna^^
r 1
e alivetime 590.5
e joins 1
e matches 1
e scoreboard-score 20
e scoreboardpos 1
e scoreboardvalid 1
e acc-vortex-cnt-fired 80
P Ben=
i 2
r 1
e alivetime 601
e joins 1
e matches 1
e scoreboardpos 2
e scoreboardvalid 1

"""
GAME = """[Event "Casual Chess960 game"]
[Site "https://www.lichess.org/{id}"]
[Date "2026.02.03"]
[Round "-"]
[White "ana"]
[Black "ben"]
[Result "{result}"]
[UTCDate "2026.02.03"]
[UTCTime "20:15:00"]
[TimeControl "600+0"]
[Termination "Normal"]

1. e4 {{ a comment }} e5 (1... c5 {{ 0-1 }} 2. Nf3 (2. c3 *)) 2. Ke2 $2 ; 0-1
{result}

"""
ZAKSTUNTS = "Track,Racer,Rank,Ghost,Status\nC9,Ana,1,0,\nC9,Ben,2,0,MSC\nP1,Ana,1,0,\nP1,Ben,1,0,EX2\n"
F1DB = {
    "f1db-races.csv": (
        '"id","year","round","date","time","sprintRaceDate","sprintRaceTime","qualifyingDate","qualifyingTime"\n'
        '31,2030,1,"2030-03-10","14:00","2030-03-09","10:00","2030-03-09",\n'
    ),
    "f1db-races-race-results.csv": (
        '"raceId","positionText","driverId","constructorId","time","timeMillis"\n'
        '31,"1","ana-a","x","1:2:7.900",3727900\n31,"2","ben-b","y","+1 lap",\n31,"DNF","cy-c","x",,\n'
        '31,"4","ana-a","x",,\n'
    ),
    "f1db-races-qualifying-results.csv": (
        '"raceId","positionText","driverId","constructorId","time","timeMillis"\n'
        '31,"1","ben-b","y","1:10.1",70100\n31,"2","ana-a","x","1:09.9",69900\n'
    ),
}
ERGAST = {
    "races.csv": "raceId,year,round,date,time,sprint_date,sprint_time\n8,2010,1,2010-05-09,12:00:00,2010-05-08,\\N\n",
    "drivers.csv": 'driverId,driverRef\n1,"ana"\n2,"ben"\n3,"cy"\n',
    "constructors.csv": 'constructorId,constructorRef\n7,"red"\n',
    "results.csv": (
        "resultId,raceId,driverId,constructorId,position,positionText,time,milliseconds,statusId\n"
        '1,8,1,7,1,"1","1:33:56.736",\\N,1\n2,8,2,7,2,"2","+11.987",\\N,1\n3,8,3,7,\\N,"R",\\N,\\N,5\n'
    ),
    "sprint_results.csv": (
        "resultId,raceId,driverId,constructorId,positionText,time,milliseconds\n"
        '1,8,1,7,"1","20:00.5",1200500\n2,8,2,7,"W",\\N,\\N\n'
    ),
}


def race(**changes):
    """Return a racetime.gg race; `entrants` are (id, status, time, place, team)."""
    both = [("u1", "done", "P0DT01H00M00.500000S", 1, None), ("u2", "dnf", None, None, None)]
    entrants = changes.pop("entrants", both)
    whole = {
        "name": "oot/calm-link-1",
        "status": {"value": "finished"},
        "category": {"slug": "oot"},
        "goal": {"name": "Any%", "custom": False},
        "started_at": "2026-01-10T20:00:00.250+01:00",
        "ranked": True,
        "entrants": [
            {
                "user": None if user is None else {"id": user, "full_name": f"{user}#1"},
                "status": {"value": status},
                "finish_time": time,
                "place": place,
                "team": None if team is None else {"slug": team},
            }
            for user, status, time, place, team in entrants
        ],
    }
    return whole | changes


def slot(entrant, *players, score=None):
    people = [{"player": {"id": number, "gamerTag": f"tag {number}"}} for number in players]
    return {
        "entrant": {"id": entrant, "name": "x", "participants": people},
        "standing": {"stats": {"score": {"value": score}}},
    }


def startgg_set(number=1, **changes):
    """Return a start.gg set."""
    whole = {"id": number, "state": 3, "winnerId": 21, "displayScore": "Ana 2 - Ben 1", "startedAt": None}
    whole |= {"completedAt": 1767226200, "slots": [slot(21, 101, score=2), slot(22, 102, score=1)]}
    return whole | changes


def startgg(*sets):
    """Return a start.gg response."""
    return {"data": {"event": {"id": 7, "slug": "e", "videogame": {"name": "Melee"}, "sets": {"nodes": list(sets)}}}}


def match(**changes):
    """Return a Challonge match."""
    whole = {"id": 9, "state": "complete", "player1_id": 1, "player2_id": 52, "winner_id": 52, "loser_id": 1}
    whole |= {"scores_csv": "3-1,0-3,2-3", "started_at": None, "completed_at": "2026-03-01T12:00:00.000-05:00"}
    return whole | changes


def tournament(*matches):
    """Return a Challonge tournament."""
    people = [(1, "Ana", None, []), (2, "Ben", "ben_x", [52])]
    participants = [
        {"participant": {"id": number, "name": name, "challonge_username": account, "group_player_ids": groups}}
        for number, name, account, groups in people
    ]
    whole = {"id": 3, "url": "cup", "game_name": None, "participants": participants}
    return {"tournament": whole | {"matches": [{"match": each} for each in matches]}}


STK_COLUMNS = (
    "time TIMESTAMP NOT NULL, venue TEXT NOT NULL, mode TEXT NOT NULL, visible INTEGER DEFAULT 1, username TEXT, "
    "result REAL, team INTEGER DEFAULT -1, handicap INTEGER DEFAULT -1, online_id INTEGER DEFAULT -1, "
    "is_not_full INTEGER DEFAULT 0, game_duration REAL DEFAULT -1, when_joined REAL DEFAULT -1, "
    "when_left REAL DEFAULT -1, game_event INTEGER DEFAULT 0"
)


def stk_dump(*rows, table="v1_home_results", columns=STK_COLUMNS):
    """Return a dump of a results table; rows are dicts."""
    lines = [f'CREATE TABLE "{table}" ({columns});']
    for row in rows:
        values = ", ".join("NULL" if each is None else repr(each) for each in row.values())
        lines.append(f'INSERT INTO "{table}" ({", ".join(row)}) VALUES ({values});')  # noqa: S608
    return "BEGIN TRANSACTION;\n" + "\n".join(lines) + "\nCOMMIT;\n"


def stk_row(username="ana", result=60.5, **changes):
    """Return a row of a two-minute race."""
    whole = {"time": "2026-06-01 18:05:00", "venue": "zengarden", "mode": "normal", "username": username}
    whole |= {"result": result, "game_duration": 120.0, "when_joined": 0.0, "when_left": 120.0}
    return whole | changes


def games(*pairs):
    """Return chess games by their id and result."""
    return "".join(GAME.format(id=number, result=result) for number, result in pairs)


WHOLE = {  # a small input in every format, as text or as the files of a folder
    "xonstat": REPORT,
    "stk": stk_dump(stk_row(), stk_row("ben", 61.5)),
    "zakstunts": ZAKSTUNTS,
    "f1db": F1DB,
    "ergast": ERGAST,
    "pgn": games(("a", "1-0"), ("b", "1/2-1/2")),
    "racetime": json.dumps(race()),
    "startgg": json.dumps(startgg(startgg_set())),
    "challonge": json.dumps(tournament(match())),
}
SUFFIXES = {"zakstunts": "csv", "pgn": "pgn", "racetime": "json", "startgg": "json", "challonge": "json", "stk": "sql"}


def write_input(folder: Path, name: str, content) -> Path:
    """Write an input: text, bytes, a value for JSON, or the files of a folder."""
    path = folder / f"{name}.{SUFFIXES.get(name, 'txt')}"
    if isinstance(content, dict) and all(isinstance(each, str) for each in content.values()):
        path = folder / name
        path.mkdir(exist_ok=True)
        for file, text in content.items():
            (path / file).write_text(text, encoding="utf-8")
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="")
    return path


def import_text(folder: Path, name: str, content, **options):
    """Return the import of an input."""
    return read_format(name, [write_input(folder, name, content)], Options(**options))


def table(folder: Path, name: str, content, **options):
    """Return the lines of the written results table without its header."""
    return as_text(as_written(import_text(folder, name, content, **options).table)).write_csv().splitlines()[1:]


def refusal(folder: Path, name: str, content, **options):
    """Return an input's error message."""
    try:
        import_text(folder, name, content, **options)
    except FormatError as error:
        return str(error).replace(f"{folder}/", "")
    raise AssertionError("it is taken")
