"""Sheets of many authors, each with another way of writing players, places and dates, are read without options."""

from itertools import pairwise

import pytest
from sheet_judging import events_of
from workbooks import Merged, write_ods, write_xlsx

import podium
from podium.errors import ResultsError

MATCHES = {
    "goals before the side": ("Casa;Ospite;Gol casa;Gol ospite\nA;B;2;1\nB;C;0;3\n", "A>B C>B"),
    "two times one": ("Mandante,Placar,Visitante\nAa,2 x 1,Bb\nBb,0 x 0,Cc\n", "Aa>Bb Bb=Cc"),
    "halves and more time": ("Heim;Gast;Ergebnis\nA;B;2:1 (1:0)\nB;C;3:4 n.V.\nC;A;3:1 (25:20, 20:25, 25:9, 25:3)\n",
        "A>B C>B C>A"),
    "in short": ("HomeTeam,AwayTeam,FTR\nAa,Bb,H\nBb,Cc,D\nCc,Aa,A\n", "Aa>Bb Bb=Cc Aa>Cc"),
    "a tip": ("Home,Away,1X2\nA,B,1\nC,D,X\nB,C,2\n", "A>B C=D C>B"),
    "go": ("Black,White,Result\nA,B,B+3.5\nB,C,W+Resign\n", "A>B C>B"),
    "sides by role": ("Challenger,Defender,Winner\nA,B,Challenger\nC,A,Defender\n", "A>B A>C"),
    "winners called as sides": ("Player A,Player B,Winner\nB,A,B\nA,C,C\n", "B>A C>A"),
    "a column a member": ("Heim 1;Heim 2;Gast 1;Gast 2;Ergebnis\nA;B;C;D;2:1\nA;C;B;D;0:2\n", "A/B>C/D B/D>A/C"),
    "couples with a dash": ("Par 1;Par 2;Resultado\nA - B;C - D;6-4 6-4\nC - A;B - D;4-6 6-7\n", "A/B>C/D B/D>C/A"),
    "no known head": ("Дата;Хозяева;Гости;Счёт\n04.03.2024;Aa;Bb;2:1\n11.03.2024;Bb;Cc;0:0\n", "Aa>Bb Bb=Cc"),
    "no head": ("Aa,Bb,2-1\nCc,Dd,0-2\nBb,Dd,1-2\n", "Aa>Bb Dd>Cc Dd>Bb"),
    "ratings of both": ("Weiß;Elo;Schwarz;Elo;Ergebnis\nA;1900;B;1800;1-0\nC;1700;A;1900;½-½\n", "A>B C=A"),
    "the US Chess Federation": ("Place,Name,Rd 1,Rd 2,Total\n1,B,W4,D2,1.5\n2,A,W3,D1,1.5\n3,C,L2,W4,1\n4,D,L1,L3,0\n",
        "B>D A>C B=A C>D"),
    "two games a cell": ("Name;A;B;C;Pkt\nA;x;1 0;1½;2½\nB;0 1;x;½/½;2\nC;½;½/½;x;1½\n", "A>B B>A A>C A=C B=C B=C"),
    "home in the line": (",A,B,C\nA,,3-1,2-2\nB,2-0,,0-1\nC,1-4,,\n", "A>B B>A A=C A>C C>B"),
    "Czech": ("Kolo;Domácí;Hosté;Výsledek\n1;Aa;Bb;2:1\n2;Bb;Cc;0:3 kont.\n2;Cc;Aa;1:1\n", "Aa>Bb Aa=Cc"),
    "Turkish": ("Hafta;Ev sahibi;Deplasman;Skor\n1;Aa;Bb;0-1\n", "Bb>Aa"),
    "scores without a head": ("Home,,Away,,Ref\nA,3,B,1,x\nB,0,C,2,y\n", "A>B C>B"),
    "a head over both scores": ("Heim;Ergebnis;;;Gast\nA;3;:;1;B\nB;0;:;2;C\n", "A>B C>B"),
    "goals of both": ("Hjemmehold;Udehold;Mål\nA;B;4-2\nC;A;1-1\n", "A>B A=C"),
    "put off": ("Home,Away,Score\nA,B,1-0\nB,C,Postponed\n", "A>B"),
    "letters for numbers": ("Nr;Name;A;B;C\nA;Ana;*;1;½\nB;Ben;0;*;1\nC;Cem;½;0;*\n", "Ana>Ben Ana=Cem Ben>Cem"),
    "scores behind both": ("Visitor,G,Home,G,Notes\nA,3,B,2,OT\nC,1,D,4,\n", "A>B D>C"),
    "shoot-outs": ("Home,Score,Away\nA,1-1 (4-3 pens),B\nC,0:0 (2:4 i.E.),D\nA,2-2,D\n", "A>B D>C A=D"),
    "wins, draws and losses": ("Player,Opponent,Record\nA,B,+2 =1 -1\nB,C,+0 =0 -1\n", "A>B A>B A=B B>A C>B"),
    "a column a member, in short": ("p1a,p1b,p2a,p2b,winner\nA,B,C,D,1\nA,C,B,D,2\n", "A/B>C/D B/D>A/C"),
    "a set that is none, and a winner": ("p1a,p1b,p2a,p2b,g1,g2,g3,winner\nA,B,C,D,21-15,18-21,?,1\n", "A/B>C/D"),
    "bouts": ("Pool 1,#,1,2,3,V\nA,1,,V5,D3,1\nB,2,D2,,V5,1\nC,3,V5,D4,,1\n", "A>B C>A B>C"),
    "rounds as titles, and no head": ("1. Runde\nAna;Ben;3:1\nCy;Di;0:3\n2. Runde\nBen;Di;1:3\nAna;Cy;3:2\n",
        "Ana>Ben Di>Cy Di>Ben Ana>Cy"),
    "scores between sides": ("Home,,,Away\nA,3,1,B\nC,0,2,D\n", "A>B D>C"),
    "four in a row": ("Player 1,Player 2,Player 3,Player 4,Score\nA,B,C,D,2:1\nA,C,B,D,0:2\n", "A/B>C/D B/D>A/C"),
    "signs before numbers": ("Nr;Name;R1;R2;Pkt\n1;A;+3W;=2B;1½\n2;B;+4B;=1W;1½\n3;C;-1B;+4W;1\n4;D;-2W;-3B;0\n",
        "A>C B>D A=B C>D"),
    "letters of a language": ("Spieler;Gegner;Ergebnis\nA;B;S\nC;A;N\nB;C;U\n", "A>B A>C B=C"),
    "a note below a crosstable": ("Name;A;B;C\nA;x;1;½\nB;0;x;1\nC;½;0;x\n\nOhne Gewähr\n", "A>B A=C B>C"),
    "players twice": ("Player,Frames,Frames,Player\nA,5,3,B\nC,2,5,A\n", "A>B A>C"),
    "a challenger": ("Challenger,Place,Opponent,Place,Result\nA,5,B,4,1-0\nC,6,A,4,0-1\n", "A>B A>C"),
    "members of sides": ("Team A Hrac 1;Team A Hrac 2;Team B Hrac 1;Team B Hrac 2;Tore A;Tore B\nA;B;C;D;9;7\n",
        "A/B>C/D"),
    "no head, and a mark between": ("1. Runde\nAna;-;Bob04;3:1\nCy;-;Di;0:3\n2. Runde\nDi;-;Ana;1:2\nBob04;-;Cy;2:0\n",
        "Ana>Bob04 Di>Cy Ana>Di Bob04>Cy"),
    "a title above a crosstable": ("Cup\n;Ana;Ben;Cy;Platz\nAna;X;3:0;3:1;1\nBen;0:3;X;3:2;2\nCy;1:3;2:3;X;3\n",
        "Ana>Ben Ana>Cy Ben>Cy"),
    "points twice between sides": ("Tiratore A;Punti;Punti;Tiratore B\nA;15;7;B\nC;9;15;A\n", "A>B A>C"),
    "scores twice behind both, and a forfeit": (
        "Home,Away,Score,Score,Winner\nA,B,3,1,A\nC,A,W,FF,C\nB,C,1,2,C\n", "A>B C>B"),
    "scores twice, the guest first": ("Visitante;Goles;Goles;Local\nA;3;1;B\nC;0;2;D\n", "A>B D>C"),
    "scores twice, below titles": (
        "Week 1,,,\nHome,Pts,Pts,Away\nA,3,1,B\n,,,\nWeek 2,,,\nHome,Pts,Pts,Away\nB,0,2,A\n", "A>B A>B"),
    "frames in Finnish": ("Pelaaja 1;Pelaaja 2;Erät 1;Erät 2\nA;B;3;0\nB;C;1;3\n", "A>B C>B"),
    "quarters and what they come to": (
        "Home;Away;1Q;2Q;3Q;Finale\nA;B;5-9;6-9;30-4;41-22\nB;C;9-5;9-6;4-30;22-41\n", "A>B C>B"),
    "sets and their sum": (
        "Heim;Gast;Satz 1;Satz 2;Satz 3;Summe\nA;B;9:25;25:23;15:13;49:61\nC;D;25:9;25:9;;50:18\n", "A>B C>D"),
    "sets by ordinals": ("Home,Away,1º set,2º set,3º set\nA,B,6-0,4-6,5-7\nB,C,1-6,1-6,\n", "B>A C>B"),
    "a column a member, in Portuguese": (
        "Dupla A1;Dupla A2;Dupla B1;Dupla B2;1º set;2º set\nA;B;C;D;6-4;6-1\n", "A/B>C/D"),
    "three against three in cells": (
        "Triplette 1;Triplette 2;Score\nA, B, C;D, E, F;13-3\nD, E, F;G, H, I;0-13\n", "A/B/C>D/E/F G/H/I>D/E/F"),
    "put off, in short": ("Heim;Gast;Ergebnis\nA;B;1:0\nB;C;abges.\n", "A>B"),
    "numbers of lines without a head": ("Name,,1,2,V\nA,1,XXX,V5,1\nB,2,D3,XXX,0\n", "A>B"),
    "matches from both sides": (
        ("Speler;Tegenstander;Games voor;Games tegen;Datum\nA;B;3;2;2026-11-02\nB;A;2;3;2026-11-02\n"
        "C;A;1;1;2026-11-03\nC;B;0;3;2026-11-03\nA;C;1;1;2026-11-03\nB;C;3;0;2026-11-03\n"), "A>B A=C B>C"),
    "points twice, beside an opponent": ("Speler;Punten;Tegenstander;Punten\nA;11;B;9\nC;4;A;11\n", "A>B A>C"),
    "points twice, beside a winner": ("Vincitore;Punti;Perdente;Punti\nA;15;B;9\nC;15;A;14\n", "A>B C>A"),
    "no head above the numbers": (",Player,1,2,Pts\n1,A,X,1,1\n2,B,0,X,0\n", "A>B"),
}  # fmt: skip
RACES = {
    "a penalty in the total": ("No,Rider,Time,Penalty,Total\n1,A,9:58,0:10,10:08\n2,B,10:00,,10:00\n3,C,DNF,,\n",
        "B>A>C"),
    "a handicap in the net": ("Rider,Time,Hcp,Net time\nA,6:20,2:00,4:20\nB,4:45,0:15,4:30\n", "A>B"),
    "rounds with a penalty": ("Team,R1,R2,Joker,Total\nB,9,6,2,17\nA,8,7,1,16\nC,5,6,0,11\n", "B>A>C A>B=C"),
    "rounds that one left": ("Pl,Name,Kierros 1,Kierros 2,Yht\n1,A,50,52,102\n2,B,53,51,104\nDNF,C,54,,\n",
        "A>B>C B>A"),
    "a withdrawal after a round": (
        "Pos,Name,R1,R2,Total\n1,A,69,70,139\nT2,B,70,71,141\nT2,E,71,70,141\nW/D,C,81,,\nWD,D,,,\n", "A>B=E>C"),
    "a code in a run": (
        "Rang;Name;1. DG;2. DG;Total\n1;A;47,1;48,0;1:35,1\n2;B;47,9;48,1;1:36,0\n;C;47,2;DNF2;\n;D;DSQ1;;\n", "A>B>C"),
    "seconds of runs": ("Name;DG 1;DG 2;Total\nA;27,1;28,0;55,1\nB;27,9;28,1;56,0\nC;27,2;DNF2;\n", "A>C>B A>B>C"),
    "times of stages": ("Name,SS1,SS2,Total\nA,5:16.95,5:10.20,10:27.15\nB,5:12.10,5:30.00,10:42.10\n", "B>A A>B"),
    "words and gaps beside points": (
        "Pos,Driver,Car,Imola,Monza,Total,Gap\n1,A,Opel,25,25,50,\n2,B,Fiat,18,-,18,-32\n3,C,VW,15,-,15,-3\n", "A>B>C"),
    "a head of two lines, all named": (
        ";;R 1;;R 2;;Overall;\nNo;Driver;Pos;Pts;Pos;Pts;Points;Rank\n7;A;1;9;2;7;16;1\n8;B;2;7;1;8;15;2\n", "A>B B>A"),
    "points of a scheme": ("Date,Aa,Bb,Cc\n5.1.24,25,18,15\n12.1.24,18,25,\n", "Aa>Bb>Cc Bb>Aa"),
    "medals over names": ("Year,Gold,Silver,Bronze\n1998,Aa,Bb,Cc\n2002,Bb,Cc,Aa\n", "Aa>Bb>Cc Bb>Cc>Aa"),
    "ordinals in rounds": ("Player,Race 1,Race 2\nA,1st,3rd\nB,2nd,1st\nC,3rd,2nd\n", "A>B>C B>C>A"),
    "names below places": ("Platz;Lauf 1;Lauf 2\n1.;Aa;Bb\n2.;Bb;Cc\n3.;Cc;Aa\n", "Aa>Bb>Cc Bb>Cc>Aa"),
    "blocks beside each other": ("Race 1,,,Race 2,\nPos,Name,,Pos,Name\n1,A,,1,B\n2,B,,2,A\n", "A>B B>A"),
    "places with a word": ("Date,1. Pos,2. Pos,3. Pos\n2.3.2024,Aa,Bb,Cc\n23.3.2024,Bb,Aa,Cc\n", "Aa>Bb>Cc Bb>Aa>Cc"),
    "a leaderboard of golf": ("Pos,Name,R1,R2,Total\n1,A,68,72,140\nT2,B,70,71,141\nT2,C,72,69,141\n", "A>B=C"),
    "a dead heat by times": ("Race,Name,Club,Time\n1,A,X,9:58\n1,B,Y,10:01\n1,C,Y,10:01\n1,D,Y,10:07\n", "A>B=C>D"),
    "a dead heat of one club": ("Place,Name,Club\n1,A,X\n2,B,Y\n2,C,Y\n4,D,Z\n", "A>B=C>D"),
    "rows that end early": ("Pos,Name,Points\n1,A,9\n2,B,7\n3,C\n", "A>B>C"),
    "classes of a day": (
        "Date,Class,Pos,Name,Time\n2.3.24,J,1,A,71\n2.3.24,J,2,B,72\n2.3.24,S,1,C,70\n2.3.24,S,2,D,73\n",
        "A>B C>D"),
    "dates over places": (";22.03.2024;;29.03.2024;\nName;Platz;Punkte;Platz;Punkte\nA;1;9;2;7\nB;2;7;1;9\n",
        "A>B B>A"),
    "times of a grid": ("Name;R1;R2\nA;59,8;1:01,2\nB;1:00,1;59,9\n", "A>B B>A"),
    "members of a relay": ("Place,Team,Leg 1,Leg 2,Total\n1,A,Xx,Yy,9:00\n2,B,Zz,Ww,9:10\n", "A>B"),
    "members of teams": ("Platz;Team;Fahrer 1;Fahrer 2;Fahrer 3\n1;X;A;B;C\n2;Y;D;E;\n", "A/B/C>D/E"),
    "members of teams with scores": ("Rank,Club,Player A,Player B,Score\n1,X,A,B,8\n2,Y,C,D,9\n", "A/B>C/D"),
    "commas in the names of teams": (
        'Team 1,Team 2,Score\n"A,UK,N","B,UK,S",2-1\n"C,UK,N","A,UK,N",1-0\n',
        "A,UK,N>B,UK,S C,UK,N>A,UK,N"),
    "members of teams of a club": ("Place,Club,Rower 1,Rower 2\n1,X,A,B\n2,Y,C,D\n3,X,E,F\n", "A/B>C/D>E/F"),
    "statuses in Finnish": ("Sija;Nimi;Aika\n1;A;37:27,3\n;B;Kesk.\n;C;Ei lähtenyt\n", "A>B"),
    "statuses in Polish": ("Miejsce;Zawodnik;Czas\n1;A;35:14\nNU;B;\nNS;C;\n", "A>B"),
    "ties in words": ("Pos,Name\n1st,A\n2nd=,B\n2nd=,C\n4 eq,D\n4 eq.,E\n", "A>B=C>D=E"),
    "numbers of a program's statuses": (
        "Pl;Name;Time;Classifier\n1;A;42:41;0\n2;B;59:41;0\n;C;;3\n;D;;2\n;E;;1\n", "A>B>D"),
    "a word and a day above the head": (
        "Crono;;\nFecha;2026-04-12;\nCiclista;Tiempo (mm:ss,0);km/h\nA;23:39,0;38\nB;22:26,1;40\n", "B>A"),
    "pounds and ounces": (
        "Match 2026-05-17,,\nPeg,Angler,Weight\n1,A,9lb 15oz\n2,B,10lb\n3,C,9lb 2oz\n", "B>A>C"),
    "grams with blanks": (
        "Zawody 2026-04-26;;\nZawodnik;Stanowisko;Waga (g)\nA;8;1 795\nB;2;987\nC;3;2 050\n", "C>A>B"),
    "weights of entrants": ("Pos,Lifter,Weight\n1,A,72\n2,B,80\n", "A>B"),
    "a status elsewhere": ("名次,姓名,成绩\n1,A,25.3\n2,B,25.9\n,C,犯规\n", "A>B"),
    "Russian": ("Место;Участник;Серия 1;Серия 2;Сумма\n1;A;98;97;195\n2;B;96;97;193\n", "A>B A=B"),
    "units": ("Platz;Name;Zeit\n1.;A;8,12 s\n2.;B;8,40 s\n-;C;krank\n", "A>B"),
    "words joined": ("Race,DriverName,FinishTime,FinishStatus\nr,B,,DNF\nr,A,62.5,Finished\nr,C,61.9,\n", "C>A>B"),
    "laps as numbers": ("Race;Driver;Laps;Total time\nr;A;10;20:01.0\nr;C;9;19:50.0\nr;B;10;20:02.0\n", "A>B>C"),
    "medals": ("Cup,Place,Player\nr,🥇,A\nr,🥈,B\nr,🥉,C\nr,4,D\n", "A>B>C>D"),
    "roman places": ("Race,Place,Player\nr,I.,A\nr,II.,B\nr,IV.,D\nr,III.,C\n", "A>B>C>D"),
    "shared places": ("Race;Place;Player\nr;1.;A\nr;2.-3.;B\nr;2.-3.;C\nr;4.;D\n", "A>B=C>D"),
    "a finish that is a place": ("Race,Driver,Grid,Finish\nr,A,3,1\nr,B,1,2\nr,C,2,3\n", "A>B>C"),
    "points in their order": ("Runde;Name;Punkte\nr;A;10\nr;B;8\nr;C;8\nq;B;72\nq;A;60\n", "A>B=C B>A"),
    "strokes": ("Cup,Player,Strokes\nr,A,71\nr,B,69\n", "B>A"),
    "seconds with marks": ("Course;Place;Pilote;Temps\nr;1;A;1'23\"456\nr;2;B;1'24\"001\nr;;C;Abandon\n", "A>B>C"),
    "points for colons": ("Kisa;Kuljettaja;Aika\nr;A;3.21,4\nr;B;1.03.22,0\nr;C;59,9\n", "C>A>B"),
    "words of the sea": ("Race,Helm,Pos\nr,A,1\nr,B,2\nr,C,DNC\nr,D,OCS\n", "A>B"),
    "teams alone": ("Race,Team,Time\nr,A,10.5\nr,B,10.1\n", "B>A"),
    "a day and a race": ("Date,Track,Name,Pos\n4.3.24,O,A,1\n4.3.24,O,B,2\n11.3.24,O,B,1\n11.3.24,O,A,2\n", "A>B B>A"),
    "rounds of seasons": ("Season,Round,Driver,Pos\n2023,1,A,1\n2023,1,B,2\n2024,1,B,1\n2024,1,A,2\n", "A>B B>A"),
    "classes of a race": ("Race,Class,Pos,Driver\n1,X,1,A\n1,X,2,B\n1,Y,1,C\n1,Y,2,D\n", "A>B C>D"),
    "recevant": ("Recevant;Visiteur;Score\nA;B;2-1\nB;C;0-3\n", "A>B C>B"),
    "squadra casa": ("Squadra casa;Squadra ospite;Risultato\nA;B;2-1\nB;C;0-3\n", "A>B C>B"),
    "equipa da casa": ("Equipa da casa;Equipa visitante;Resultado\nA;B;2-1\nB;C;0-3\n", "A>B C>B"),
    "a mark in between": ("Heim;;Gast;Ergebnis\nA;-;B;3:2\nB;-;C;1:1\n", "A>B B=C"),
    "places in columns of a day": ("Date,Game,1st,2nd,3rd\n5.1.24,X,Aa,Bb,Cc\n12.1.24,X,Bb,Aa,\n12.1.24,Y,Cc,Aa,\n",
        "Aa>Bb>Cc Bb>Aa Cc>Aa"),
    "a note below": ("Pl.;Fahrer;Zeit\n1;A;10:01\n2;B;10:02\nSchnellste Runde: B 1:22,1\n", "A>B"),
    "old line ends": ("Race;Pos;Driver\rr;1;A\rr;2;B\r", "A>B"),
    "Indonesian": ("Lomba,Nama,Klub,Peringkat,Waktu\nr,A,x,2,1:02\nr,B,x,1,1:01\nr,C,x,DNF,\n", "B>A>C"),
    "clocks with points": ("Plac;Namn;Tid\n1;A;1.02.13\n2;B;1.02.40\n;C;Bröt\n;D;Ej start\n", "A>B>C"),
    "a tag": ("Cup,Date,Placing,Tag\nr,2024-03-04,1,A\nr,2024-03-04,2,B\n", "A>B"),
}  # fmt: skip

