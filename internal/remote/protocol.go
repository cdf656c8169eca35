// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"strings"
	"time"
)

// Order is what a worker is to do.
type Order struct {
	Run     string   `json:"run"`     // identity of the run and the worker: letters, digits, - and .
	Attempt int      `json:"attempt"` // from 1. A greater one ends the worker of a smaller one
	Dir     string   `json:"dir"`     // working directory
	Args    []string `json:"args"`    // of gvw
	Env     []string `json:"env"`     // variables beside those of the machine
	Ranks   int      `json:"ranks"`   // on this machine, which share its processors; 0: not known, nothing is shared
	Threads int      `json:"threads"` // of each rank that learn; 0: 1
	Secret  []byte   `json:"secret"`  // of the run; nil: none
	Offset  int64    `json:"offset"`  // bytes of the diagnostics that the tether has already
}

// validRun reports whether a name is a run's: 1 to 128 letters, digits, - and ., of which the
// first is a letter or a digit. It is no regular expression, since every process would
// compile it at its start.
func validRun(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z':
		case i > 0 && (c == '-' || c == '.'):
		default:
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 128
}

// validate returns an error for an order that could name a file elsewhere.
func (o *Order) validate() error {
	if !validRun(o.Run) || o.Attempt < 1 || o.Offset < 0 {
		return fmt.Errorf("an order for run %q, attempt %d, offset %d is not valid", o.Run, o.Attempt, o.Offset)
	}
	return nil
}

// Report is what the front sends: a part of the diagnostics, the end, or nothing to show that it is alive.
type Report struct {
	Log   []byte `json:"log,omitempty"`
	Ended *End   `json:"ended,omitempty"`
	Error string `json:"error,omitempty"` // the worker could not be started
}

// End is the end of a worker.
type End struct {
	Code   int    `json:"code"`             // 128+s: ended by signal s
	Signal int    `json:"signal,omitempty"` // 0: it exited
	Error  string `json:"error,omitempty"`
}

const (
	// reportEvery is the longest time between two reports.
	reportEvery = 2 * time.Second
	// silentAfter is the time without a report after which a connection counts as lost.
	silentAfter = 15 * time.Second
	// answerWithin is the time for a tether to answer the report of the end, as long as there is a connection. It is long,
	// because the launcher may be stopped meanwhile.
	answerWithin = 12 * time.Hour
	// lookEvery is the time between two looks at the keeper's files.
	lookEvery = 100 * time.Millisecond
	// maxLog is the most that a report has of the diagnostics, in bytes.
	maxLog = 64 << 10
	// wordEnd is the tether's request to end the worker, wordDone its receipt for the end.
	wordEnd, wordDone = "end", "done"
)

// Quote returns a word for a POSIX shell.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
