// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/search/strategy"
)

// header is the first line of a journal: the settings that determine the jobs.
type header struct {
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

// journalFormat names the format of journals.
const journalFormat = "gvw search 1"

// outcome is a line of a journal, for a job that has finished.
type outcome struct {
	Trial    int               `json:"trial"`
	Resource int               `json:"resource,omitempty"`
	Options  map[string]string `json:"options"`
	Loss     *float64          `json:"loss"` // null: the job failed
	Seconds  float64           `json:"seconds"`
	CPU      float64           `json:"cpu_seconds"`
	Error    string            `json:"error,omitempty"`
	Code     int               `json:"exit_code,omitempty"`
}

// loss returns the loss, infinite if the job failed.
func (o *outcome) loss() float64 {
	if o.Loss == nil {
		return math.Inf(1)
	}
	return *o.Loss
}

// place identifies a job of a search.
type place struct{ trial, resource int }

// parseJournal returns the outcomes of a journal and the length of its whole lines. A last line that
// is incomplete is left out: the process was killed while it wrote. A journal of another search is an error.
func parseJournal(name string, text []byte, want header) (done map[place]outcome, whole int, err error) {
	done = map[place]outcome{}
	for n := 1; whole < len(text); n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			break
		}
		line := text[whole : whole+end]
		whole += end + 1
		if n == 1 {
			var got header
			if err := json.Unmarshal(line, &got); err != nil || got.Journal != journalFormat {
				return nil, 0, cli.Usagef("%s is no journal of a search (%s): give another file", name, journalFormat)
			}
			if field, g, w := got.differs(want); field != "" {
				return nil, 0, cli.Usagef("%s is of another search: %s is %s there and %s now: give another file, or the same settings", name, field, g, w)
			}
			continue
		}
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, 0, fmt.Errorf("%s, line %d: %w: remove the line, and the job is run again", name, n, err)
		}
		done[place{o.Trial, o.Resource}] = o
	}
	return done, whole, nil
}

// differs returns the first field in which two headers differ, with both values.
func (h header) differs(o header) (field, got, want string) {
	fields := func(h header) (all [][2]string) {
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
				panic("BUG: search: " + err.Error())
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

// journal appends outcomes to a file. Each line is synced: a finished job is not lost by a crash of the machine.
type journal struct{ f *os.File }

// openJournal opens or begins the journal of a search. The caller closes it.
func openJournal(name string, h header) (*journal, map[place]outcome, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	done, whole, err := parseJournal(name, text, h)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{f}
	if err = f.Truncate(int64(whole)); err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil && whole == 0 {
		err = j.add(h)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, done, nil
}

// add appends a line.
func (j *journal) add(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(append(text, '\n')); err != nil {
		return err
	}
	return j.f.Sync()
}

func (j *journal) Close() error { return j.f.Close() }

// best returns the index of the outcome with the smallest loss among those with the most resource
// that succeeded, or -1. The losses of smaller amounts are not comparable with it.
func best(all []outcome) int {
	at := -1
	for i, o := range all {
		switch {
		case o.Loss == nil || math.IsNaN(*o.Loss):
		case at < 0, o.Resource > all[at].Resource, o.Resource == all[at].Resource && *o.Loss < *all[at].Loss:
			at = i
		}
	}
	return at
}

// ordered returns the outcomes for the table: the most resource first, then by loss.
func ordered(all []outcome) []outcome {
	return slices.SortedStableFunc(slices.Values(all), func(a, b outcome) int {
		if a.Resource != b.Resource {
			return b.Resource - a.Resource
		}
		switch la, lb := a.loss(), b.loss(); {
		case la < lb:
			return -1
		case lb < la:
			return 1
		}
		return a.Trial - b.Trial
	})
}

// optionsOf returns the values of a job by option.
func optionsOf(space strategy.Space, j strategy.Job) map[string]string {
	m := make(map[string]string, len(space))
	for i, d := range space {
		m[d.Name] = j.Values[i]
	}
	return m
}