TEAMS = """{"games": [{"match_id": 1, "teams": [{"name": "red", "score": 2, "players": ["A", "B"]},
{"name": "blue", "score": 5, "players": ["C", "D"]}]}]}"""
JSON = '{"m": [{"homeTeam": {"name": "A"}, "awayTeam": {"name": "B"}, "score": {"home": 2, "away": 1}}]}'
ROUND_ONE = '{"results": [{"name": "A", "place": 1}, {"name": "B", "place": 2}]}'
ROUND_TWO = '{"results": [{"name": "B", "place": 1}, {"name": "A", "place": 2}]}'
LINES = """Club evening, 14 March 2024
Round 1
Ana - Ben Lu 6:4 7:5
Cy vs. Di: 1-1
Round 2
Cy - Ana 2:0
"""
PAGE = """<html><h2>R1</h2><table><tr><th>Pos<th>Name<tr><td>1<td>A<tr><td>2<td>B</table>
<h2>R2</h2><table><tr><th>Pos<th>Name<tr><td>1<td>B<tr><td>2<td>A</table></html>"""
XML = """<m><race name="h"><r><place>1</place><driver>A</driver></r><r><place>2</place><driver>B</driver></r></race>
<race name="g"><r><place>1</place><driver>B</driver></r><r><place>2</place><driver>A</driver></r></race></m>"""


