"""The scorecard: five dimensions of a skill, cheap and mostly mechanical, held against a stored baseline.

A lint and a guard against drift beside the head-to-heads, not a proof of quality; it never changes a verdict of theirs.
Flow: `config`, `cases` and `baseline` read what people wrote; `observations` reads what a run recorded (`records`);
`grading` and `dimensions` make scores of that, `compare` holds them against the baseline, `results` makes the file of
an evaluation, `table` its text. `evaluate` puts them together for the faces.
"""
