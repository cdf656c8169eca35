# SPDX-License-Identifier: Apache-2.0
"""Writes lines.json and what the real vw makes of it, to the last bit.

    pip install vowpalwabbit==9.11.9
    python vw_json.py

lines.json: every rule of vw's JSON, then objects drawn from a grammar that
prefers the corners. vw ends at the first line that it refuses, so there is none.
"""
import json, os, random, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata"))
from vw_cache import record

RULES = r"""{"_label":1,"_tag":"t","a":{"x":1,"a2":{"y":2},"z":3},"d":4}
{"a":[1,0,3],"b":[{"x":1},{"y":2,"c":{"q":1}},5],"s":"bl ue:x|y","t":true,"f":false,"n":null}
{"a":[1,{"b":[5,6]},2]}
{"a":[1,null,2]}
{}
{"x":1} 
 { "x" : 1 , "y":[ 1 , 2 ] , "z" : { } }	
{"_y":{"a":[1,"}"]},"x":1}
{"_y":tru,"x":1}
{"x\ty":1,"\u00e9":1,"\ud83d\ude00":1,"a\u0000b":1,"\u20ac\"\\\/\b\f\n\r":2}
{"x":1.5e2,"y":-0,"z":0.1,"w":123456789012345678901234567890}
{"x":1e300,"y":-1,"z":1e-50,"u":4294967296,"q":16777217}
{"x":1e-400,"y":0.000000000000000000000000000000000000000000001,"z":-2.5E+3,"w":12345678901234567.25}
{"x":18446744073709551615,"y":18446744073709551616,"z":-9223372036854775808,"w":-9223372036854775809}
{"x":0.1234567890123456789,"y":9007199254740993.5,"z":123456789.123456789e-20}
{"_label":"2 0.5","x":1}
{"_label":"2 0.5 0.25","x":1}
{"_label":"2 0.5 0.25 9","x":1}
{"_label":"abc","x":1}
{"_label":{"label":2,"WEIGHT":3,"Initial":0.5},"x":1}
{"_label":{},"x":1}
{"_label":1,"_label":{"Weight":2},"x":1}
{"_label":{"Label":null},"x":1}
{"_label":null,"x":1}
{"_label_Weight":3,"_label_Label":2,"_label_initial":-1,"x":1}
{"_label":1,"_label":2,"x":1}
{"_TAG":"a","_tag":"b","x":1}
{"_tag":"'q r","x":1}
{"_tag":null,"_text":null,"x":1}
{"_text":"a b:c|d  e\tf 12","ns":{"_text":"a"}}
{"_text":"","x":1}
{"_text":" a\u0000b \u0000 c "}
{"_a":[1,2],"_p":[0.5],"_inc":[1],"x":1}
{"":1,"q":{"":2}}
{"":{"x":1}}
{"12":3,"5":{"7":1,"x":"12"},"012":1," 7 ":2}
{"x":1,"x":2,"a":{"y":1},"b":{"z":1},"a":{"w":1}}
{"c":{"_label":3,"_tag":"in"},"x":1}
{"a b":1,"a:b":{"c|d":2}}
{"_x": 1e999}
{"x":"a\u0000b","y":"","z\u0000":"q"}
{"k":1,"_label":"","x":1}
{"a":{}, "b":[], "c":[{}], "d":[0]}
{"_label":-1.5,"x":1}
{"ab":{"x":1,"b":{"z":1}},"ac":{"y":1}}
{"a":{"b":{"c":{"d":[1,2,{"e":1}],"a":{"x":1}}}}}
{"a":[{"x":"red"},{"x":"blue","_text":"u v"},3]}
{" ":{"x":1},"x":1}
{"x":"\u00e9\ud83d\ude00 \\ \" /"}""".split("\n")
RULES += ["\ufeff" + '{"x":1}', '{"x":1}\r']

KEYS = "a b x yy foo word1234 longerthan8 12 007 9x a:b 0 n|s".split() + ["", "é", "\x01", "two words"]
TEXTS = ["red", "", "two words", "a:b", "12", "é", "tab\tbed", "x\\y\"z"]
NUMBERS = "1 0 2.5 -1 0.5 0.125 1e3 1E-3 -0 -0.0 12345678 0.123456789 3.0e0 1234567.875 1e22 1e-10 100000000000000000000".split()


def value(rng, depth):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(NUMBERS)
    if kind < 0.65:
        return json.dumps(rng.choice(TEXTS), ensure_ascii=rng.random() < 0.5)
    if kind < 0.75 or depth == 4:
        return rng.choice(["true", "false", "null"])
    if kind < 0.9:
        return object_(rng, depth + 1, "ns abc a b 12 ~".split())
    items = [rng.choice(NUMBERS + ["null"]) if rng.random() < 0.8 else object_(rng, depth + 1, "q r".split()) for _ in range(rng.randint(0, 4))]
    return "[" + ",".join(items) + "]"


def object_(rng, depth, names):
    members = []
    for _ in range(rng.randint(0, 5)):
        v = value(rng, depth)
        # vw crashes at namespaces that do not begin with an ASCII character.
        key = rng.choice(names if v[0] in "{[" else KEYS)
        blank = rng.choice(["", "", " "])
        members.append(json.dumps(key, ensure_ascii=rng.random() < 0.5) + blank + ":" + blank + v)
    if rng.random() < 0.1:
        members.append('"_text":' + json.dumps(rng.choice(TEXTS)))
    return "{" + ",".join(members) + "}"


def drawn(rng):
    top = object_(rng, 0, "ns abc a b 12 ~".split())
    head = rng.choice(["", "", '"_label":1', '"_label":"-1 2"', '"_label":{"Label":0.5,"Weight":0.25}', '"_tag":"t","_label":-1', '"_tag":"t"'])
    return "{" + head + ("," if head and top != "{}" else "") + top[1:]


rng = random.Random(3)
lines = RULES + [drawn(rng) for _ in range(400)]
with open("lines.json", "w", newline="") as f:
    f.write("\n".join(lines) + "\n")
for name, options in {"default": "-b 18", "seed": "-b 22 --hash_seed 7", "allseed": "-b 31 --hash all --hash_seed 7", "chain": "-b 24 --chain_hash"}.items():
    record("lines.json", "examples-%s.txt" % name, "--json --noconstant " + options)
