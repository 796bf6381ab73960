"""Result logs of racing simulators in the formats of their programs, from one race with a known order."""

import json

ORDER = (
    "Lena Vos",
    "Tom Ek",
    "Ida Roth",
    "Max Lund",
)  # in order of finish; the last but one was lapped, the last left
LAPS, TIMES = (23, 23, 21, 4), (2329.1, 2331.6, 2181.8, 0.0)  # a lapped car's time is the shortest
STARTED = 1_741_460_400  # 2025-03-08 19:00 UTC


def acc(session="R", *, newer=False):
    lines = []
    for place, (name, laps, seconds) in enumerate(zip(ORDER, LAPS, TIMES, strict=True)):
        first, last = name.split()
        drivers = [{"firstName": first, "lastName": last, "shortName": last[:3].upper(), "playerId": f"S{place}"}]
        if place == 0:
            drivers.append({"firstName": "Eva", "lastName": "Berg", "shortName": "BER", "playerId": "S9"})
        car = {"carId": 1001 + place, "raceNumber": 10 * place, "carModel": 8, "teamName": "", "drivers": drivers}
        timing = {"totalTime": int(seconds * 1000), "lapCount": laps, "bestLap": 101_000}
        lines.append({"car": car, "currentDriverIndex": 0, "timing": timing, "missingMandatoryPitstop": 0})
    whole = {"sessionType": session, "trackName": "zolder", "sessionResult": {"leaderBoardLines": lines}, "laps": []}
    if newer:
        whole |= {"version": 3, "laps": [{"carId": 1001, "laptime": 101_000}]}
        for line in lines:
            line["timing"] |= {"lastSplits": [1, 2, 3]}
            del line["missingMandatoryPitstop"]
    return json.dumps(whole, indent=1).encode("utf-16-le")


def ac(*, newer=False):
    cars = [{"CarId": n, "Driver": {"Name": name, "Team": "", "Guid": f"g{n}"}} for n, name in enumerate(ORDER)]
    results = [
        {"DriverName": name, "DriverGuid": f"g{n}", "CarId": n, "BestLap": 101_000, "TotalTime": int(seconds * 1000)}
        for n, (name, seconds) in enumerate(zip(ORDER, TIMES, strict=True))
    ]
    results.append({"DriverName": "", "DriverGuid": "", "CarId": 9, "BestLap": 999_999_999, "TotalTime": 0})
    whole = {"TrackName": "imola", "Type": "RACE", "RaceLaps": 23, "Cars": cars, "Result": results, "Laps": [],
             "Events": [{"Type": "COLLISION_WITH_CAR"}]}  # fmt: skip
    return json.dumps(whole | ({"Version": 2, "Penalties": []} if newer else {})).encode()


def iracing(*, newer=False):
    results = [
        {"cust_id": 100 + n, "display_name": name, "finish_position": n, "laps_complete": laps, "interval": 0,
         "reason_out": "Running" if n < 3 else "Disconnected"}
        for n, (name, laps) in enumerate(zip(ORDER, LAPS, strict=True))
    ]  # fmt: skip
    qualifying = [each | {"finish_position": 3 - each["finish_position"]} for each in results]
    sessions = [{"simsession_type": 5, "simsession_name": "QUALIFY", "results": qualifying},
                {"simsession_type": 6, "simsession_name": "RACE", "results": results}]  # fmt: skip
    whole = {
        "subsession_id": 77,
        "series_name": "GT3",
        "start_time": "2025-03-08T19:00:00Z",
        "session_results": sessions,
    }
    if newer:
        whole |= {"weather": {"type": 1}, "league_name": None}
        sides = [{"team_id": -n - 1, "finish_position": n, "display_name": f"Team {n}", "reason_out": "Running",
                  "driver_results": [results[n]]} for n in range(4)]  # fmt: skip
        sessions[1]["results"] = sides
    return json.dumps(whole).encode()