def heats_in(frame):
    """Return the heats of a table as A>B=C, with sides by rank."""
    shown = []
    for _, heats in events_of(frame):
        for heat in heats:
            rows = sorted((9 if rank == "out" else rank, "/".join(names)) for names, rank in heat)
            text = rows[0][1]
            for (before, _), (rank, name) in pairwise(rows):
                text += ("=" if rank == before else ">") + name
            shown.append(text)
    return shown


def as_ties(text):
    """Return a heat's text with tied names sorted."""
    return ">".join("=".join(sorted(tie.split("="))) for tie in text.split(">"))


def read(tmp_path, text, name="sheet.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return podium.read_results(path, lenient=True)


@pytest.mark.parametrize(("text", "heats"), [*MATCHES.values(), *RACES.values()], ids=[*MATCHES, *RACES])
def test_a_sheet_is_read_without_options(text, heats, tmp_path):
    found = sorted(map(as_ties, heats_in(read(tmp_path, text).frame)))
    assert found == sorted(map(as_ties, heats.split()))


@pytest.mark.parametrize(
    "day", ["Mo, 04.03.2024", "Mon, 4 Mar 2024", "lundi 4 mars 2024", "04.-06.03.2024", "4-6 March 2024"]
)
def test_a_date_may_have_a_weekday_or_be_the_first_of_several(day, tmp_path):
    frame = read(tmp_path, f'Date,Winner,Loser\n"{day}",A,B\n').frame
    assert frame["started_at"].dt.strftime("%Y-%m-%d").to_list() == ["2024-03-04"] * 2


@pytest.mark.parametrize(
    "day",
    [
        "2024. március 4.",
        "2024年3月4日",
        "4 марта 2024 год",
        "4 березня 2024",
        "2024년 3월 4일",
        "2024. 3. 4.",
        "4 Μαρτίου 2024",
        "4 martie 2024",
        "4 مارس 2024",
    ],
)
def test_a_date_in_a_title_is_read_in_other_languages(day, tmp_path):
    frame = read(tmp_path, f"Kupa: {day};\nPlatz;Name\n1;A\n2;B\n").frame
    assert frame["started_at"].dt.strftime("%Y-%m-%d").to_list() == ["2024-03-04"] * 2


def test_the_names_of_sheets_may_be_dates(tmp_path):
    tables = {
        "4 Mar 2024": [["Place", "Name"], [1, "A"], [2, "B"]],
        "11 Mar 2024": [["Place", "Name"], [2, "A"], [1, "B"]],
    }
    write_xlsx(tmp_path / "w.xlsx", **tables)
    frame = podium.read_results(tmp_path / "w.xlsx", lenient=True).frame
    assert frame["started_at"].dt.day().to_list() == [4, 4, 11, 11]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Winner,Pts,Loser,Pts\nA,21,B,17\nC,19,A,19\n", "names C in row 3, but not by score 1 and score 2: 19:19"),
        ("Date,Winner,Loser,Winner score,Loser score\n2024-03-04,A,B,4,7\n", "row 2"),
        ("Sieger;Verlierer;Ergebnis\nA;B;3:1\nC;A;2:3\n", "row 3"),
        ("Winner,Loser,Set 1,Set 2\nA,B,6-1,6-2\nC,A,3-6,4-6\n", "row 3"),
    ],
)
def test_a_winner_without_a_better_score_is_asked_about(text, place, tmp_path):
    with pytest.raises(ResultsError, match=place):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Abfahrt;Name;Zeit\n1;A;61,5\n1;B;62,5\n2;B;60,5\n2;A;61,0\n", "--set columns.event_id=Abfahrt"),
        ("Cup;Lauf;Platz;Name\nX;1;1;A\nX;1;2;B\nY;1;1;B\nY;1;2;A\n", "--set 'columns.event_id={Cup} {Lauf}'"),
        ("Pl;Verein;Sp;S;U;N;Pkt\n1;A;3;2;1;0;7\n2;B;3;1;0;2;3\n", "columns.event_id={file}"),
        ("event_id,player,score\nr,A,2-1\nr,B,3\n", "--set columns.score.as=result (the first of two scores)"),
        ("Race,Name,Pos,Time\nr,A,1,1:01\nr,B,2,about 1:05\n", "--set source.aside=Time (ignore Time)"),
        ('Race,Name,Pos\nr,"A\tB",1\nr,C,2\n', "(U+0009); leave it out\n"),  # because players cannot be ignored
        ("Home,Away,1st leg,2nd leg\nA,B,5-0,0-1\nC,D,1-0,1-0\n", "no column says who won"),
        ("Home,Away,Q1,Q2,Q3\nA,B,9-1,5-6,5-6\nB,C,1-9,6-5,6-5\n", "no column says who won"),
        ("Platz;Spieler 1;Spieler 2\n1;A;B\n2;C;D\n3;E;F\n", "no column says who won"),  # numbers of courts
        ("Name,Score\nA,63\nB,89\nC,93\n", "--set columns.position=Score"),
        ("Golf Day 2026-05-01,\nName,Score\nA,72\nB,69\nC,80\nD,75\n", "--set columns.position=Score"),
        (
            "Team;7.1.;4.2.;4.3.;Summe\nA;58,0;46,6;1;105,6\nB;45,1;27,9;2;75,0\nC;57,5;57,1;2;116,6\n",
            "--set columns.score=cell",
        ),
        ("Triplette 1;Triplette 2;Score\nA, B, C;D, E, F;2-1\nA, B, C;G, H;2-1\n", "has more names in some cells"),
        ("Match 2026-05-17,,\nPeg,Angler,Weight\n1,A,14.10\n2,B,14.9\n3,C,9.2\n", "--set columns.score=Weight"),
        ("Home,Away,Score\nA,B,2-1\nB,C,two one\n", "type podium import sheet.csv --skip-bad"),
        ("Pos,Name,Aa,Bb,Cc\n1,A,1,2,sick bag\n2,B,2,1,2\n3,C,3,3,1\n4,D,4,4,3\n", "--set columns.position=cell"),
        ("Game,Team,Sheet,Total\n1,A,x,7\n1,B,x,5\n", "--set columns.score=Total"),
        ("Runde;Name;Punkte\nr;A;8\nr;B;10\nr;C;9\n", "--set columns.score=Punkte"),
        ("Race;Driver;Time\nr;a;1,5\nr;b;1.5\n", "--set source.decimal=., (both are decimal marks)"),
        ("R1 4.3.2024\nPos;Name\n1;A\n2;B\n\nR2\nPos;Name\n1;B\n2;A\n", "--set 'source.aside={title}'"),
    ],
)
def test_ambiguous_sheets_are_asked_about_with_a_command(text, question, tmp_path):
    with pytest.raises(ResultsError) as refused:
        read(tmp_path, text)
    assert question in str(refused.value)


