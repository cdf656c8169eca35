# SPDX-License-Identifier: Apache-2.0
"""Writes the Parquet files of the tests with pyarrow: python3 write.py"""

import datetime
import decimal
import random

import pyarrow as pa
import pyarrow.parquet as pq

N = 300
rows = range(N)
table = pa.table({
    "_label": pa.array([1.0 if i % 3 else -1.0 for i in rows], pa.float32()),
    "_weight": pa.array([None if i % 7 == 0 else 0.5 + i % 2 for i in rows], pa.float64()),
    "_tag": pa.array([f"row{i}" for i in rows]),
    "size|area": pa.array([i * 0.1 for i in rows], pa.float64()),
    "rooms": pa.array([None if i % 5 == 0 else i - 150 for i in rows], pa.int32()),
    "big": pa.array([i * 10**12 for i in rows], pa.int64()),
    "small": pa.array([200 + i % 50 for i in rows], pa.uint8()),
    "place": pa.array([None if i % 11 == 0 else ("north", 'the "south"', "e,ast\nx", "")[i % 4] for i in rows]),
    "quiet": pa.array([None if i % 13 == 0 else i % 2 == 0 for i in rows]),
    "nan": pa.array([float("nan") if i % 2 else float("-inf") for i in rows], pa.float32()),
    "day": pa.array([datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in rows]),
    "inner": pa.array([None if i % 17 == 0 else {"x": i, "y": None if i % 4 == 0 else str(i)} for i in rows],
                      pa.struct({"x": pa.int64(), "y": pa.string()})),
})
delta = {
    "_label": "BYTE_STREAM_SPLIT", "size|area": "BYTE_STREAM_SPLIT", "nan": "BYTE_STREAM_SPLIT", "_tag": "DELTA_BYTE_ARRAY",
    "rooms": "DELTA_BINARY_PACKED", "big": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "day": "DELTA_BINARY_PACKED",
    "place": "DELTA_BYTE_ARRAY", "inner.x": "DELTA_BINARY_PACKED", "inner.y": "DELTA_LENGTH_BYTE_ARRAY",
}
for name, options in {
    "snappy": {},
    "plain": {"compression": "none", "use_dictionary": False, "row_group_size": 70},
    "gzip2": {"compression": "gzip", "data_page_version": "2.0", "row_group_size": 128, "data_page_size": 300},
    "zstd": {"compression": "zstd", "data_page_size": 200, "write_batch_size": 32},
    "delta": {"compression": "lz4", "use_dictionary": False, "data_page_size": 400, "write_batch_size": 32, "column_encoding": delta},
    "delta2": {"compression": "lz4", "use_dictionary": False, "data_page_version": "2.0", "row_group_size": 128, "column_encoding": {
        **delta, "place": "DELTA_LENGTH_BYTE_ARRAY", "big": "BYTE_STREAM_SPLIT"}},
}.items():
    pq.write_table(table, f"{name}.parquet", **options)
# Differences that wrap around, texts that share beginnings, and blocks with few values.
draw = random.Random(1)
wide = pa.table({
    "i64": pa.array([draw.choice((-2**63, 2**63 - 1, 0, draw.randrange(-2**63, 2**63))) for _ in range(300)], pa.int64()),
    "i32": pa.array([draw.choice((-2**31, 2**31 - 1, draw.randrange(-2**31, 2**31))) for _ in range(300)], pa.int32()),
    "u64": pa.array([draw.choice((0, 2**64 - 1, draw.randrange(2**64))) for _ in range(300)], pa.uint64()),
    "same": pa.array([7] * 300, pa.int64()),
    "none": pa.array([None] * 300, pa.int32()),
    "text": pa.array(["abc" * draw.randrange(20) + str(i) for i in range(300)]),
    "empty": pa.array([""] * 300),
})
pq.write_table(wide, "wide.parquet", compression="none", use_dictionary=False)
pq.write_table(wide, "widedelta.parquet", compression="lz4", use_dictionary=False, column_encoding={
    **dict.fromkeys(["i64", "i32", "u64", "same", "none"], "DELTA_BINARY_PACKED"), "text": "DELTA_BYTE_ARRAY", "empty": "DELTA_LENGTH_BYTE_ARRAY"})
few = table.slice(0, 5)
pq.write_table(few, "brotli.parquet", compression="brotli")
houses = pa.table({
    "price": pa.array([1.0 if i % 3 else -1.0 for i in range(23)]),
    "_tag": pa.array([f"h{i}" for i in range(23)]),
    "size|area": pa.array([i / 4 for i in range(23)]),
    "rooms": pa.array([None if i % 5 == 0 else i % 4 for i in range(23)], pa.int32()),
    "place": pa.array([("north", None, "12", "a b")[i % 4] for i in range(23)]),
})
pq.write_table(houses, "houses.parquet", row_group_size=6)
pq.write_table(pa.table({"_label": [310, 190], "size|area": [120.5, 75.0], "city": ["Delft", None]}), "small.parquet")
pq.write_table(pa.table({"tags": pa.array([["a"], []])}), "list.parquet")
pq.write_table(pa.table({"price": pa.array([decimal.Decimal("1.25")])}), "decimal.parquet")


