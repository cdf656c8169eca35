// SPDX-License-Identifier: Apache-2.0

package rundir

import "fmt"

// TakenError says that another run has the same key.
type TakenError struct {
	Run, Path string
	Differs   string // what it has otherwise; "": not known
}

func (e *TakenError) Error() string {
	s := fmt.Sprintf("run %s has been here with other options", e.Run)
	if e.Differs != "" {
		s += " (" + e.Differs + ")"
	}
	return fmt.Sprintf("%s, and has left files in %s: give this run another --run_id, or remove that folder", s, e.Path)
}

// MissingError says that the run's place has not what was asked for.
type MissingError struct {
	Run, What string
	Why       string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s of run %s cannot be copied from the run's own place: %s: if it was removed, or is on another machine, train again under another --run_id", e.What, e.Run, e.Why)
}