def test_one_row_with_another_date_does_not_split_an_event(tmp_path):
    with pytest.raises(ResultsError, match="an event can have only one"):
        read(tmp_path, "Race,Date,Driver,Pos\nr,2024-03-04,A,1\nr,2024-03-04,B,2\nr,2024-03-05,C,3\n")


def test_a_score_that_a_workbook_stored_as_a_time_is_a_score(tmp_path):
    assert heats_in(read(tmp_path, "Heim,Gast,Ergebnis\nA,B,3:01:00.000\nB,C,2:03:00\n").frame) == ["A>B", "C>B"]


@pytest.mark.parametrize(
    ("name", "text", "heats"),
    [
        ("m.json", JSON, ["A>B"]),
        ("t.json", TEAMS, ["C/D>A/B"]),
        ("u.json", '[{"race": 1, "place": 2, "players": ["A", "B", "C"]}, {"race": 1, "place": 1, "players": ["D"]}]',
            ["D>A/B/C"]),
        ("n.json", '[{"team_a": ["A", "B"], "team_b": ["C", "D"], "score_a": 9, "score_b": 7}]', ["A/B>C/D"]),
        ("k.json", '{"m": [{"A": 3, "B": 1}, {"C": 0, "A": 2}, {"B": 1, "C": 1}]}', ["A>B", "A>C", "B=C"]),
        ("e.json", '{"Race 1": {"A": 1, "B": 2, "C": 3}, "Race 2": {"C": 1, "A": 2, "B": 3}}', ["A>B>C", "C>A>B"]),
        ("p.json", '[{"when": "2024-04-01", "players": ["A", "B"], "score": [1, 2]}]', ["B>A"]),
        ("o.json", f'{{"races": {{"Oslo": {ROUND_ONE}, "Rome": {ROUND_TWO}}}}}', ["A>B", "B>A"]),
        ("l.json", '[["race", "driver", "pos"], ["r", "A", 1], ["r", "B", 2]]', ["A>B"]),
        ("c.json", '{"race": ["r", "r", "r"], "driver": ["B", "A", "C"], "pos": [2, 1, 3]}', ["A>B>C"]),
        ("m.xml", XML, ["A>B", "B>A"]),
        ("m.txt", LINES, ["Ana>Ben Lu", "Cy=Di", "Cy>Ana"]),
        ("won.txt", "1 May 2024: Ana beat Ben 6-4 6-3\n8 May 2024: Cy def. Ana\n", ["Ana>Ben", "Cy>Ana"]),
        ("goals.txt", "A-Stadt 3 - 1 B-Dorf\nC-Burg 0:2 A-Stadt\n", ["A-Stadt>B-Dorf", "A-Stadt>C-Burg"]),
        ("verbs.txt", "1 May: Ana beat Ben 6-4\n8 May: Cy lost to Ana 0-6\n9 May: Cy drew with Ben\n",
            ["Ana>Ben", "Ana>Cy", "Ben=Cy"]),
        ("sets.txt", "R1: Ana d. Ben 6-4 6-7(5) 9-7\nSF: Cy d. Ana 6-2 ret.\n", ["Ana>Ben", "Cy>Ana"]),
        ("at.txt", "4 March 2024\nA 5 at B 3\nC 2 at D 4\n", ["A>B", "D>C"]),
        ("weeks.txt", "Week 1: 1st Ana, 2nd Ben, 3rd Cy\nWeek 2: 1st Cy, 2nd Ana\n", ["Ana>Ben>Cy", "Cy>Ana"]),
        ("left.txt", "1. a_1 1:02:33\n2. b 1:03:10\nForfeit: c, d\n", ["a_1>b>c=d"]),
        ("r.txt", "Race A\n1. Ana\n2. Ben\nDNF Cy\n\nRace B\n1. Ben 9:59\n2) Ana 10:01\n", ["Ana>Ben>Cy", "Ben>Ana"]),
        ("w.txt", "Pos  Name    Laps  Time\n2    Ana Ru  19    9:01\n1    Eva So  20    9:30\n", ["Eva So>Ana Ru"]),
        ("p.html", PAGE, ["A>B", "B>A"]),
        ("m.pgn", '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n', ["A>B"]),
    ],
)  # fmt: skip
def test_other_files_are_read_without_options(name, text, heats, tmp_path):
    found = heats_in(read(tmp_path, text, name).frame)
    assert found == heats


