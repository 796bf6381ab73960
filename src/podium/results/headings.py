"""What headings mean, in twelve languages: results columns, the parts of a match, rounds; and the words of cells."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from podium.results.column_guide import COLUMNS

# In English; in German, French, Spanish, Italian, Dutch, Portuguese and Finnish; in Polish; and in Swedish, Danish and
# Norwegian. Points are no score.
SYNONYMS = {
    "event_id": (
        "event race round match game meeting tournament track gp race_id match_id game_id event_name race_name rd "
        "rnd matchday | rennen lauf spiel wettkampf turnier runde veranstaltung course epreuve tournoi ronde "
        "manche carrera prueba torneo ronda gara evento turno giornata wedstrijd toernooi corrida prova torneio "
        "rodada etapa kilpailu osakilpailu turnaus kierros spieltag jornada journee speelronde | zawody wyscig "
        "turniej runda kolejka | session stage tavling lopp omgang løb løp runde"
    ),
    "started_at": (
        "date day datetime date_time start_time start_date race_date match_date event_date timestamp | datum tag "
        "zeitpunkt fecha dia data giorno dag jour pvm paivamaara paiva | dzien | dato"
    ),
    "player": (
        "driver racer name rider runner athlete competitor participant player_name driver_name rider_name "
        "full_name fullname username gamertag nick nickname skier swimmer sailor golfer | pilot fahrer fahrerin "
        "spieler spielerin laufer teilnehmer athlet pilote coureur joueur nom piloto corredor jugador nombre "
        "pilota atleta giocatore nome rijder speler naam deelnemer jogador participante pelaaja kuljettaja ajaja "
        "kilpailija osallistuja nimi jugadora joueuse teilnehmerin cavaliere concurrent corridore concorrente | "
        "zawodnik zawodniczka kierowca gracz nazwisko imie_i_nazwisko | forare akare namn spelare deltagare fører "
        "utøver spiller navn deltaker deltager"
    ),
    "position": (
        "pos place rank rnk # finish_position finishing_position final_position placing standing fin_pos rk | platz "
        "rang pl rg platzierung classement puesto posicion lugar posizione posto plaats positie posicao colocacao "
        "classificacao sija sijoitus clasificacion piazzamento eindstand | pozycja miejsce m_ce klasyfikacja | "
        "plac placering plass plassering plads"
    ),
    "time_s": (
        "time total finish finish_time total_time race_time elapsed elapsed_time time_retired result_time | zeit "
        "gesamtzeit endzeit laufzeit temps tiempo tempo tijd aika | czas | tid"
    ),
    "score": "goals frags kills | tore treffer |",
    "team": (
        "club squad constructor manufacturer | verein mannschaft equipe equipo squadra ploeg clube joukkue seura "
        "talli vereniging equipa | druzyna klub | lag klubb hold"
    ),
    "status": "state outcome result | tila estado etat stato statut |",
    "heat": "leg",
    "pool": "ladder",
}
# What may be a time, a place or points: taken for what it is only where its cells leave no doubt.
DOUBTFUL = frozenset({"total", "finish"})
SIDES = {  # heads of a match a row: who won and who lost, or the two who met, and what came of it
    "winner": (
        "winner winner_name | sieger siegerin gewinner gewinnerin vainqueur gagnant ganador ganadora vencedor "
        "vencedora vincitore vincitrice winnaar voittaja | zwyciezca zwyciezczyni wygrany"
    ),
    "loser": (
        "loser loser_name | verlierer verliererin unterlegener perdant battu vaincu perdedor perdedora derrotado "
        "derrotada perdente sconfitto verliezer haviaja havinnyt vencido | przegrany pokonany"
    ),
    "first": (
        "white home home_team hometeam | weiss weisser heim heimverein heimmannschaft heimteam gastgeber blanc blancs "
        "domicile blancas blanco local bianco bianchi casa wit witspeler thuis thuisploeg thuisclub brancas "
        "branco mandante anfitriao valkoinen valkea valkeat koti kotijoukkue kotona locaux locales | biale bialy "
        "gospodarz gospodarze"
    ),
    "second": (
        "black away away_team awayteam guest guests visitor visitors | schwarz schwarzer gast gaste gastmannschaft "
        "gastteam auswarts noir noirs exterieur visiteur visiteurs invite negras negro visitante visitantes nero "
        "neri ospite ospiti trasferta zwart zwartspeler uit uitploeg bezoeker bezoekers uitclub pretas preto fora "
        "musta mustat vieras vierasjoukkue vieraat | czarne czarny gosc goscie"
    ),
    "opponent": (
        "opponent opp versus vs against | gegner gegnerin adversaire rival oponente contrincante avversario "
        "tegenstander adversario vastustaja | przeciwnik"
    ),
    "score of first": "fthg hg home_goals | |",  # as football's tables have it
    "score of second": "ftag ag away_goals | |",
    "result": (
        "result results res score scores sets games legs frames ft full_time | ergebnis endergebnis spielergebnis erg "
        "resultat resultats resultado resultados risultato punteggio uitslag resultaat tulos lopputulos stand "
        "spielstand marcador placar satze parziali | wynik wyniki"
    ),
    "number": (
        "no nr num number sno snr start_no start_nr startno startnr start_number startnumber n id start_rank | "
        "nro startnummer numero lfd lfd_nr st_nr startrang n_o numm | numer lp"
    ),
    "total": (
        "total totals overall standings summary general points pts | gesamt gesamtwertung tabelle endstand "
        "classement clasificacion classifica generale eindstand klassement geral classificacao tilanne "
        "kokonaistilanne yhteensa punkte pkt totale totaal puntos punti pontos punten pnt pisteet pist summe "
        "loppupisteet punktestand | klasyfikacja generalna suma razem punkty"
    ),
}
PAIRING = (  # over the two sides, in a head of two lines
    "pairing pairings paarung paarungen begegnung begegnungen appariement appariements rencontre emparejamiento "
    "enfrentamiento abbinamento incontro para pary skojarzenie paring partij emparceiramento confronto parit ottelu "
    "players spieler joueurs jugadores giocatori gracze spelers jogadores pelaajat teams mannschaften equipes"
)
LAPS_WORDS = frozenset(
    [
        "laps",
        "laps_comp",
        "laps_completed",
        "runden",
        "rundenzahl",
        "tours",
        "vueltas",
        "giri",
        "okrazenia",
        "ronden",
        "voltas",
        "kierrokset",
    ]
)
SIDE = re.compile(r"(?:p|player|team|side)?_?([12ab])_(.+)|(.+?)_?([12ab])")  # of a head like Player 1 or Team B
GOALS = [
    "score",
    "goals",
    "points",
    "sets",
    "result",
    "tore",
    "punkte",
    "satze",
    "ergebnis",
    "buts",
    "goles",
    "goals",
    "gol",
    "punti",
    "reti",
    "bramki",
    "punkty",
    "doelpunten",
]
ROUND = (
    "r rd rnd round race heat event game gp lauf runde rennen rd spieltag tag turnier ronde manche tour course journee "
    "epreuve ronda jornada carrera prueba turno giornata gara runda kolejka wyscig bieg speelronde wedstrijd rodada "
    "corrida etapa prova kierros osakilpailu kilpailu matchday week day"
)
ROUND_HEAD = re.compile(rf"(?:(?:{'|'.join(ROUND.split())})_*)?\d{{1,2}}_*(?:{'|'.join(ROUND.split())})?")
BYE = (
    r"(?i)^(bye|spielfrei|freilos|exempte?|descansa|libre|ripos[ao]|pauza|wolny los|vrij|isento|folga|vapaa|huili|-+)$"
)
FORFEIT = (
    r"(?i)^(?:[+-] ?[-:/]? ?[+-]{1,2}|[+-]|.*(?:^|[\d½ (+-])(?:ff?|kl?|wo|w\.\s?o|w/o|walkover|walkower|forfeit|"
    r"forfait|kampflos|incomparecencia|reglementair|falta de comparência|luovutus|bez gry|no show)\.?\)?)$"
)
OUT = (  # who did not finish
    "abandon abandono ritirato ritiro uitgevallen opgave nie_ukończył nie_ukonczyl desistiu desistência keskeytti kesk "
    "ausfall ausgefallen aufgabe aufgegeben retired dnc abandonó abandoned ab abd aband rit ausf "
    "aufg opg did_not_finish"
)
ABSENT = "did_not_start non_partant non_partito no_presentado nicht_gestartet niet_gestart não_largou ei_startannut"
DISQUALIFIED = (
    "disq disqualified disqualifiziert disqualifié descalificado squalificato gediskwalificeerd desclassificado "
    "hylätty dyskwalifikacja excluded"
)
OUTCOMES = {  # of a game, in a column of one side's: points, and words
    1.0: (
        "win won w victory winner sieg gewonnen victoire gagné victoria ganado vittoria vinto winst gewonnen vitória "
        "vitoria voitto wygrana"
    ),
    0.5: "draw drawn d tie tied unentschieden remis nul empate pareggio gelijk gelijkspel tasapeli",
    0.0: (
        "loss lost l lose loser defeat niederlage verloren défaite perdu derrota perdido sconfitta perso verlies "
        "tappio przegrana"
    ),
}
MONTHS = (  # of a name, its first letters
    "jan ene gen sty tammi", "feb fev fév lut helmi", "mar mär mrz maa marz", "apr abr avr kwi huhti",
    "may mai mag maj mei touko", "jun juin giu cze kesä", "jul juil lug lip heinä", "aug aou aoû ago sie elo",
    "sep set wrz syys", "oct okt ott out paź loka", "nov lis marras", "dec dez déc dic gru joulu",
)  # fmt: skip
WON = frozenset(
    {"won", "win", "wins", "winner", "is_winner", "victory", "gewonnen", "sieg", "gagne", "ganado", "vinto"}
)
FLAGS = {1.0: "1 1.0 true yes y ja oui si x", 0.0: "0 0.0 false no n nein non"}  # below such a head
LEAST_NEAR = 5  # letters of a heading that another may nearly be
FAR = 8  # letters from which two may differ


def fold(heading: str) -> str:
    """A heading without case, accents, blanks and marks: what the table of headings has."""
    plain = unicodedata.normalize("NFKD", heading.strip().casefold().replace("ß", "ss").replace("ł", "l"))
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    if letters in ("#", "№"):
        return "#"
    return re.sub(r"[^\w#]+", "_", letters).strip("_")


@cache
def meanings() -> dict[str, str]:
    """The results column of each heading, folded."""
    table = {word: column for column, words in SYNONYMS.items() for word in words.replace("|", " ").split()}
    names = [column.name for column in COLUMNS]
    return table | {name: name for name in names} | {name.replace("_", ""): name for name in names}


def encoding_of(headings: Iterable[str]) -> str | None:
    """The encoding of text that is not UTF-8, by the language of its headings; None where that says nothing."""
    folded = {fold(each) for each in headings}
    groups = [words.split("|") for words in (*SYNONYMS.values(), *SIDES.values()) if "|" in words]
    western, polish = ({word for group in groups for word in "".join(group[n : n + 1]).split()} for n in (1, 2))
    return "cp1250" if folded & (polish - western) else "cp1252" if folded & western else None


@cache
def sides() -> dict[str, str]:
    """The part in a match of each heading, folded."""
    return {word: part for part, words in SIDES.items() for word in words.replace("|", " ").split()}


def side_of(heading: str) -> str | None:
    """What a heading is of a match: winner, loser, first, second, result, or the score of the first or second."""
    word = fold(heading)
    part = sides().get(word)
    if part is not None:
        return part
    numbered = SIDE.fullmatch(word)
    if numbered is not None:
        number, base = numbered[1] or numbered[4], numbered[2] or numbered[3]
        place = "first" if number in ("1", "a") else "second"
        if meanings().get(base) in ("player", "team") or base in ("player", "team", "side", "seite", "partei", "p"):
            return place
        return f"score of {place}" if base in GOALS else None
    over, _, last = word.rpartition("_")
    if over in PAIRING.split() or meanings().get(over) in ("player", "team", "event_id"):
        return sides().get(last) if sides().get(last) in ("first", "second", "winner", "loser") else None
    for goal in GOALS:
        rest = re.sub(rf"_?{goal}_?", "", word, count=1)
        if rest != word and sides().get(rest) in ("first", "second"):
            return f"score of {sides()[rest]}"
    return None


def is_pairing(heading: str) -> bool:
    """Whether a heading is of the two sides of a match."""
    word = fold(heading)
    return word in PAIRING.split() or meanings().get(word) == "event_id"


def is_round(heading: str) -> bool:
    """Whether a heading is a round's, by its number."""
    return ROUND_HEAD.fullmatch(fold(heading)) is not None


def is_total(name: str) -> bool:
    """Whether a sheet or column sums others up."""
    return any(sides().get(word) == "total" for word in fold(name).split("_"))


def is_heading(text: str) -> bool:
    """Whether a cell is a heading that tables of results have."""
    word = fold(text)
    is_known = word in meanings() or sides().get(word, "total") != "total" or side_of(text) is not None
    return is_known or (is_round(text) and not text.strip().isdecimal())


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
