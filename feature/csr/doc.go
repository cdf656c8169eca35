// SPDX-License-Identifier: Apache-2.0

// Package csr reads examples as binary frames of a matrix in compressed sparse row form, for
// programs that hold numbers and should not print them. A frame has some rows:
//
//	offset  bytes       field                                        all little-endian
//	     0  4           "gvwR"
//	     4  u32         flags: 1 labels, 2 weights, and at most one of 4 dense, 8 u8 and 16 u16 indices
//	     8  u32         n, the number of rows
//	    12  u32         m, the number of values; of a dense frame the number of columns
//	    16  f32 × n     labels, if flag 1 is set
//	        f32 × n     importance weights, if flag 2 is set
//	        u32 × n     values of each row, m together; not in a dense frame
//	        u32 × m     index of each value, row by row; u8 × m with flag 8, u16 × m with flag 16; not in a dense frame
//	        f32 × m     values; of a dense frame n × m, row by row
//
// and
//
//	p, err := csr.NewParser(feature.Config{Bits: 18})
//	err = p.AppendLine(&batch, frame, 1)
//
// adds to the batch what a [feature.Parser] adds for the lines "label weight | index:value ..".
// [Length] finds the end of a frame in a stream.
//
// # Mapping
//
// An index is the name of a feature of the default namespace, as in package libsvm: names of
// digits are not hashed unless feature.Config.HashAll is set. Column i of a dense frame has
// index i. The value 0 is no feature. Without flag 1 the rows have no labels; without flag 2
// their weight is 1.
//
// # Contract
//
// A frame with an unknown flag, with counts that do not add up, or with a label, weight or
// value that is not a number is an error that names frame and row. The batch is then unchanged.
// A dense frame without columns, labels and weights has no bytes for its rows: it is an error if the
// batch would have more than 65,536 examples with it.
// Nothing is allocated per example.
package csr
