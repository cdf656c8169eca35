// SPDX-License-Identifier: Apache-2.0

package core

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// add adds the changes of another machine.
func (c *phaseChanges) add(d phaseChanges) {
	for from := range d {
		for to, n := range d[from] {
			c[from][to] += n
		}
	}
}

// check reports the changes that nextPhases does not allow.
func (c *phaseChanges) check(t interface {
	Helper()
	Errorf(string, ...any)
},
) {
	t.Helper()
	for from := range phases {
		for to, n := range c[from] {
			if n > 0 && !slices.Contains(nextPhases[from], phase(to)) {
				t.Errorf("%d changes from %v to %v, want none", n, from, phase(to))
			}
		}
	}
}

// The transcripts contain all changes of phase that a job may have, and no others.
func TestTranscriptsCoverAllPhaseChanges(t *testing.T) {
	files, err := filepath.Glob("testdata/machine/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all phaseChanges
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, changes := playTranscript(t, string(text))
		all.add(changes)
	}
	all.check(t)
	for from, next := range nextPhases {
		for _, to := range next {
			if all[from][to] == 0 {
				t.Errorf("no transcript has a change from %v to %v", phase(from), to)
			}
		}
	}
}

// Arbitrary events cause no other changes of phase.
func TestArbitraryEventsKeepToThePhases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := playMachine(t, rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "script"))
		m.phaseChanges.check(t)
	})
}
