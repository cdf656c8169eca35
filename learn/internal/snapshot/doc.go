// SPDX-License-Identifier: Apache-2.0

// Package snapshot codes the state of a training, for another rank or for a checkpoint. A
// [Coder] reads and writes small fields by the same code. A [Snapshot] has these fields and the
// long arrays, such as weights.
//
// Nothing that is read is trusted: a checkpoint may be damaged, and a rank may run another
// version of gvw. A length allocates no memory before the bytes have arrived, and an array must
// have the length that the reader expects from its own options.
package snapshot
