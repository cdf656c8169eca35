// SPDX-License-Identifier: Apache-2.0

// Package invariant holds checks that cost nothing in a release.
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
// removes the whole statement, arguments included. Race builds switch it on:
// whoever looks for races wants to know about broken invariants too.
//
// Input, network and files are never checked here: those are errors.
package invariant

import "fmt"

// Check panics if ok is false. The text says what should have held.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("BUG: " + fmt.Sprintf(format, args...))
	}
}
