// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/record"
)

// Weight is a weight of a model.
type Weight struct {
	Name  string
	Value float64
}

// Weights are the largest weights of a model.
type Weights struct {
	Model string // name of the file
	Top   []Weight
}

// fact is a property of runs, with a value for each.
type fact struct {
	name string
	of   func(r *record.Record) string
}

// compare adds a table of properties, with a column for each run. Rows in which the runs differ are marked if mark is true.
func (v *view) compare(caption string, facts []fact, mark bool) {
	head := []string{""}
	for _, r := range v.runs {
		head = append(head, r.Name)
	}
	var rows []row
	for _, f := range facts {
		cells, known := []string{f.name}, false
		for _, r := range v.runs {
			value := f.of(r.Record)
			known = known || value != ""
			if value == "" {
				value = "–"
			}
			cells = append(cells, value)
		}
		if known {
			rows = append(rows, row{cells: cells, differs: mark && len(slices.Compact(slices.Clone(cells[1:]))) > 1})
		}
	}
	if len(rows) > 0 {
		v.table(caption, head, rows)
	}
}

// outcome returns how a run has ended.
func outcome(r *record.Record) string {
	if r.Run == nil {
		return ""
	}
	for _, e := range r.Ends {
		if e.Error != "" && (e.Rank < 0 || len(r.Ends) == 1) {
			return "failed: " + e.Error
		}
	}
	launched := r.Run.Rank < 0
	for _, e := range r.Ends {
		if e.Error == "" && (e.Rank < 0 || !launched) {
			return "succeeded"
		}
	}
	if len(r.Ends) > 0 && !launched {
		return "failed: " + r.Ends[0].Error
	}
	return "no end is recorded: it goes on, or was killed"
}

// last returns the time of the last event.
func last(r *record.Record) (t float64) {
	for _, e := range r.Ends {
		t = max(t, e.Time)
	}
	for _, p := range r.Passes {
		t = max(t, p.Time)
	}
	for _, s := range r.Steps {
		t = max(t, s.Time)
	}
	return t
}

// summary adds the outcome.
func (v *view) summary() {
	v.compare("Summary", []fact{
		{"outcome", outcome},
		{"began", func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			return clock(r.Run.Time)
		}},
		{"took", func(r *record.Record) string {
			if r.Run == nil || last(r) <= r.Run.Time {
				return ""
			}
			return seconds(last(r) - r.Run.Time)
		}},
		{"ranks", func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			return strconv.Itoa(r.Run.Ranks)
		}},
		{"passes", func(r *record.Record) string { return strconv.Itoa(len(r.Passes)) }},
		{"loss of the last pass", func(r *record.Record) string {
			if len(r.Passes) == 0 {
				return ""
			}
			return exact(number(r.Passes[len(r.Passes)-1].Loss))
		}},
		{"best held-out loss", func(r *record.Record) string {
			best := ""
			least := 0.0
			for i := range r.Passes {
				if h := held(&r.Passes[i]); h == h && (best == "" || h < least) { // h == h: known
					least, best = h, fmt.Sprintf("%s, pass %d", exact(h), r.Passes[i].Pass)
				}
			}
			return best
		}},
		{"restarts", func(r *record.Record) string {
			n := 0
			for _, m := range r.Machines {
				if m.Attempt > 1 {
					n++
				}
			}
			if n == 0 {
				return ""
			}
			return strconv.Itoa(n)
		}},
		{"model, SHA-256", func(r *record.Record) string {
			for _, e := range r.Ends {
				if e.Model != "" {
					return e.Model
				}
			}
			return ""
		}},
	}, false)
}

// weightSection adds the largest weights.
func (v *view) weightSection() {
	begun := false
	for _, r := range v.runs {
		if r.Weights == nil {
			continue
		}
		if !begun {
			v.section("Largest weights")
			v.grid(true)
			begun = true
		}
		bars := WeightBars(r.Weights.Top)
		v.figure(v.label(r, "largest weights of "+r.Weights.Model), "", func(dst []byte) []byte { return bars.AppendSVG(dst, chart.Inline) })
	}
	if begun {
		v.grid(false)
	}
}

// WeightBars returns the picture of weights.
func WeightBars(top []Weight) *chart.Bars {
	bars := &chart.Bars{Unit: "weight"}
	for _, w := range top {
		bars.Rows = append(bars.Rows, chart.Row{Name: w.Name, Values: []float64{w.Value}})
	}
	return bars
}

// happening is a message that some ranks have recorded.
type happening struct {
	record.Message
	ranks []string
}

