// SPDX-License-Identifier: Apache-2.0

// Package pack encodes the values of an update for its way to other ranks, dense
// or sparse, plain or compressed.
//
//	e, err := pack.NewEncoder[float32](pack.Format{Code: pack.F16, Top: 1000}, length)
//	buf, err = e.AppendDense(buf[:0], gradient) // the 1,000 largest values, as float16
//
//	u, err := d.Decode(buf) // u.Indices, u.Values
//
// Plain values are the bytes of the vector itself: a decoded update is a view of the
// received bytes, and nothing is copied. Compressed values are decoded into memory that the
// [Decoder] keeps.
//
// # Error feedback
//
// Compression drops a part of each value: rounding errors, and with Top all values but the
// largest. An encoder remembers what it has dropped and adds it to the next update, so that in the
// long run all of each value arrives. This makes SGD with compressed updates converge as without
// compression (Karimireddy, Rebjock, Stich, Jaggi, "Error feedback fixes SignSGD", ICML 2019). It is
// right for gradients and deltas. Whole models replace each other, so for them it is switched off.
//
// The residue belongs to its sender. A rank that takes over the values of another one begins without a residue: with
// a copy, both would send what the other rank has dropped.
//
// # Layout
//
// Numbers are little-endian. An update begins at an address that is a multiple of 8:
//
//	 0      1      2      3         4        8          16         24
//	┌──────┬──────┬──────┬─────────┬────────┬──────────┬──────────┬─────────
//	│ kind │ elem │ code │ 0       │ 0      │ length   │ count    │ …
//	└──────┴──────┴──────┴─────────┴────────┴──────────┴──────────┴─────────
//	kind    1 dense, 2 sparse
//	elem    1 float32, 2 float64
//	code    0 plain, 1 float16, 2 8-bit
//	length  entries of the vector; at most 2^32 in sparse updates
//	count   values that follow; all entries if dense
//
//	indices  count × uint32, padded with zeros to a multiple of 8; sparse only
//	values   plain: count × float32 or float64
//	         float16: count × 2 bytes, IEEE 754 binary16
//	         8-bit: a float32 scale for each 256 values, then count × int8; value = scale × code
package pack