def iracing_csv(*, newer=False):
    head = ["Fin Pos", "Car ID", "Car", "Cust ID", "Name", "Start Pos", "Car #", "Out", "Interval", "Laps Comp"]
    head += ["Club"] * newer
    lines = ['"Start Time","Track","Series"', '"2025-03-08T19:00:00Z","Zolder","GT3"', ""]
    lines.append(",".join(f'"{each}"' for each in head))
    for n, (name, laps) in enumerate(zip(ORDER, LAPS, strict=True)):
        out = "Running" if n < 3 else "Disconnected"
        cells = [n + 1, 8, "BMW M4 GT3", 100 + n, name, 4 - n, n, out, "-00.000", laps, *["Nordic"] * newer]
        lines.append(",".join(f'"{each}"' for each in cells))
    return "\r\n".join(lines).encode()


def rfactor(*, newer=False):
    drivers = "".join(
        f"<Driver><Name>{name}</Name><CarType>GT3</CarType>{'<Category>GT3, WEC</Category>' * newer}"
        f"<Position>{n + 1}</Position><Laps>{laps}</Laps>"
        + (f"<FinishTime>{seconds}</FinishTime><FinishStatus>Finished Normally</FinishStatus>" if seconds else
           "<FinishStatus>DNF</FinishStatus>")
        + f'<Lap num="1" p="{n + 1}">101.2</Lap><Lap num="2" p="1">100.9</Lap></Driver>'
        for n, (name, laps, seconds) in enumerate(zip(ORDER, LAPS, TIMES, strict=True))
    )  # fmt: skip
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE rF [<!ENTITY rFEnt "rFactor Entity">]>\n'
        f'<rFactorXML version="1.0"><RaceResults><ServerName>N\xfcrburg</ServerName><DateTime>{STARTED}</DateTime>'
        f"<TimeString>2025/03/08 19:00:00</TimeString><TrackEvent>Zolder</TrackEvent><RaceLaps>23</RaceLaps>"
        f"<Qualify><Stream/><Driver><Name>Max Lund</Name><Position>1</Position><Laps>3</Laps></Driver></Qualify>"
        f'<Race><Stream><Incident et="1">x</Incident></Stream>{drivers}</Race></RaceResults></rFactorXML>'
    ).encode("latin-1")


def raceroom(*, newer=False):
    players = [
        {"FullName": name, "Username": name.lower(), "Car": "BMW", "Position": n + 1, "TotalTime": int(seconds * 1000),
         "FinishStatus": "Finished" if seconds else "DidNotFinish", "RaceSessionLaps": []}
        for n, (name, seconds) in enumerate(zip(ORDER, TIMES, strict=True))
    ]  # fmt: skip
    sessions = [{"Type": "Qualify", "Players": players[::-1]}, {"Type": "Race", "Players": players}]
    whole = {"Server": "club", "Time": f"/Date({STARTED}000)/", "Track": "Zolder", "Sessions": sessions}
    return json.dumps(whole | ({"Experience": "RaceRoom", "Difficulty": "GetReal"} if newer else {})).encode()


def ams2(*, newer=False):
    results = [
        {"name": name, "refid": n, "participantid": n, "is_player": True,
         "attributes": {"RacePosition": n + 1, "Lap": laps, "TotalTime": int(seconds * 1000), "FastestLapTime": 101_000,
                        "State": "Finished" if seconds else "Retired", "VehicleId": 5}}
        for n, (name, laps, seconds) in enumerate(zip(ORDER, LAPS, TIMES, strict=True))
    ]  # fmt: skip
    stages = {"qualifying1": {"results": results[::-1]}, "race1": {"results": results, "events": []}}
    history = [{"index": 1, "finished": True, "end_time": STARTED, "setup": {}, "stages": stages}]
    history += [{"index": 2, "finished": False, "end_time": STARTED + 9, "stages": {}}] if newer else []
    whole = {"stats": {"history": history, "session": {}}}
    return b"// server stats\n// do not edit\n" + json.dumps(whole, indent=1).encode()


LOGS = {  # by format: the file's name, and the function that writes it
    "acc": ("250308_190000_R.json", acc),
    "ac": ("2025_3_8_19_0_RACE.json", ac),
    "iracing": ("eventresult-77.json", iracing),
    "iracing-csv": ("eventresult-77.csv", iracing_csv),
    "rfactor": ("2025_03_08_19_00_00-77R1.xml", rfactor),
    "raceroom": ("club.json", raceroom),
    "ams2": ("sms_stats_data.json", ams2),
}
