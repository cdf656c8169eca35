// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/search/journal"
)

// halving returns the outcomes of a search with two amounts of passes.
func halving() (*journal.Header, []journal.Outcome) {
	loss := func(x float64) *float64 { return &x }
	options := func(rate, adaptive string) map[string]string {
		return map[string]string{"learning_rate": rate, "adaptive": adaptive}
	}
	return &journal.Header{Strategy: "asha", Resource: "passes"}, []journal.Outcome{
		{Trial: 0, Resource: 1, Options: options("0.1", "on"), Loss: loss(0.2), Seconds: 1},
		{Trial: 1, Resource: 3, Options: options("9", "off"), Loss: loss(0.4), Seconds: 2},
		{Trial: 2, Resource: 1, Options: options("5", "off"), Seconds: 4},
		{Trial: 0, Resource: 3, Options: options("0.1", "on"), Loss: loss(0.3), Seconds: 8},
		{Trial: 3, Resource: 3, Options: options("1", "on"), Loss: loss(0.35), Seconds: 16},
	}
}

// The best so far is among trainings with the whole resource, and falls in steps.
func TestSearchLines(t *testing.T) {
	t.Parallel()
	h, all := halving()
	best := []float64{0.4, 0.4, 0.3, 0.3, 0.3}
	one, three := []float64{0.2}, []float64{0.4, 0.3, 0.35}
	for x, want := range map[string][]chart.Series{
		"trial": {
			{Name: "best so far", X: []float64{2, 4, 4, 5, 5}, Y: best},
			{Name: "1 passes", X: []float64{1}, Y: one, Points: true},
			{Name: "3 passes", X: []float64{2, 4, 5}, Y: three, Points: true},
		},
		"time": {
			{Name: "best so far", X: []float64{3, 15, 15, 31, 31}, Y: best},
			{Name: "1 passes", X: []float64{1}, Y: one, Points: true},
			{Name: "3 passes", X: []float64{3, 15, 31}, Y: three, Points: true},
		},
		"pass": {
			{Name: "best", X: []float64{1, 3}, Y: []float64{0.2, 0.3}},
			{Name: "trainings", X: []float64{1, 3, 3, 3}, Y: []float64{0.2, 0.4, 0.3, 0.35}, Points: true},
		},
		"learning_rate": {
			{Name: "1 passes", X: []float64{0.1}, Y: one, Points: true},
			{Name: "3 passes", X: []float64{9, 0.1, 1}, Y: three, Points: true},
		},
		"adaptive": {
			{Name: "1 passes", X: []float64{1}, Y: one, Points: true},
			{Name: "3 passes", X: []float64{0, 1, 1}, Y: three, Points: true},
		},
	} {
		l, err := searchLines(h, all, x)
		if err != nil {
			t.Errorf("%s: %v", x, err)
			continue
		}
		if d := cmp.Diff(want, l.Series); d != "" {
			t.Errorf("%s: -want +got:\n%s", x, d)
		}
		if names := strings.Join(l.Names, " "); x == "adaptive" != (names == "off on") || x == "learning_rate" != l.LogX {
			t.Errorf("%s: names %q, logarithmic %v", x, names, l.LogX)
		}
		if l.Title != "Losses of 4 trainings, 1 failed" {
			t.Errorf("%s: title %q", x, l.Title)
		}
	}
}

func TestSearchWithoutPicture(t *testing.T) {
	t.Parallel()
	h, all := halving()
	random := &journal.Header{Strategy: "random"}
	for _, c := range []struct {
		h    *journal.Header
		all  []journal.Outcome
		x    string
		want string
	}{
		{h, nil, "", "got 0 trainings with a loss, want at least one"},
		{h, all[2:3], "", "got 0 trainings with a loss, want at least one"},
		{random, all, "pass", "--x pass: each trial of strategy random has made a whole training: use trial, time, or one of the options adaptive, learning_rate"},
		{h, all, "l", `--x: got "l", want trial, time, pass, or one of the options adaptive, learning_rate`},
	} {
		if _, err := searchLines(c.h, c.all, c.x); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.x, err, c.want)
		}
	}
}
