// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Header is the first line of a journal: the settings that determine the jobs.
type Header struct {
	Journal  string   `json:"journal"` // the format and its version
	Command  []string `json:"command"` // that trials vary
	Space    string   `json:"space"`
	Strategy string   `json:"strategy"`
	Seed     uint64   `json:"seed"`
	Trials   int      `json:"trials"`
	Eta      int      `json:"eta"`
	Resource string   `json:"resource,omitempty"` // option that the amounts of rungs set
	Rungs    []int    `json:"rungs"`
	Parallel int      `json:"parallel"`
	Tol      float64  `json:"tolerance,omitempty"`
}

// Format names the format of journals.
const Format = "gvw search 1"

// Outcome is a line of a journal, for a job that has finished.
type Outcome struct {
	Trial    int               `json:"trial"`
	Resource int               `json:"resource,omitempty"`
	Options  map[string]string `json:"options"`
	Loss     *float64          `json:"loss"` // null: the job failed
	Seconds  float64           `json:"seconds"`
	CPU      float64           `json:"cpu_seconds"`
	Error    string            `json:"error,omitempty"`
	Code     int               `json:"exit_code,omitempty"`
}

// Known returns the loss, infinite if the job failed.
func (o *Outcome) Known() float64 {
	if o.Loss == nil {
		return math.Inf(1)
	}
	return *o.Loss
}

// ErrFormat is the error of a file that is no journal.
var ErrFormat = errors.New("want a journal of a search (" + Format + ")")

// Parse returns the header of a journal, its outcomes in the order in which the jobs have ended, and the length of its whole
// lines. A last line that is incomplete is left out: the process was killed while it wrote. An empty text has no header.
func Parse(text []byte) (h *Header, all []Outcome, whole int, err error) {
	for n := 1; whole < len(text); n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			break
		}
		line := text[whole : whole+end]
		whole += end + 1
		if n == 1 {
			h = &Header{}
			if err := json.Unmarshal(line, h); err != nil || h.Journal != Format {
				return nil, nil, 0, ErrFormat
			}
			continue
		}
		var o Outcome
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, nil, 0, fmt.Errorf("line %d: %w: remove the line, and the job is run again", n, err)
		}
		all = append(all, o)
	}
	return h, all, whole, nil
}

// Differs returns the first field in which two headers differ, with both values.
func (h *Header) Differs(o *Header) (field, got, want string) {
	fields := func(h *Header) (all [][2]string) {
		for _, f := range []struct {
			name  string
			value any
		}{
			{"the command", h.Command},
			{"the space", h.Space},
			{"the strategy", h.Strategy},
			{"the seed", h.Seed},
			{"the number of trials", h.Trials},
			{"eta", h.Eta},
			{"the resource", h.Resource},
			{"the list of rungs", h.Rungs},
			{"the number of parallel jobs", h.Parallel},
			{"the tolerance", h.Tol},
		} {
			text, err := json.Marshal(f.value)
			if err != nil {
				panic("BUG: journal: " + err.Error())
			}
			all = append(all, [2]string{f.name, string(text)})
		}
		return all
	}
	g, w := fields(h), fields(o)
	for i := range g {
		if g[i] != w[i] {
			return g[i][0], g[i][1], w[i][1]
		}
	}
	return "", "", ""
}
