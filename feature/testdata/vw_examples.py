# SPDX-License-Identifier: Apache-2.0
"""Writes lines.vw and what the real vw makes of it, to the last bit.

    pip install vowpalwabbit==9.11.9
    python vw_examples.py

lines.vw: every rule of the text format, then lines drawn from a grammar that
prefers the corners. examples-NAME.txt: vw's own cache of that file, decoded,
with the options in the first line. An example a line:

    label weight initial tag newline | namespace index:value ... | ...

floats as the hexadecimal of their bits, tag and namespace in hexadecimal.

interactions.txt: index:value of all features in vw's order, as --audit shows
them, for some lines and sets of -q, tab-separated: options, line, features.
"""
import os, random, subprocess, sys

from vw_cache import record

RULES = b"""1 | a b c
|a x
1 |a x |b y |a z
|a x |b y |a z |b w:2 |c |a :3 :4
|a x |a y |b z |a w |a v
|a :2 :3 :0 :4 |a :5
| a  b	c 	 d
1 2 0.5 'tag | x
1 2 0.5 tag| x
1 tag| x
1 'tag| x
'tag | x
tag| x
' | x
1 tag
1 
 1
  
1 2 3 4 | x
1 2 3 4 'tag | x
abc | x
1 abc | x
1abc 2x 3e| x
1abc 2x 3e | x
nan | x
1 nan | x
-1 -2 -3 | x
+1 +2 +.5 | x
0x10 1e1 1e-1 | x
inf -inf inf | x
3.4028235e38 | x
1 0 | x
junk	1 | x
1	| x
1	2	3 | x
a	b	1 2 'tag	x | x
1 | x	y
|
||
|||a x||b y
| 
|a
|a 
|a:2
|a:2 x
|a:2 x:3 y:
|a: 2 x
|a:  x
|a:abc x
|a:nan x:2
|a:-1 x:2 s:blue t:
|a:0 x
|a:inf x:0 y
|a:2:3 x
|a:2|b:3 x
|a:0x2 x
|a:+2 x
|a:1e1 x
|:3 x
|a x |: y |b z
|ab x |ac y
|12 3 |012 3 |1a 3
| 12 0012 5:2 12a 4294967295 4294967296 18446744073709551616 99999999999999999999999
| x:1:2 y
| x:1abc y |b z
| x:1.2.3 y
| x:1x:2 y
| x:abc y:1
| x:y:z w
| :abc :2 : :
| x::3 y
| x: y z
| x: 3 y
| x:  3 y
| x:	y z
| x:	 3 y
| x: |b y
| x:
| x: 
| x:	
| x:|b y
| x|b y
| x:1|b y:abc|c z
| x:nan y:NaN z:-nan w:nan(123) v:nan(_a) u:nan( t:nanx s
| x:inf y:-inf z:INF w:infinity v:Infinity u:infinite t:+inf
| x:0 y:-0 z:0.0 w:1e-50 v:.0 u:- t:. s:-. r:e q:-e5
| x:1e3 y:1e+3 z:1e-3 w:1E3 v:1e u:1e- t:1e+ s:1.e2 r:.5e1 q:1ee
| x:1e400 y:1e256 z:1e300 w:1e38 v:1e39 u:1e-37 t:1e-38 s:1e-45 r:1e4294967296 q:1e99999999999
| x:0x10 y:0x z:0x.8 w:0x1p4 v:0X1.8P-1 u:0x1p t:0xg s:-0x2 r:0x1.p1 q:0x.p1
| x:+1 y:+ z:+-1 w:-+1 v:--1 u:+.5 t:-.5 s:+0x1 r:+abc
| x:16777216 y:16777217 z:16777217123 w:123456789 v:123456789012345678901234567890 u:1234567890123456789012345678901234567890
| x:0.1 y:0.12 z:0.123 w:0.1234 v:0.12345 u:0.123456 t:0.1234567 s:0.12345678 r:0.123456789 q:0.1234567890123456
| x:12345.678 y:1234567.8 z:12345678.9 w:9999999 v:99999999 u:0.00000001 t:0000000001 s:00000000.00000001
| x:0.00000000000000000000000000000000000000001 y:0.000000000000000000000000000000000001234567890123 z:3.4028236e38
| x:1,5 y:1_000 z:1f w:1L v:0b1 u:1e5e5 t:1-2 s:1+2
| x:2x y
| x:2 y:3z w
| a^b:2 a,b a=b a*b:1 \xc3\xa9:2 \xe6\xbc\xa2\xe5\xad\x97 \xff
|\xc3\xa9 x |\xc3\xa8 y
| averyveryverylongname:2 sevench:1 eightchr:1 ninechars:1 sixchr:1 f:1 ab:1 abc:1 abcd:1
| x:2 |b y:0.5	z:.25 |c w:1 
1 | a\rb c
1 | a:1\rb c
1 | a:\rb c
1 |a\rb c
1 | a: \r b
\xef\xbb\xbf1 | a
\xef\xbb\xbf
\xef\xbb\xbf\xef\xbb\xbf1 | a
1 | x\x01:2 \x01\x02 5\x01 \x015 \x7f
1 | a\x0bb:\x0b3 c:\x0c4
1 |a\x01 x |\x01a y
1 \x01| x
1 | a""".split(b"\n")

