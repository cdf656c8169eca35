// SPDX-License-Identifier: Apache-2.0

// Package snapshot codes the state of a training, for another rank or for a
// checkpoint: small fields by a [Coder], which reads and writes by the same
// code, and arrays in a [Snapshot].
package snapshot
