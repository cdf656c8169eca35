// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Outcome is the outcome of a job.
type Outcome struct {
	Scenario Scenario
	Hung     bool
	Attempts []Attempt
	Seconds  float64 // from the start of the ranks to the end of the last one
}

// Attempt is the outcome of one supervised rank.
type Attempt struct {
	Rank, Host int
	Spare      bool // started on a spare host after the rank's own had failed
	Lost       bool // it was stopped or cut off permanently, and killed at the end of the job
	Ended      bool
	Code       int    // of the exit; -1: ended by a signal
	Model      string // "": none; else the hexadecimal SHA-256 of the file
	Last       string // the last line on stderr
}

// finished reports whether the job has succeeded: one attempt of every rank has exited with 0
// and left a model.
func (o Outcome) finished() bool {
	for rank := range ranks {
		if !slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Rank == rank && a.Code == 0 && a.Ended && a.Model != "" }) {
			return false
		}
	}
	return true
}

// mustFinish reports whether the remaining cluster is enough for a job that recovers.
func (s Scenario) mustFinish() bool {
	if s.Abort {
		return false
	}
	return !s.withoutServer()
}

// causes returns patterns; the last line of a failed rank must match one of them.
func (s Scenario) causes() []string {
	var all []string
	for _, f := range s.Faults {
		hosts := fmt.Sprintf(`rank %d\b`, f.Host)
		if f.Other >= 0 {
			hosts += fmt.Sprintf(`|rank %d\b`, f.Other)
		}
		switch f.Kind {
		case DiskFull:
			all = append(all, `no space left`, hosts)
		case ReadOnly:
			all = append(all, `read-only`, hosts)
		case Frozen, Shared, ServerDisk:
			all = append(all, `disk\.`, `server`, hosts)
		case Descriptors:
			all = append(all, `too many open files`, hosts)
		case Memory:
			all = append(all, `memory`, hosts)
		case ServerStop, ServerKill, CutServer, CutAll:
			all = append(all, `server`, hosts)
		default:
			all = append(all, hosts)
		}
	}
	return all
}

// wrong returns the fault of the outcome, or "". want is the hash of the model of an
// undisturbed job.
func (o Outcome) wrong(want string) string {
	if o.Hung {
		var left []string
		for _, a := range o.Attempts {
			if !a.Ended && !a.Lost {
				left = append(left, fmt.Sprintf("rank %d on h%d", a.Rank, a.Host))
			}
		}
		return "no end of " + strings.Join(left, ", ")
	}
	for _, a := range o.Attempts {
		if a.Model != "" && a.Model != want {
			return fmt.Sprintf("rank %d on h%d left a model with other bytes", a.Rank, a.Host)
		}
	}
	if o.finished() {
		return ""
	}
	if o.Scenario.mustFinish() {
		return "the job failed although enough hosts and disks are left"
	}
	cause := regexp.MustCompile(strings.Join(o.Scenario.causes(), "|"))
	for _, a := range o.Attempts {
		if a.Ended && !a.Lost && a.Code > 0 && !cause.MatchString(a.Last) {
			return fmt.Sprintf("the last line of rank %d on h%d names no fault that struck: %q", a.Rank, a.Host, a.Last)
		}
	}
	return ""
}
