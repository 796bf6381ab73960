"""The revision of the arithmetic: which numbers the rules make of the same results.

| revision | since | what moves |
|---|---|---|
| 1 | 0.1.0 | |
| 2 | unreleased | idle days before 1970 in live rating; |
| | | idle days after a rating period count from its last event, not from its first; |
| | | `codeforces` leaves the player out of the own opponents; |
| | | a team's sum of scores is the same in any order of rows; |
| | | the variance term of `glicko2` and `trials`; |
| | | `openskill-pl` in fields that lie far apart, `xonstat-2015` where scores overflow |
| 3 | unreleased | `elo` and `folyami` in heats of 2,048 and more: sums taken at once, other last digits |
| 4 | unreleased | no system but `openskill-tm` and `-tm-part` calls the C library: last digits of `openskill-*`, |
| | | `trueskill`, `elo-mmr`, `glicko2`, `trials`, `stk-rd`, `podium`, and `folyami` for newcomers |
| 5 | unreleased | `elo-mmr`: two who did not finish tie for last; `podium` where results have no dates |

A change of any stored number, be it the last bit, is a new revision and a row above. What was rated with an earlier one
is rated again as a whole: ratings of two revisions in one ledger would be what no replay makes.
"""

ARITHMETIC = 5
