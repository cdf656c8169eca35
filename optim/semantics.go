// SPDX-License-Identifier: Apache-2.0

package optim

import "fmt"

// Semantics is the version of vw with which a solver agrees. They differ in the
// preconditioner; see docs/bfgs.md.
type Semantics uint8

const (
	// VW7 sums the diagonal of the Hessian over all ranks, inverts the sum and
	// keeps it, as vw 7.10 does.
	VW7 Semantics = iota
	// VW9 follows vw since 8.2.0: each rank inverts its own diagonal,
	// the inverses are summed, and after the first direction the inverse of the
	// regulariser takes their place. It is for jobs with ranks of vw 9.
	VW9
)

// ParseSemantics parses the output of String.
func ParseSemantics(s string) (Semantics, error) {
	switch s {
	case "vw7":
		return VW7, nil
	case "vw9":
		return VW9, nil
	}
	return VW7, fmt.Errorf("optim: semantics %q: use vw7 or vw9", s)
}

// String returns the name that options use.
func (s Semantics) String() string {
	switch s {
	case VW7:
		return "vw7"
	case VW9:
		return "vw9"
	}
	return fmt.Sprintf("Semantics(%d)", uint8(s))
}
