// SPDX-License-Identifier: Apache-2.0

// Package invariant has checks that cost nothing in a release.
//
// An invariant is a statement about our own code that no input can break. Where
// one is cheap, write a plain panic; where it would cost time in a hot loop,
// guard it:
//
//	if invariant.Enabled {
//		invariant.Check(len(dst) == len(src), "add: %d values into %d", len(src), len(dst))
//	}
//
// [Enabled] is a constant, so without the build tag "invariant" the compiler
// removes the whole statement, arguments included. A test of this package searches
// the programs for the texts of all checks. Race builds enable the checks, so every
// run of the tests under the race detector includes them.
//
// The checks are placed where state machines complete a step: after each event of the server
// (internal/spantree/core), where a schedule advances (allreduce/schedule), and where
// a link sends and receives a part.
//
// Never check input, network or files here: their faults are errors.
package invariant

import "fmt"

// Check panics with the text if ok is false.
func Check(ok bool, format string, args ...any) {
	if !ok {
		Fail(format, args...)
	}
}

// Fail panics with the text. Use it where a condition is part of a larger check, so that
// the arguments are evaluated only when an invariant is broken.
func Fail(format string, args ...any) {
	panic("BUG: " + fmt.Sprintf(format, args...))
}