VALUES = b"1 0 2.5 -1 .5 0.125 1e3 1e-3 +1 nan inf abc 0x1p3 12345678 0.123456789 -0 3. 1: 1:2 1a - .".split()
NAMES = b"a b x yy foo word1234 longerthan8 12 007 9x \xc3\xa9 a:b 0".split()
SPACES = (b"n ns size a b 12 \xc3\xa9 ~ :").split()


def drawn(rng):
    line = rng.choice([b"", b"1 ", b"-1 ", b"1 2 ", b"0 .5 .25 ", b"1 'tag ", b"'t", b"tag", b"junk\t1 ", b" "])
    for _ in range(rng.randint(0, 6)):
        line += b"|" + rng.choice(SPACES + [b""] * 3)
        if rng.random() < 0.2:
            line += b":" + rng.choice(VALUES)
        for _ in range(rng.randint(0, 5)):
            line += rng.choice([b" "] * 8 + [b"\t", b"  "]) + rng.choice(NAMES + [b""])
            if rng.random() < 0.5:
                line += b":" + rng.choice(VALUES + [b""])
        line += rng.choice([b" "] * 4 + [b""])
    return line


rng = random.Random(3)
lines = RULES + [drawn(rng) for _ in range(400)]
with open("lines.vw", "wb") as f:
    f.write(b"\n".join(lines) + b"\n")
CASES = {"default": "-b 18", "seed": "-b 22 --hash_seed 7", "all": "-b 24 --hash all", "allseed": "-b 31 --hash all --hash_seed 7", "small": "-b 1"}
for name, options in CASES.items():
    record("lines.vw", "examples-%s.txt" % name, options)

PAIRS = ["-q ab", "-q ba", "-q aa", "-q ba -q ab -q bb -q aa", "-q cb -q ba -q ac", "-q ::", "-q a:", "-q :a", "-q b: -q :a", "-q :a -q cb",
         "-q ab -q ab", "-q xy", "-q ab --noconstant", "-q ab --hash all --hash_seed 7", "-q :: -b 5", "-q :: -b 31"]
LINES = ["1 |b x y |a z | d |\u00e9 u |B1 v", "1 |a x:2 y:3 |b z:.5 w", "1 |a x |b y |a z |c :2 :3 |a", "1 |c w", "1 |a x x:2", "1 | a b c:-1 |b 1 2 3:4", "1"]
with open("interactions.txt", "w") as out:
    one = "one.vw"
    for options in PAIRS:
        for line in LINES:
            with open(one, "w") as f:
                print(line, file=f)
            command = [sys.executable, "-m", "vowpalwabbit", "-d", one, "--audit", "-t", "--quiet"] + options.split()
            audit = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[1]
            # name:index:value:weight, and @adaptive behind the weight
            features = [":".join(f.rsplit(":", 3)[1:3]) for f in audit.split("\t") if f]
            print(options, line, " ".join(features), sep="\t", file=out)

