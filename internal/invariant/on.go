// SPDX-License-Identifier: Apache-2.0

//go:build invariant || race

package invariant

// Enabled reports whether this build checks its invariants.
const Enabled = true