// happenings joins equal messages of several ranks.
func happenings(r *record.Record) (all []happening) {
	for _, m := range r.Messages {
		who := "rank " + strconv.Itoa(m.Rank)
		if m.Rank < 0 {
			who = "launcher"
		}
		i := slices.IndexFunc(all, func(h happening) bool {
			return h.Text == m.Text && h.Level == m.Level && m.Time-h.Time < 5 && m.Rank != h.Rank
		})
		if i < 0 {
			all = append(all, happening{m, []string{who}})
		} else if !slices.Contains(all[i].ranks, who) {
			all[i].ranks = append(all[i].ranks, who)
		}
	}
	return all
}

// eventSection adds the messages.
func (v *view) eventSection() {
	v.section("Events")
	for _, r := range v.runs {
		all := happenings(r.Record)
		if len(all) == 0 {
			v.para("%s", v.label(r, "no message is recorded."))
			continue
		}
		const most = 200
		var rows []row
		for _, h := range all[:min(len(all), most)] {
			text := h.Text
			if h.Fields != "" {
				text += " (" + h.Fields + ")"
			}
			at := "–"
			if zero := start(r.Record); zero > 0 {
				at = fmt.Sprintf("%.3f s", h.Time-zero)
			}
			rows = append(rows, row{cells: []string{at, h.Level, strings.Join(h.ranks, ", "), text}})
		}
		if len(v.runs) > 1 {
			v.heading(r.Name)
		}
		v.table("Events", []string{"time", "level", "from", "event"}, rows)
		if len(all) > most {
			v.para("The first %d of %d events.", most, len(all))
		}
	}
}

// factSection adds options, versions, data and machines.
func (v *view) factSection() {
	mark := len(v.runs) > 1
	option := map[string]bool{}
	for _, r := range v.runs {
		if r.Record.Run != nil {
			for name := range r.Record.Run.Options {
				option[name] = true
			}
		}
	}
	v.section("Options")
	if mark {
		v.para("Rows with ≠ differ between the runs.")
	}
	var options []fact
	for _, name := range slices.Sorted(maps.Keys(option)) {
		options = append(options, fact{name, func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			return strings.Join(r.Run.Options[name], ", ")
		}})
	}
	if len(options) == 0 {
		v.para("No option is recorded.")
	}
	v.compare("Options", options, mark)
	v.section("Versions and machines")
	v.compare("Versions", []fact{
		{"gvw", func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			return r.Run.Program
		}},
		{"Go", func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			return r.Run.Go
		}},
		{"machines", machines},
	}, mark)
	v.section("Data")
	v.compare("Data", []fact{
		{"files", func(r *record.Record) string {
			if r.Run == nil {
				return ""
			}
			var files []string
			for _, f := range r.Run.Data {
				files = append(files, fmt.Sprintf("%s (%s, of %s)", f.Name, bytesText(float64(f.Bytes)), clock(f.Modified)))
			}
			return strings.Join(files, "; ")
		}},
		{"examples", func(r *record.Record) string { return sumOf(r, func(d *record.Data) uint64 { return d.Examples }) }},
		{"bytes of text", func(r *record.Record) string { return sumOf(r, func(d *record.Data) uint64 { return d.Bytes }) }},
		{"CRC-32C by rank", func(r *record.Record) string {
			var sums []string
			for i, d := range byRank(r.Data) {
				if i == 16 {
					sums = append(sums, "…")
					break
				}
				sums = append(sums, d.CRC)
			}
			return strings.Join(sums, " ")
		}},
	}, mark)
}

// byRank returns the data of each rank, as its last attempt has read it.
func byRank(all []record.Data) (out []record.Data) {
	for _, d := range all {
		if n := len(out); n > 0 && out[n-1].Rank == d.Rank {
			out[n-1] = d
			continue
		}
		out = append(out, d)
	}
	return out
}

// sumOf returns the sum of a number over the ranks.
func sumOf(r *record.Record, of func(d *record.Data) uint64) string {
	var sum uint64
	for _, d := range byRank(r.Data) {
		sum += of(&d)
	}
	if sum == 0 {
		return ""
	}
	return strconv.FormatUint(sum, 10)
}

// machines describes the machines of a run, with the ranks on each.
func machines(r *record.Record) string {
	ranks := map[string][]string{}
	var order []string
	for _, m := range r.Machines {
		text := fmt.Sprintf("%s: %s/%s, %d CPUs", m.Host, m.OS, m.Arch, m.CPUs)
		if m.CPU != "" {
			text += " (" + m.CPU + ")"
		}
		if m.Memory > 0 {
			text += ", " + bytesText(float64(m.Memory))
		}
		if ranks[text] == nil {
			order = append(order, text)
		}
		if rank := strconv.Itoa(m.Rank); !slices.Contains(ranks[text], rank) {
			ranks[text] = append(ranks[text], rank)
		}
	}
	var all []string
	for _, text := range order {
		own := ranks[text]
		if len(own) > 8 {
			own = append(slices.Clone(own[:8]), "…")
		}
		all = append(all, text+", ranks "+strings.Join(own, ", "))
	}
	return strings.Join(all, "; ")
}
