// SPDX-License-Identifier: Apache-2.0

//go:build 386 || arm || mips || mipsle

package mem

// Counts of examples, sizes of tables and offsets in files are ints, and exceed 32 bits; so
// the build is refused here, by a name that gives the reason.
var _ = gvwNeedsA64BitProcessor
