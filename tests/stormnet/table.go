// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"bytes"
	"fmt"
	"slices"
	"text/tabwriter"
)

// table returns the outcomes of the jobs by kind of fault. A job with several faults counts in
// the row of each.
func table(all []Outcome, want string) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fault\tjobs\tfinished\tfailed, named\twrong\tseconds, median\tmax\t")
	row := func(name string, is func(Scenario) bool) {
		var n, finished, named, wrong int
		var took []float64
		for _, o := range all {
			if !is(o.Scenario) {
				continue
			}
			n++
			took = append(took, o.Seconds)
			switch {
			case o.wrong(want) != "":
				wrong++
			case o.finished():
				finished++
			default:
				named++
			}
		}
		if n == 0 {
			return
		}
		slices.Sort(took)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t\n", name, n, finished, named, wrong, took[n/2], took[n-1])
	}
	for _, t := range traits {
		has := func(good bool) func(Scenario) bool {
			return func(s Scenario) bool {
				return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Kind == t.kind && f.forGood() == good })
			}
		}
		row(string(t.kind), has(false))
		row(string(t.kind)+", for good", has(true))
	}
	row("all with --on_loss wait", func(s Scenario) bool { return !s.Abort })
	row("all with --on_loss abort", func(s Scenario) bool { return s.Abort })
	if w.Flush() != nil {
		panic("BUG: stormnet: a buffer does not fail")
	}
	return b.String()
}
