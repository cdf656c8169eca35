// SPDX-License-Identifier: Apache-2.0

package rundir

import "fmt"

// RunIDConflictError reports that another run has the same key.
type RunIDConflictError struct {
	Run, Path string
	Differs   string // the differences of its options; "": unknown
}

func (e *RunIDConflictError) Error() string {
	s := fmt.Sprintf("run %s exists with other options", e.Run)
	if e.Differs != "" {
		s += " (" + e.Differs + ")"
	}
	return fmt.Sprintf("%s and has files in %s: use another run ID, or remove that directory", s, e.Path)
}

// MissingError reports that the run directory lacks a requested file.
type MissingError struct {
	Run, What string
	Why       string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s of run %s cannot be copied from the run directory: %s: if it was removed, or is on another machine, train again with another run ID", e.What, e.Run, e.Why)
}