def cell(v):
    if v is None or v != v or v == "":
        return ""
    if isinstance(v, bool):
        return str(int(v))
    if isinstance(v, datetime.date):
        return str((v - datetime.date(1970, 1, 1)).days)
    if isinstance(v, str):
        return '"' + v.replace('"', '""').replace("\n", " ") + '"'
    if isinstance(v, int):
        return str(v)
    return repr(v)


with open("houses.csv", "w") as f:
    f.write(",".join(houses.column_names) + "\n")
    for r in houses.to_pylist():
        f.write(",".join(cell(v) for v in r.values()) + "\n")

# The same rows as text, with numbers as Python prints them.
with open("rows.csv", "w") as f:
    names = [n for n in table.column_names if n not in ("_weight", "inner")]
    f.write(",".join(f'"{n}"' for n in names + ["inner|x", "inner|y"]) + "\n")
    for r in table.to_pylist():
        inner = r["inner"] or {"x": None, "y": None}
        if r["_weight"] is not None:
            r["_label"] = f'{r["_label"]} {r["_weight"]}'
        f.write(",".join([cell(r[n]) for n in names] + [cell(inner["x"]), cell(inner["y"])]) + "\n")

# Lists and maps, and the same examples as vw's text.
draw = random.Random(2)
words = ["red", "green", "blue", "grey", "x-y"]


def some(of, most=5):
    n = draw.randrange(-1, most)
    return None if n < 0 else [of() for _ in range(n)]


def entries(key, value):
    keys = some(key)
    return None if keys is None else [(k, value()) for k in dict.fromkeys(keys)]


M = 240
number = lambda: draw.choice((None, 0, draw.randrange(-40, 40) / 4))
several = pa.table({
    "_label": pa.array([1.0 if i % 3 else -1.0 for i in range(M)], pa.float32()),
    "tags": pa.array([some(lambda: draw.choice((None, "", *words))) for _ in range(M)], pa.list_(pa.string())),
    "scores": pa.array([some(number) for _ in range(M)], pa.list_(pa.float32())),
    "n|big": pa.array([some(lambda: draw.randrange(1, 99), 12) for _ in range(M)], pa.large_list(pa.field("item", pa.int64(), nullable=False))),
    "words": pa.array([entries(lambda: draw.choice(words), number) for _ in range(M)], pa.map_(pa.string(), pa.float64())),
    "kind": pa.array([entries(lambda: draw.choice(words), lambda: draw.choice(("a", "b", None))) for _ in range(M)], pa.map_(pa.string(), pa.string())),
    "ids|": pa.array([entries(lambda: draw.randrange(1000), number) for _ in range(M)], pa.map_(pa.int32(), pa.float32())),
    "size": pa.array([i / 4 for i in range(M)]),
})
pq.write_table(several, "several.parquet", row_group_size=100, data_page_size=60, write_batch_size=16)
pq.write_table(several, "several2.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False)
pq.write_table(several, "severaldelta.parquet", compression="lz4", use_dictionary=False, use_compliant_nested_type=False, column_encoding={
    "n|big.list.item": "DELTA_BINARY_PACKED", "tags.list.item": "DELTA_BYTE_ARRAY"})
for name, column in {
    "lists": pa.array([[[1], [2]]]),
    "structs": pa.array([[{"x": 1, "y": 2}]]),
    "mapoflists": pa.array([[("a", [1])]], pa.map_(pa.string(), pa.list_(pa.int32()))),
    "inside": pa.array([{"x": [1]}]),
    "_label": pa.array([[1.0]]),
    "a|b": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
}.items():
    pq.write_table(pa.table({name: column}), f"bad-{name.strip('_').replace('|', '')}.parquet")
pq.write_table(pa.table({"long": pa.array([[None] * (2**20 + 1)], pa.list_(pa.string()))}), "bad-long.parquet")

with open("several.vw", "w") as f:
    for r in several.to_pylist():
        spaces = {
            "": [f"tags:{w}" for w in r["tags"] or [] if w] +
                [f"scores_{k}:{v}" for k, v in enumerate(r["scores"] or []) if v is not None] + [f"size:{r['size']}"],
            "n": [f"big_{k}:{v}" for k, v in enumerate(r["n|big"] or [])],
        }
        for column in ("words", "kind", "ids|"):
            spaces[column.rstrip("|")] = [f"{k}:{v}" for k, v in r[column] or [] if v is not None]
        f.write(f"{r['_label']:g} " + " ".join("|" + " ".join([ns, *all]) for ns, all in spaces.items() if all) + "\n")
