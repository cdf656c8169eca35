// SPDX-License-Identifier: Apache-2.0

//go:build 386 || arm || mips || mipsle

package mem

// Counts of examples, sizes of tables and offsets in files are ints, and exceed 32 bits. The
// build is therefore refused, with an identifier that contains the reason.
var _ = gvwNeedsA64BitProcessor
