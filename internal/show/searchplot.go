// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/search/journal"
)

// searchLines returns the picture of the losses of a search. x is trial (or empty), time, pass, or an option that is varied.
func searchLines(h *journal.Header, all []journal.Outcome, x string) (*chart.Lines, error) {
	failed := 0
	varied := map[string]bool{}
	for _, o := range all {
		if o.Loss == nil {
			failed++
		}
		for name := range o.Options {
			varied[name] = true
		}
	}
	if len(all) == failed {
		return nil, fmt.Errorf("got %d trainings with a loss, want at least one", len(all)-failed)
	}
	l := &chart.Lines{Title: fmt.Sprintf("Losses of %d trainings", len(all)-failed), Y: "loss"}
	if failed > 0 {
		l.Title += fmt.Sprintf(", %d failed", failed)
	}
	switch {
	case varied[x]:
		byOption(l, h, all, x)
	case x == "" || x == "trial":
		l.X, l.Whole = "trainings in the order of their ends", true
		inOrder(l, h, all, func(i int, _ float64) float64 { return float64(i + 1) })
	case x == "time":
		l.X, l.ZeroX = "seconds of all trainings together", true
		inOrder(l, h, all, func(_ int, seconds float64) float64 { return seconds })
	case (x == "pass" || x == h.Resource) && h.Resource != "":
		byAmount(l, h, all)
	case x == "pass":
		return nil, fmt.Errorf("--x pass: each trial of strategy %s has made a whole training: use trial, time, or %s", h.Strategy, options(varied))
	default:
		return nil, fmt.Errorf("--x: got %q, want trial, time, pass, or %s", x, options(varied))
	}
	wideY(l)
	return l, nil
}

// options returns the names of options for a message.
func options(varied map[string]bool) string {
	names := slices.Sorted(maps.Keys(varied))
	if len(names) == 1 {
		return "the option " + names[0]
	}
	return "one of the options " + strings.Join(names, ", ")
}

// most returns the greatest amount of the resource that a training has had.
func most(all []journal.Outcome) (n int) {
	for _, o := range all {
		if o.Loss != nil {
			n = max(n, o.Resource)
		}
	}
	return n
}

// amount names an amount of the resource.
func amount(h *journal.Header, n int) string {
	if h.Resource == "" {
		return "trainings"
	}
	return fmt.Sprintf("%d %s", n, h.Resource)
}

// byResource adds the series of points for each amount of the resource: losses of different amounts cannot be compared.
func byResource(l *chart.Lines, h *journal.Header, all []journal.Outcome, x func(i int, o *journal.Outcome) float64) {
	for _, n := range amounts(all) { // those of the greatest amount are drawn last, above the others
		s := chart.Series{Name: amount(h, n), Points: true}
		for i := range all {
			if o := &all[i]; o.Resource == n && o.Loss != nil {
				s.X, s.Y = append(s.X, x(i, o)), append(s.Y, *o.Loss)
			}
		}
		l.Series = append(l.Series, s)
	}
}

// amounts returns the amounts of the resource, in ascending order.
func amounts(all []journal.Outcome) []int {
	seen := map[int]bool{}
	for _, o := range all {
		if o.Loss != nil {
			seen[o.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// inOrder adds the trainings in the order in which they have ended, and the best loss so far of those with the whole resource.
// x returns the position of the training i, at whose end all have taken some seconds.
func inOrder(l *chart.Lines, h *journal.Header, all []journal.Outcome, x func(i int, seconds float64) float64) {
	at := make([]float64, len(all))
	best := chart.Series{Name: "best so far"}
	seconds, whole := 0.0, most(all)
	for i, o := range all {
		seconds += o.Seconds
		at[i] = x(i, seconds)
		if o.Loss != nil && o.Resource == whole {
			y := *o.Loss
			if n := len(best.Y); n > 0 {
				best.X, best.Y = append(best.X, at[i]), append(best.Y, best.Y[n-1]) // a step
				y = min(y, best.Y[n-1])
			}
			best.X, best.Y = append(best.X, at[i]), append(best.Y, y)
		}
	}
	l.Series = append(l.Series, best)
	byResource(l, h, all, func(i int, _ *journal.Outcome) float64 { return at[i] })
}

// byAmount adds the trainings by their amount of the resource, and the best loss of each.
func byAmount(l *chart.Lines, h *journal.Header, all []journal.Outcome) {
	l.X, l.Whole = h.Resource+" of a training", true
	best := chart.Series{Name: "best"}
	every := chart.Series{Name: "trainings", Points: true}
	for _, n := range amounts(all) {
		var losses []float64
		for _, o := range all {
			if o.Resource == n && o.Loss != nil {
				losses = append(losses, *o.Loss)
				every.X, every.Y = append(every.X, float64(n)), append(every.Y, *o.Loss)
			}
		}
		best.X, best.Y = append(best.X, float64(n)), append(best.Y, slices.Min(losses))
	}
	l.Series = []chart.Series{best, every}
}

// byOption adds the trainings by the value of an option.
func byOption(l *chart.Lines, h *journal.Header, all []journal.Outcome, option string) {
	l.X = option
	values := map[string]float64{}
	numbers, lo, hi := true, 0.0, 0.0
	for _, o := range all {
		text := o.Options[option]
		v, err := strconv.ParseFloat(text, 64)
		if numbers = numbers && err == nil; !numbers {
			break
		}
		if len(values) == 0 {
			lo, hi = v, v
		}
		lo, hi, values[text] = min(lo, v), max(hi, v), v
	}
	if numbers {
		l.LogX = lo > 0 && hi > 30*lo
	} else {
		names := map[string]bool{}
		for _, o := range all {
			names[o.Options[option]] = true
		}
		l.Names = slices.Sorted(maps.Keys(names))
		clear(values)
		for i, name := range l.Names {
			values[name] = float64(i)
		}
	}
	byResource(l, h, all, func(_ int, o *journal.Outcome) float64 { return values[o.Options[option]] })
}

// wideY makes the axis of losses logarithmic if they differ by a large factor.
func wideY(l *chart.Lines) {
	lo, hi := 0.0, 0.0
	for _, s := range l.Series {
		if len(s.Y) == 0 {
			continue
		}
		if hi == 0 {
			lo = s.Y[0]
		}
		lo, hi = min(lo, slices.Min(s.Y)), max(hi, slices.Max(s.Y))
	}
	l.LogY = lo > 0 && hi > 30*lo
}
