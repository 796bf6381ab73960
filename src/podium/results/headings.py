"""What people call the columns of a results table: the headings that are meant for them, and near misses."""

import re
import unicodedata
from collections.abc import Iterable

from podium.results.columns import ALL

SYNONYMS = {  # in English, German, French, Spanish, Italian, Polish and Dutch; points are the league's, and no score
    "event_id": (
        "event race round match game meeting tournament track gp race_id match_id game_id event_name race_name "
        "rennen lauf spiel wettkampf turnier runde course epreuve carrera prueba gara evento zawody wyscig wedstrijd"
    ),
    "started_at": (
        "date day datetime date_time start_time start_date race_date match_date event_date timestamp datum tag "
        "zeitpunkt fecha data"
    ),
    "player": (
        "driver racer name pilot rider runner athlete competitor participant player_name driver_name rider_name "
        "full_name fullname username nick nickname skier swimmer sailor golfer fahrer fahrerin spieler spielerin "
        "laufer teilnehmer athlet pilote coureur joueur nom piloto corredor jugador nombre pilota atleta giocatore "
        "zawodnik kierowca rijder speler naam"
    ),
    "position": (
        "pos place rank # finish_position finishing_position final_position placing standing platz rang pl platzierung "
        "classement rang puesto posicion posizione pozycja miejsce plaats positie"
    ),
    "time_s": (
        "time total finish finish_time total_time race_time elapsed elapsed_time time_retired result_time zeit "
        "gesamtzeit endzeit laufzeit temps tiempo tempo czas tijd"
    ),
    "score": "goals frags kills tore treffer",
    "team": "club squad constructor manufacturer verein mannschaft equipe equipo squadra druzyna klub ploeg",
    "status": "state outcome result",
    "heat": "leg",
    "pool": "ladder",
}


# What may be a time, a place or points: taken for what it is only where its cells leave no doubt.
DOUBTFUL = frozenset({"total", "finish"})


SIDES = (  # headings of who won and who lost, or of two who met
    ("winner_name", "loser_name"), ("winner", "loser"), ("home_team", "away_team"), ("home", "away"),
    ("white", "black"), ("player1", "player2"), ("player_1", "player_2"), ("team1", "team2"), ("heim", "gast"),
)  # fmt: skip


LEAST_NEAR = 5  # letters of a heading that another may nearly be


FAR = 8  # letters from which two may differ


def fold(heading: str) -> str:
    """A heading without case, accents, blanks and marks: what the table of headings has."""
    plain = unicodedata.normalize("NFKD", heading.strip().casefold().replace("ß", "ss"))
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    if letters in ("#", "№"):
        return "#"
    return re.sub(r"[^\w#]+", "_", letters).strip("_")


def meanings() -> dict[str, str]:
    """The results column of each heading, folded."""
    table = {word: column for column, words in SYNONYMS.items() for word in words.split()}
    return table | {column: column for column in ALL} | {column.replace("_", ""): column for column in ALL}


def near_miss(heading: str, words: Iterable[str]) -> str | None:
    """The word that a heading is but a slip of the hand away from; one letter, or two in long words."""
    word = fold(heading)
    for each in words:
        allowed = 0 if len(each) < LEAST_NEAR else 1 if len(each) < FAR else 2
        numbered = word.rstrip("0123456789_") == each or word.removesuffix("s") == each
        if allowed and not numbered and abs(len(word) - len(each)) <= allowed and distance(word, each) <= allowed:
            return each
    return None


def distance(one: str, other: str) -> int:
    """How many letters are to be put in, left out, changed, or swapped with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, own in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != own))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == own:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
