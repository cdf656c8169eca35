// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDraw checks that a seed always gives the same job, that every kind is drawn, and that no
// scenario needs more than the available hosts.
func TestDraw(t *testing.T) {
	seen := map[Kind]int{}
	for n := range uint64(2000) {
		s := draw(1, n, time.Second)
		if diff := cmp.Diff(s, draw(1, n, time.Second)); diff != "" {
			t.Fatalf("job %d differs when it is drawn again:\n%s", n, diff)
		}
		if len(s.Faults) < 1 || len(s.Faults) > 3 {
			t.Errorf("job %d has %d faults", n, len(s.Faults))
		}
		failed := 0
		for _, is := range s.failed() {
			if is {
				failed++
			}
		}
		if failed > 2 || failed > spares {
			t.Errorf("job %d: %d hosts fail for good: %v", n, failed, s)
		}
		for _, f := range s.Faults {
			seen[f.Kind]++
			if trait := traitOf(f.Kind); trait.pair != (f.Other >= 0) || f.Other == f.Host || f.forGood() && !trait.forGood {
				t.Errorf("job %d: impossible fault %v", n, f)
			}
			if !strings.HasPrefix(f.String(), string(f.Kind)) {
				t.Errorf("%q does not begin with the kind", f)
			}
		}
	}
	for _, trait := range traits {
		if seen[trait.kind] == 0 {
			t.Errorf("%s is never drawn", trait.kind)
		}
	}
}

// TestVerdict checks the rules of Outcome.wrong.
func TestVerdict(t *testing.T) {
	const want = "m"
	good := Attempt{Ended: true, Model: want}
	four := func(change func(a []Attempt)) []Attempt {
		all := []Attempt{good, good, good, good}
		for i := range all {
			all[i].Rank, all[i].Host = i, i
		}
		change(all)
		return all
	}
	kill := Scenario{Faults: []Fault{{Kind: Kill, Host: 2, Other: -1}}}
	abort := Scenario{Abort: true, Faults: kill.Faults}
	down := Scenario{Faults: []Fault{{Kind: ServerKill, Other: -1}}}
	for _, c := range []struct {
		name    string
		outcome Outcome
		wrong   string // a part of it; "": nothing
	}{
		{"all well", Outcome{Scenario: kill, Attempts: four(func([]Attempt) {})}, ""},
		{"hung", Outcome{Scenario: kill, Hung: true, Attempts: four(func(a []Attempt) { a[3].Ended = false })}, "no end of rank 3 on h3"},
		{"other bytes", Outcome{Scenario: kill, Attempts: four(func(a []Attempt) { a[1].Model = "x" })}, "rank 1 on h1 left a model with other bytes"},
		{"failed without need", Outcome{Scenario: kill, Attempts: four(func(a []Attempt) { a[1] = Attempt{Rank: 1, Ended: true, Code: 3} })}, "although enough hosts"},
		{"replaced on a spare host", Outcome{Scenario: kill, Attempts: append(four(func(a []Attempt) { a[1] = Attempt{Rank: 1, Lost: true} }), Attempt{Rank: 1, Host: 4, Spare: true, Ended: true, Model: want})}, ""},
		{"aborts and names the rank", Outcome{Scenario: abort, Attempts: four(func(a []Attempt) { a[1] = Attempt{Rank: 1, Ended: true, Code: 3, Last: "gvw: lost rank 2 (h2)"} })}, ""},
		{"aborts and names another rank", Outcome{Scenario: abort, Attempts: four(func(a []Attempt) {
			a[1] = Attempt{Rank: 1, Host: 1, Ended: true, Code: 3, Last: "gvw: lost rank 3 (h3)"}
		})}, "rank 1 on h1 names no fault"},
		{"no server any more", Outcome{Scenario: down, Attempts: four(func(a []Attempt) { a[1] = Attempt{Rank: 1, Ended: true, Code: 3, Last: "cannot reach the server"} })}, ""},
	} {
		if got := c.outcome.wrong(want); got != c.wrong && (c.wrong == "" || !strings.Contains(got, c.wrong)) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.wrong)
		}
	}
}