def test_a_crosstable_in_a_workbook_needs_no_heading_above_its_names(tmp_path):
    rows = [["Group A"], ["", "Ana", "Ben"], ["Ana", "", "2:0"], ["Ben", "0:2", ""]]
    write_ods(tmp_path / "w.ods", rows)
    assert heats_in(podium.read_results(tmp_path / "w.ods", lenient=True).frame) == ["Ana>Ben"]


def test_a_title_merged_over_all_columns_is_not_a_heading(tmp_path):
    rows = [
        [Merged("Americano 2026-08-20", across=4)],
        ["Lag 1", "Poäng", "Poäng", "Lag 2"],
        ["A/B", "13", "19", "C/D"],
    ]
    write_xlsx(tmp_path / "w.xlsx", Plan=rows)
    frame = podium.read_results(tmp_path / "w.xlsx", lenient=True).frame
    assert heats_in(frame) == ["C/D>A/B"]
    assert frame["started_at"].dt.strftime("%Y-%m-%d").to_list() == ["2026-08-20"] * 4


def test_a_workbook_may_have_notes_and_titles_between_blocks(tmp_path):
    head = ["Datum", "Heim", "Gast", "Ergebnis"]
    rows = [["Kreisliga"], [Merged("1. Spieltag", across=4)], head, ["04.03.2024", "A", "B", "2:1"]]
    rows += [[Merged("2. Spieltag", across=4)], head, ["11.03.2024", "B", "C", "0:3"]]
    write_xlsx(tmp_path / "w.xlsx", Plan=rows, Notes=[["Season 2024"], ["by Joe"]])
    assert heats_in(podium.read_results(tmp_path / "w.xlsx", lenient=True).frame) == ["A>B", "C>B"]
