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