# options.txt: the same with names, for every option on namespaces: first the options, then their lines.
OPTIONS = """
--cubic abc|--cubic aab|--cubic bba|--cubic aaa|--cubic bca --cubic cab|--cubic aab --permutations|--cubic aaa --permutations
-q aa --permutations|-q ab -q ba --leave_duplicate_interactions|-q aa -q aa --leave_duplicate_interactions
-q :: --leave_duplicate_interactions|-q :: --permutations|--cubic :::|--cubic a::|--cubic :a:|--cubic ::b --leave_duplicate_interactions
--cubic ::: --leave_duplicate_interactions|--cubic ::: --permutations|--interactions ab|--interactions abca|--interactions aaaa|--interactions baba
--interactions a:b:|--interactions ::::|--interactions abb --interactions ba --cubic bab -q aa|--interactions ccbba --permutations
--interactions abc -q :a --cubic cba|-q \\x61b|-q \\x20a|-q a\\x84 --affix +1a|-q \\x85\\x84 --affix +1,-1a --spelling a|-q :: --affix +1a
--ignore a|--ignore a --ignore b|--ignore abc|--keep a|--keep ab --ignore b|--ignore a -q ab|--keep \\x20|--ignore \\x20b
--ignore_linear a|--ignore_linear a -q ab|--ignore_linear ab -q ab -q aa|--ignore_linear b -q :: --ignore c|--ignore_linear a --keep ab -q ab
--redefine b:=a|--redefine b:=a -q bb|--redefine :=a|--redefine x:=:|--redefine x:=: --redefine b:=b -q xb|--redefine a:=b --ignore a
--redefine b:=a --redefine a:=b -q ab|--redefine :=ab -q \\x20c
--ngram 2|--ngram 3|--ngram a2|--ngram a3 --ngram b2|--ngram 2 --skips 1|--ngram 3 --skips 2|--ngram a3 --skips a1|--ngram 4 --skips b2
--ngram 2 --skips 1 -q ab|--ngram 2 --affix +1a --spelling b|--ngram b3 --redefine b:=a|--ngram 2 --ignore a|--ngram a2 --hash all
--affix +1|--affix -1|--affix +2a,-3a|--affix +2a,-3a,+1,-1b,2c|--affix +7,-7a --hash all|--affix +3a,+3a,+3a|--affix -2 --hash_seed 7
--affix +1b --redefine b:=a|--affix +1a --ignore a|--affix +2a --spelling a --ignore \\x85
--spelling a|--spelling _|--spelling a --spelling b --spelling _|--spelling a --affix +1a,-2a|--spelling a --hash all|--spelling b -q b\\x85
--feature_limit 1|--feature_limit 2|--feature_limit a2|--feature_limit a0|--feature_limit 0|--feature_limit a1 --feature_limit b2 -q ab
--feature_limit 3 --ngram 2|--feature_limit 2 --affix +1,-1a|--feature_limit a3 --ngram a2 --skips 1 -q aa|--feature_limit 2 -b 3 -q ::
--noconstant -q ab --ngram 2|-b 31 --cubic abc --ngram 3 --affix +1a|-b 5 --interactions abcc --spelling b --ngram 2 --skips 1
--hash_seed 9 --hash all --ngram 2 --affix +1,-1b --spelling a --spelling _ -q :: --ignore_linear b --feature_limit 4
--chain_hash -q ab
""".replace("\n", "|").strip("|").split("|")
OPTION_LINES = """1 |a x y z |b p q |c u
-1 |a foo bar:2 :3 s:blue |b x y:0.5
|b y |a bar 12 | k zip.Code-9
1 |ab zip:.5 |a foo |b q |ab foo
| abcdefgh:2 ab 1 |c x:-1 |a x:2 x:2 x:1 x :7 |b
1 'tag |a s:t s: |b r:0 :0 :1 |d w
1 |b1 a:3 |\u00e9 b
1""".split("\n")
# limits.txt: the same where so few weights are shared by so many features that what --feature_limit
# takes as one, and how it sorts them, shows.
LIMITS = ["%s --feature_limit %s -b %d" % (o, limit, bits) for o, limit, bits in [
    ("--hash strings", "a12", 3), ("--hash all", "5", 4), ("--ngram 2", "12", 4), ("--ngram 3 --skips 1", "30", 5), ("--affix +1,-1a", "6", 3),
    ("--affix +2a --spelling a", "4", 3), ("--spelling a --spelling _ --ngram a2", "9", 4), ("-q ab --noconstant", "2", 2), ("--ignore_linear a -q ab", "3", 3)]]


def crowded():
    spaces = []
    for _ in range(rng.randint(1, 3)):
        line = "|" + rng.choice(["a", "ab", "b", ""])
        for _ in range(rng.choice([3, 9, 40])):
            name = rng.choice(["x%d" % rng.randint(0, 9), "%d" % rng.randint(0, 30), "s:red", "s:blue", ":"])
            line += " " + name + (rng.choice(["1", "2", ".5", "-1"]) if name == ":" else "" if "s" in name else rng.choice(["", "", ":2", ":.5", ":-1"]))
        spaces.append(line)
    return "1 " + " ".join(spaces)


LIMIT_LINES = [crowded() for _ in range(6)]


def named(name, all_options, lines):
    with open(name, "w") as out:
        shown(out, all_options, lines)


def shown(out, all_options, lines):
    one = "one.vw"
    with open(one, "w") as f:
        print(*lines, sep="\n", file=f)
    for options in all_options:
        command = [sys.executable, "-m", "vowpalwabbit", "-d", one, "--audit", "-t", "--quiet"] + options.split()
        audit = subprocess.run(command, check=True, capture_output=True).stdout.decode("latin-1").split("\n")
        while not audit[0][0].isdigit():
            audit.pop(0)  # [info] on stdout
        print("#", options, file=out)
        for line, shown in zip(lines, audit[1::2], strict=True):
            print(line, " ".join(f.rsplit(":", 1)[0] for f in shown.encode("latin-1").decode().split("\t") if f), sep="\t", file=out)


named("options.txt", OPTIONS, OPTION_LINES)
named("limits.txt", LIMITS, LIMIT_LINES)
os.remove("one.vw")
