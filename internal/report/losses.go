// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/record"
)

// held returns the held-out loss of a pass, or NaN.
func held(p *record.Pass) float64 {
	if v := p.Valid["loss"]; v != nil {
		return *v
	}
	return number(p.Holdout)
}

func number(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// traffic returns the bytes that all ranks have received until the end of each pass, in steps and by shared vectors. A step is in a
// pass if the middle of it is: ranks end a step at slightly different times.
func traffic(r *record.Record) (bytes []float64, known bool) {
	steps := slices.Clone(r.Steps)
	middle := func(s *record.Step) float64 { return (s.Began + s.Time) / 2 }
	slices.SortFunc(steps, func(a, b record.Step) int { return cmp.Compare(middle(&a), middle(&b)) })
	sum, next := 0.0, 0
	vectors := vectorBytes(r)
	for _, p := range r.Passes {
		for ; next < len(steps) && middle(&steps[next]) <= p.Time; next++ {
			for _, n := range steps[next].Received {
				sum += float64(n)
			}
		}
		shared := 0.0
		for _, counts := range vectors {
			shared += received(counts, p.Time)
		}
		bytes = append(bytes, sum+shared)
	}
	return bytes, sum > 0 || len(vectors) > 0
}

// curves returns the series of values of the passes of all runs. x returns a coordinate by position; nil: the run has none.
func (v *view) curves(x func(r *record.Record) []float64, values map[string]func(p *record.Pass) float64) (all []chart.Series) {
	for _, r := range v.runs {
		xs := x(r.Record)
		if xs == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			s := chart.Series{Name: v.label(r, name)}
			known := false
			for i := range r.Record.Passes {
				y := values[name](&r.Record.Passes[i])
				known = known || !math.IsNaN(y)
				s.X, s.Y = append(s.X, xs[i]), append(s.Y, y)
			}
			if known {
				all = append(all, s)
			}
		}
	}
	return all
}

// Losses returns the pictures of the losses of runs: by pass, by time and by traffic. A picture without known values has no
// series.
func Losses(runs []*Run) (byPass, byTime, byTraffic *chart.Lines) {
	v := &view{runs: runs}
	values := map[string]func(p *record.Pass) float64{
		"train":    func(p *record.Pass) float64 { return number(p.Loss) },
		"held out": held,
	}
	eachPass := func(f func(p *record.Pass) float64) func(r *record.Record) []float64 {
		return func(r *record.Record) (xs []float64) {
			for i := range r.Passes {
				xs = append(xs, f(&r.Passes[i]))
			}
			return xs
		}
	}
	byPass = &chart.Lines{X: "pass", Y: "loss", Whole: true, Series: v.curves(eachPass(func(p *record.Pass) float64 { return float64(p.Pass) }), values)}
	byTime = &chart.Lines{X: "seconds since the start", Y: "loss", ZeroX: true, Series: v.curves(eachPass(func(p *record.Pass) float64 { return p.Seconds }), values)}
	byTraffic = &chart.Lines{X: "bytes received by all ranks", Y: "loss", ZeroX: true, Series: v.curves(func(r *record.Record) []float64 {
		bytes, known := traffic(r)
		if !known {
			return nil
		}
		return bytes
	}, values)}
	if len(runs) == 1 {
		byTime.Marks = marks(runs[0].Record, start(runs[0].Record))
	}
	for _, l := range []*chart.Lines{byPass, byTime, byTraffic} {
		l.LogY = wide(l.Series)
	}
	return byPass, byTime, byTraffic
}

// wide reports whether positive values differ by a factor of more than 30, so that a linear axis would hide the small ones.
func wide(all []chart.Series) bool {
	lo, hi := math.Inf(1), 0.0
	for _, s := range all {
		for _, y := range s.Y {
			if y <= 0 {
				return false
			}
			if !math.IsNaN(y) {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
	}
	return hi > 30*lo
}

// start returns the time of the first event.
func start(r *record.Record) float64 {
	if r.Run != nil {
		return r.Run.Time
	}
	return 0
}

// marks returns the losses of ranks and other errors.
func marks(r *record.Record, zero float64) (all []chart.Mark) {
	for _, m := range r.Messages {
		if m.Level == "ERROR" && zero > 0 {
			all = append(all, chart.Mark{X: m.Time - zero, Name: m.Text})
		}
	}
	return all
}

// lossSection adds the losses.
func (v *view) lossSection() {
	v.section("Loss")
	byPass, byTime, byTraffic := Losses(v.runs)
	if len(byPass.Series) == 0 {
		v.para("No pass is recorded.")
		return
	}
	v.grid(true)
	v.lines("Loss by pass", "", byPass)
	caption := ""
	if len(byTime.Marks) > 0 {
		caption = "A dotted vertical line is the loss of a rank."
	}
	v.lines("Loss by time", caption, byTime)
	v.lines("Loss by traffic", "", byTraffic)
	for _, name := range v.measures() {
		label := name
		if name == "auc" {
			label = "AUC"
		}
		v.lines(label+" by pass", "", &chart.Lines{X: "pass", Y: label, Whole: true, Series: v.curves(func(r *record.Record) (xs []float64) {
			for _, p := range r.Passes {
				xs = append(xs, float64(p.Pass))
			}
			return xs
		}, map[string]func(p *record.Pass) float64{
			"train":    func(p *record.Pass) float64 { return number(p.Metrics[name]) },
			"held out": func(p *record.Pass) float64 { return number(p.Valid[name]) },
		})})
	}
	v.grid(false)
	for _, r := range v.runs {
		v.details(v.label(r, "table of passes"), func() { v.passTable(r) })
	}
}

// measures returns the names of measures beside the loss.
func (v *view) measures() []string {
	names := map[string]bool{}
	for _, r := range v.runs {
		for _, p := range r.Record.Passes {
			for _, m := range []map[string]*float64{p.Metrics, p.Valid} {
				for name := range m {
					names[name] = true
				}
			}
		}
	}
	delete(names, "loss")
	return slices.Sorted(maps.Keys(names))
}

// passTable adds the passes of a run.
func (v *view) passTable(r *Run) {
	var rows []row
	for i := range r.Record.Passes {
		p := &r.Record.Passes[i]
		note := ""
		switch {
		case p.Stop:
			note = "stops early"
		case p.Best:
			note = "best so far"
		}
		rows = append(rows, row{cells: []string{strconv.Itoa(p.Pass), p.Method, fmt.Sprint(p.Examples), exact(number(p.Loss)), exact(held(p)), seconds(p.Seconds), note}})
	}
	v.table("Passes", []string{"#pass", "method", "#examples", "#loss", "#held-out loss", "#time", "note"}, rows)
}

// exact formats a loss with all digits that matter.
func exact(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
