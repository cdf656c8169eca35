// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/gvw-project/gvw/internal/cli"
	format "github.com/gvw-project/gvw/internal/search/journal"
	"github.com/gvw-project/gvw/internal/search/strategy"
)

// The lines of a journal.
type (
	header  = format.Header
	outcome = format.Outcome
)

// place identifies a job of a search.
type place struct{ trial, resource int }

// parseJournal returns the outcomes of a journal and the length of its whole lines. A journal of another search is an error.
func parseJournal(name string, text []byte, want header) (done map[place]outcome, whole int, err error) {
	got, all, whole, err := format.Parse(text)
	if errors.Is(err, format.ErrFormat) {
		return nil, 0, cli.Usagef("%s is no journal of a search (%s): give another file", name, format.Format)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s, %w", name, err)
	}
	if got != nil {
		if field, g, w := got.Differs(&want); field != "" {
			return nil, 0, cli.Usagef("%s is of another search: %s is %s there and %s now: give another file, or the same settings", name, field, g, w)
		}
	}
	done = map[place]outcome{}
	for _, o := range all {
		done[place{o.Trial, o.Resource}] = o
	}
	return done, whole, nil
}

// journal appends outcomes to a file. Each line is synced: a finished job is not lost by a crash of the machine.
type journal struct{ f *os.File }

// openJournal opens or begins the journal of a search, and locks it. The caller closes it.
func openJournal(name string, h header) (*journal, map[place]outcome, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{f}
	done, err := j.begin(h)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, done, nil
}

// begin locks the file, returns its outcomes, and makes it ready for the next ones. The file stays as it is if another search
// uses it or if it is not a journal of the search of h.
func (j *journal) begin(h header) (map[place]outcome, error) {
	if err := lock(j.f); err != nil {
		if errors.Is(err, errLocked) {
			return nil, cli.Usagef("%s: another search is using it: wait for its end, or give another file", j.f.Name())
		}
		return nil, fmt.Errorf("cannot lock %s: %w", j.f.Name(), err)
	}
	text, err := io.ReadAll(j.f)
	if err != nil {
		return nil, err
	}
	done, whole, err := parseJournal(j.f.Name(), text, h)
	if err != nil {
		return nil, err
	}
	if err = j.f.Truncate(int64(whole)); err == nil {
		_, err = j.f.Seek(0, io.SeekEnd)
	}
	if err == nil && whole == 0 {
		err = j.add(h)
	}
	return done, err
}

// errLocked is the error of lock if another search has locked the file.
var errLocked = errors.New("it is locked")

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
		switch la, lb := a.Known(), b.Known(); {
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
