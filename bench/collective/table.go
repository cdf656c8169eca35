// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteJSON writes each figure as one JSON object on a line.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	for _, f := range r.Figures {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes the figures as a text table: times, CPU and, with peers, the ratio of our
// best schedule to each peer.
func (r *Result) WriteTable(w io.Writer) error {
	var b strings.Builder
	c := r.Config
	sum := "on"
	if c.NoChecksum {
		sum = "off"
	}
	fmt.Fprintf(&b, "%d ranks over %s, checksum %s, %d rounds: all-reduce, sum of float32, in place\n", c.Ranks, c.Transport, sum, c.Rounds)
	b.WriteString("\ntime of a call, median (best)\n")
	r.rows(&b, func(f Figure) string { return fmt.Sprintf("%s (%s)", micros(f.MedianUS), micros(f.BestUS)) })
	b.WriteString("\nCPU of a call, all ranks\n")
	r.rows(&b, func(f Figure) string { return micros(f.CPUUS) })
	if c.Peers {
		b.WriteString("\nour best schedule / peer, by median\n")
		r.ratios(&b, ourName)
		if c.Alloc {
			b.WriteString("\nthe same with vectors from allreduce.Alloc\n")
			r.ratios(&b, allocName)
		}
		for _, a := range r.Absent {
			fmt.Fprintf(&b, "\nnot measured: %s: %s\n", a.System, a.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows writes a line per system and a column per size.
func (r *Result) rows(b *strings.Builder, cell func(Figure) string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "system\tschedule")
	for _, n := range r.Config.Sizes {
		fmt.Fprintf(t, "\t%s", size(n))
	}
	fmt.Fprintln(t)
	for _, s := range r.systems() {
		fmt.Fprintf(t, "%s\t%s", s[0], s[1])
		for _, n := range r.Config.Sizes {
			text := "-"
			if f, ok := r.figure(s, n); ok {
				text = cell(f)
			}
			fmt.Fprintf(t, "\t%s", text)
		}
		fmt.Fprintln(t)
	}
	t.Flush() // cannot fail: the buffer is in memory
}

// ratios writes a line per peer, beside one of our systems.
func (r *Result) ratios(b *strings.Builder, ours string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "peer")
	for _, n := range r.Config.Sizes {
		fmt.Fprintf(t, "\t%s", size(n))
	}
	fmt.Fprintln(t)
	for _, s := range r.systems() {
		if s[0] == ourName || s[0] == allocName {
			continue
		}
		fmt.Fprint(t, s[0])
		for _, n := range r.Config.Sizes {
			text := "-"
			if f, ok := r.figure(s, n); ok {
				text = fmt.Sprintf("%.2f", r.best(ours, n)/f.MedianUS)
			}
			fmt.Fprintf(t, "\t%s", text)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// systems returns the pairs of system and schedule, in the order of their turns.
func (r *Result) systems() [][2]string {
	var all [][2]string
	for _, f := range r.Figures {
		if s := [2]string{f.System, f.Schedule}; !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (r *Result) figure(s [2]string, bytes int) (Figure, bool) {
	for _, f := range r.Figures {
		if f.System == s[0] && f.Schedule == s[1] && f.Bytes == bytes {
			return f, true
		}
	}
	return Figure{}, false
}

// best returns the median of the best schedule of one of our systems.
func (r *Result) best(ours string, bytes int) float64 {
	best := math.Inf(1)
	for _, f := range r.Figures {
		if f.System == ours && f.Bytes == bytes {
			best = min(best, f.MedianUS)
		}
	}
	return best
}

// size formats a number of bytes for people.
func size(n int) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	u := 0
	for n >= 1024 && n%1024 == 0 && u < len(units)-1 {
		n, u = n/1024, u+1
	}
	return strconv.Itoa(n) + " " + units[u]
}

// micros formats a time in microseconds for people.
func micros(us float64) string {
	switch {
	case us < 1e3:
		return fmt.Sprintf("%.3g us", us)
	case us < 1e6:
		return fmt.Sprintf("%.3g ms", us/1e3)
	}
	return fmt.Sprintf("%.3g s", us/1e6)
}
