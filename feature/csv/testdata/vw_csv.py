# SPDX-License-Identifier: Apache-2.0
"""Writes NAME.csv and what the real vw makes of it, to the last bit.

    pip install vowpalwabbit==9.11.9
    python vw_csv.py

Each case has a header, options of vw and rows: all rules of vw's CSV, then rows
drawn from a list of corners. vw ends at the first row that it refuses, so there
is none. The options are in the first line of examples-NAME.txt.
"""
import os, random, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata"))
from vw_cache import record

CELLS = "1 0 2.5 -1 +1 .5 5. 0.125 1e3 1e-3 -0 0x10 inf -inf nan NaN 1e-50 1e39 12345678 0.123456789 - . e 1a 1: red blue 12 007 a:b a|b".split()
CELLS += [" 5", "5 ", " red", "red ", "two words", "é", "'q'", 'a"b', " ", '"a b"', '"1,2;3"', '"5"', '""', '""""', '"x""y"', '"""x"""', '"a;b""c,d"']
CELLS += [""] * 6
LABELS = ["1", "-1", "1 0.5", "0.25 2 -0.5", "", "abc", "1 2 3 4", '"1 2"', " 1  2 ", "+1"]
TAGS = ["t", "'t", "", '"two words"', '"\'q"', "''", "t'"]

CASES = {
    "plain": ("_label,x,y,b|x,b|y z,12,_tag", ",", ""),
    "names": ("\ufeff_tag,a|,,|,\"a|q\",\"p\"\"q\",_label,_label,_tag,b|007,c|", ",", "--hash_seed 7"),
    "all": ("_label,x,b|12,12,é|é", ",", "--hash all --hash_seed 7 -b 31"),
    "semicolon": ("\"_label\";\"x\";\"b|y,z\";a|b", ";", "--csv_separator ;"),
    "tab": ("_label\tx\tb|y\ta|b", "\t", "--csv_separator \\t"),
    "values": ("_label,x,ab|x,b|,c|z", ",", "--csv_ns_value ab:0.5,:8,b:-1e1,c:0"),
    "header": ("1,2,3", ",", "--csv_header _label,b|x,y"),
    "bare": (None, ",", "--csv_no_file_header --csv_header _label,b|x,y"),
    "unlabeled": ("x,b|y", ",", ""),
}


def row(rng, header, separator):
    cells = []
    for name in header:
        name = name.strip('"\ufeff')
        cell = rng.choice({"_label": LABELS, "_tag": TAGS}.get(name, CELLS))
        if '""' in cell[1:-1] and any('""' in c[1:-1] for c in cells):
            cell = ""  # vw loses the first of two texts with doubled quotes: it keeps a pointer to memory that moves
        # A row is cut at every separator outside of quotes.
        cells.append(cell.replace(separator, "") if cell[:1] != '"' else cell)
    return separator.join(cells)


rng = random.Random(3)
for name, (header, separator, options) in CASES.items():
    columns = (header or "_label,b|x,y").replace("\"b|y,z\"", "b|y").split(separator)
    rows = [r for r in (row(rng, columns, separator) for _ in range(60)) if r]
    empty = separator * (len(columns) - 1)
    if empty:
        rows += [empty, empty + "\r"]
    with open(name + ".csv", "w", newline="") as f:
        f.write("\n".join(([header] if header else []) + rows) + "\n")
    record(name + ".csv", "examples-%s.txt" % name, "--csv --noconstant " + options)
