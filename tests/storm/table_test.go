// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"bytes"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"
)

// row is the summary of the jobs of one kind.
type row struct {
	kind                      string
	count, struck, well       int
	detected, resumed, longer []time.Duration
}

func (r *row) add(detected, resumed, longer time.Duration, struck, well bool) {
	r.count++
	if struck {
		r.struck++
		r.longer = append(r.longer, max(longer, 0))
	}
	if well {
		r.well++
	}
	if struck && detected > 0 {
		r.detected = append(r.detected, detected)
	}
	if struck && resumed > 0 {
		r.resumed = append(r.resumed, resumed)
	}
}

// table returns the results as text. longer is the additional duration compared with an
// undisturbed job: the pause, and the work that was lost.
func table(rows []*row) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fault\tjobs\tstruck\tas it should be\tdetected, s\t(max)\tresumed, s\t(max)\tlonger by, s\t(max)\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t", r.kind, r.count, r.struck, r.well)
		for _, all := range [][]time.Duration{r.detected, r.resumed, r.longer} {
			if len(all) == 0 {
				fmt.Fprint(w, "-\t-\t")
				continue
			}
			slices.Sort(all)
			fmt.Fprintf(w, "%.2f\t%.2f\t", all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
		}
		fmt.Fprintln(w)
	}
	w.Flush() // to memory
	return b.String()
}
