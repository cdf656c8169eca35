# SPDX-License-Identifier: Apache-2.0
"""Writes the Parquet files of the tests with pyarrow: python3 write.py"""

import datetime
import decimal

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
for name, options in {
    "snappy": {},
    "plain": {"compression": "none", "use_dictionary": False, "row_group_size": 70},
    "gzip2": {"compression": "gzip", "data_page_version": "2.0", "row_group_size": 128, "data_page_size": 300},
    "zstd": {"compression": "zstd", "data_page_size": 200, "write_batch_size": 32},
}.items():
    pq.write_table(table, f"{name}.parquet", **options)
few = table.slice(0, 5)
pq.write_table(few, "lz4.parquet", compression="lz4")
pq.write_table(few.select(["big"]), "delta.parquet", use_dictionary=False, column_encoding={"big": "DELTA_BINARY_PACKED"})
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
