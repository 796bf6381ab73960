"""Columns that may hold times, places or points: the reader asks, unless the sheet itself makes it clear."""

import pytest
from test_lenient_reading import run
from test_sheets_of_others import heats_in, read

import podium
from podium.errors import ResultsError

GYM = "Event,Gymnast,Total\nVault,Ana,13.5\nVault,Ben,13.966\nVault,Cleo,12.9\n"
GOLF = "Tournament,Golfer,Score\nOpen,Ana,68\nOpen,Ben,70\nOpen,Cy,72\nCup,Ben,66\nCup,Ana,69\n"
ASKED = {
    "points of judges": (GYM, "Total"),
    "half points": ("Race,Driver,Total\n1,A,44.5\n1,B,43.0\n1,C,27.5\n", "Total"),
    "a total of attempts": ("Event,Name,Heat 1,Heat 2,Total\n1,A,9.5,8.7,18.2\n1,B,9.6,8.8,18.4\n", "Total"),
    "a total without an event": ("Name,Total\nA,44.5\nB,43.0\nC,27.5\n", "Total"),
    "a total below nothing": ("Event,Name,Total\n1,A,10.5\n1,B,-2.5\n1,C,-8\n", "Total"),
    "a total with a DNF": ("Event,Name,Total\n1,A,44.5\n1,B,43.0\n1,C,DNF\n", "Total"),
    "a finish in decimals": ("Event,Name,Finish\n1,A,24.5\n1,B,23.0\n1,C,37.5\n", "Finish"),
    "a finish that is not a place": ("Event,Name,Finish\n1,A,44\n1,B,43\n1,C,27\n", "Finish"),
    "an overall that is not a place": ("Event,Name,Overall\n1,A,44\n1,B,43\n1,C,27\n", "Overall"),
    "decimal commas": ("Lauf;Fahrer;Ziel\n1;A;24,5\n1;B;23,0\n1;C;37,5\n", "Ziel"),
    "points of a small race": ("Race,Driver,Total\n1,A,1\n1,B,3\n1,C,2\n2,A,2\n2,B,3\n2,C,1\n", "Total"),
    "points that rise": ("Race,Driver,Points\n1,A,10\n1,B,20\n1,C,30\n1,D,40\n", "Points"),
    "a result of points": ("Race,Driver,Result\n1,A,3\n1,B,2\n1,C,1\n", "Result"),
    "golf": (GOLF, "Score"),
    "golf, most first": ("Open,Golfer,Score\n1,A,75\n1,B,74\n1,C,72\n1,D,70\n", "Score"),
    "golf in French": ("Tournoi;Joueur;Score\n1;A;68\n1;B;70\n1;C;72\n", "Score"),
    "to par": ("Tournament,Player,Score\n1,A,-5\n1,B,-2\n1,C,+1\n", "Score"),
    "low points": ("Race,Sailor,Score\n1,A,1\n1,B,2\n1,C,3\n2,A,1\n2,B,2\n2,C,4 DNF\n", "Score"),
    "any score": ("Night,Player,Score\n1,A,26\n1,B,0\n1,C,13\n", ""),
    "bowls": ("Event,Bowler,Score\n1,A,180\n1,B,220\n1,C,190\n", "Score"),
    "очки": ("Гонка;Участник;Очки\n1;A;1\n1;B;3\n1;C;2\n", "Очки"),
    "a score beside times": ("Game,Player,Score,Time\n1,A,7,5:00\n1,B,10,4:00\n1,C,4,6:00\n", "Score"),
    "lines in any order": ("Name,Race 1,Race 2,Total\nA,24.5,23.1,47.6\nB,24.1,25,49.1\nC,26,26,52\n", ""),
    "golf rounds, most first": ("Golfer,R1,R2,Total\nA,75,72,147\nB,71,74,145\nC,70,70,140\n", ""),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_ambiguous_column_is_asked_about(name, tmp_path):
    text, column = ASKED[name]
    with pytest.raises(ResultsError) as refused:
        read(tmp_path, text)
    assert "--set" in str(refused.value)
    assert column in str(refused.value)


SURE = {
    "a place beside points": ("Race,Rank,Driver,Total\n1,1,A,44.5\n1,2,B,43.0\n1,3,C,27.5\n", "A>B>C"),
    "a shared place beside points": ("Race,Place,Name,Total\n1,1,A,13.5\n1,1,B,13.5\n1,3,C,12.9\n", "A=B>C"),
    "a place beside a finish": ("Race,Place,Name,Finish\n1,1,A,9.5\n1,2,B,9.1\n1,3,C,8.9\n", "A>B>C"),
    "a place beside golf": ("Event,Place,Golfer,Score\n1,1,A,68\n1,2,B,70\n1,3,C,72\n", "A>B>C"),
    "a French place beside points": ("Course;Pilote;Clt;Total\n1;A;1;44,5\n1;B;2;43,0\n1;C;3;27,5\n", "A>B>C"),
    "a clock": ("Event,Name,Total\n1,A,1:04.5\n1,B,59.9\n1,C,1:37.5\n", "B>A>C"),
    "a time by its head": ("Race,Driver,Total time\n1,A,24.5\n1,B,23.0\n1,C,37.5\n", "B>A>C"),
    "points, most first": ("Race,Driver,Total\n1,A,44.5\n1,B,43\n1,C,27.5\n2,B,18.5\n2,A,12\n", "A>B>C B>A"),
    "a score, most first": ("Round,Player,Score\n1,A,72\n1,B,70\n1,C,68\n2,B,66\n2,A,60\n", "A>B>C B>A"),
    "a finish by places": ("Race,Driver,Finish\n1,A,2\n1,B,1\n1,C,3\n", "B>A>C"),
    "a finish in words": ("Race,Driver,Finish\n1,A,12th\n1,B,5th\n1,C,DNF\n", "B>A>C"),
    "an overall by places": ("Race,Driver,Overall\n1,A,1\n1,B,2\n1,C,3\n", "A>B>C"),
    "strokes": ("Tournament,Golfer,Strokes\n1,A,68\n1,B,70\n1,C,72\n", "A>B>C"),
    "the documented column": ("event_id,player,score,Note\n1,A,1,x\n1,B,2,y\n", "B>A"),
}


@pytest.mark.parametrize("name", SURE)
def test_a_column_with_a_clear_meaning_is_read(name, tmp_path):
    text, heats = SURE[name]
    assert " ".join(heats_in(read(tmp_path, text).frame)) == heats


ANSWERS = {
    "points": (GYM, "score", "Total", "Ben>Ana>Cleo"),
    "golf": (GOLF, "position", "Score", "Ana>Ben>Cy Ben>Ana"),
    "to par": ("Tournament,Golfer,To par\n1,A,-2\n1,B,-5\n1,C,1\n", "position", "To par", "B>A>C"),
    "even par": ("Tournament,Golfer,To par\n1,A,E\n1,B,-5\n1,C,+1\n", "position", "To par", "B>A>C"),
    "faults": ("Event,Rider,Faults\n1,A,4\n1,B,0\n1,C,8\n", "position", "Faults", "B>A>C"),
    "net points": ("Race;Name;Net\n1;A;4,5\n1;B;6\n1;C;0,75\n", "position", "Net", "C>A>B"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_each_answer_reads_the_sheet(name, tmp_path, capsys):
    text, key, column, heats = ANSWERS[name]
    (tmp_path / "sheet.csv").write_text(text, encoding="utf-8")
    out = tmp_path / "results.csv"
    run(capsys, "import", tmp_path / "sheet.csv", "--set", f"columns.{key}={column}", "-o", out)
    assert " ".join(heats_in(podium.read_results(out).frame)) == heats


def test_an_answer_about_the_event_leaves_the_score_open(tmp_path, capsys):
    (tmp_path / "sheet.csv").write_text("Night,Player,Score\n1,A,26\n1,B,0\n1,C,13\n", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"column Score: is a number. Is a higher value better, or a lower one?"):
        run(capsys, "import", tmp_path / "sheet.csv", "--set", "columns.event_id=Night")
