// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/simulate"
)

// Simulate runs gvw simulate.
func Simulate(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	if len(args) > 0 && args[0] == "losses" {
		return simulateLosses(ctx, p, c.Sets[1], args[1:])
	}
	if len(args) > 0 && args[0] == "passes" {
		return simulatePasses(ctx, p, c.Sets[2], args[1:])
	}
	if len(args) == 0 || args[0] != "allreduce" {
		if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
			return p.Print(c.Sets[0].Page(true) + "\n" + c.Sets[1].Page(true) + "\n" + c.Sets[2].Page(true))
		}
		return cli.Usagef("gvw simulate: the subject is missing, allreduce, losses or passes, as in: gvw simulate allreduce -n 1000")
	}
	s, err := c.Sets[0].Read(p, args[1:])
	if s == nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) error {
		runs, err := allReduceRuns(c)
		if err != nil {
			return err
		}
		return simulateAllReduces(c, p, files.New(p), runs)
	})
}

// vwSystem is the name of vw's all-reduce among those of schedules.
const vwSystem = "vw"

// simulated is an all-reduce to simulate, and its result.
type simulated struct {
	name string // as the user has named the schedule
	gbit float64
	cfg  simulate.Config
	*simulate.Result
}

// system returns the name of the schedule, with the one that auto stands for.
func (r *simulated) system() string {
	if r.name == schedule.Auto.String() {
		return r.name + " (" + r.Schedule.String() + ")"
	}
	return r.name
}

// allReduceRuns reads the options.
func allReduceRuns(c *cli.Context) ([]simulated, error) {
	base := simulate.Config{
		Bytes: 64 << 20, Processor: simulate.Usual, Chunk: int(c.Uint64("chunk")),
		Network: simulate.Network{
			Latency: 50 * time.Microsecond, Headers: simulate.EthernetHeaders,
			RanksPerHost: int(c.Uint64("ranks_per_host")), HostsPerRack: int(c.Uint64("hosts_per_rack")),
		},
	}
	if c.IsSet("bytes") {
		base.Bytes = int(c.Uint64("bytes"))
	}
	if c.IsSet("latency") {
		base.Network.Latency = c.Duration("latency")
	}
	if c.IsSet("headers") {
		base.Network.Headers = c.Float64("headers")
	}
	if c.IsSet("oversubscription") {
		if base.Network.Oversubscription = c.Float64("oversubscription"); base.Network.HostsPerRack == 0 {
			return nil, cli.Usagef("--oversubscription would be ignored without --hosts_per_rack: there is only one rack")
		}
	}
	sizes, err := numbers("ranks", c.String("ranks"), "10,30,100,300,1000")
	if err != nil {
		return nil, err
	}
	rates, err := numbers("rate", c.String("rate"), "1")
	if err != nil {
		return nil, err
	}
	names, err := systems(c.String("schedule"))
	if err != nil {
		return nil, err
	}
	var runs []simulated
	for _, rate := range rates {
		for _, name := range names {
			for _, n := range sizes {
				r := simulated{name: name, gbit: rate, cfg: base}
				if r.cfg.Ranks = int(n); float64(r.cfg.Ranks) != n {
					return nil, cli.Usagef("--ranks: got %g, want whole numbers", n)
				}
				r.cfg.Network.Rate = rate * 1e9
				if r.cfg.VW = name == vwSystem; !r.cfg.VW {
					if r.cfg.Schedule, err = schedule.ParseName(name); err != nil {
						return nil, cli.Usagef("--schedule: %w", err)
					}
				}
				runs = append(runs, r)
			}
		}
	}
	return runs, nil
}

// numbers parses a list of positive numbers. An empty text stands for the default.
func numbers(option, text, def string) ([]float64, error) {
	if text == "" {
		text = def
	}
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(x > 0 && x < 1e9) {
			return nil, cli.Usagef("--%s: got %q, want positive numbers with commas between them", option, word)
		}
		list = append(list, x)
	}
	return list, nil
}

// systems parses a list of schedules.
func systems(text string) ([]string, error) {
	if text == "" {
		text = "auto," + vwSystem
	}
	var names []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "all" {
			for _, n := range schedule.Names {
				names = append(names, n.String())
			}
			names = append(names, vwSystem)
			continue
		}
		if _, err := schedule.ParseName(word); err != nil && word != vwSystem {
			return nil, cli.Usagef("--schedule: %w, or vw", err)
		}
		names = append(names, word)
	}
	return names, nil
}

// simulateAllReduces prints a row for each result, and writes the files. A run that is too large has no row: stderr has the
// reason.
func simulateAllReduces(c *cli.Context, p *cli.Process, set *files.Set, runs []simulated) error {
	if err := p.Print(fmt.Sprintf("%6s %7s  %-20s %10s %10s %9s\n", "ranks", "Gbit/s", "schedule", "seconds", "bound", "of bound")); err != nil {
		return err
	}
	var done []simulated
	for _, r := range runs {
		if err := c.Context.Err(); err != nil {
			return err
		}
		var err error
		if r.Result, err = simulate.AllReduce(r.cfg); err != nil {
			fmt.Fprintf(p.Stderr, "gvw simulate: %d ranks, %s: %v\n", r.cfg.Ranks, r.name, err)
			continue
		}
		done = append(done, r)
		ratio := "-"
		if bound := r.cfg.Bound(); bound > 0 {
			ratio = fmt.Sprintf("%.2f", r.Time.Seconds()/bound.Seconds())
		}
		if err := p.Print(fmt.Sprintf("%6d %7g  %-20s %10.5f %10.5f %9s\n", r.cfg.Ranks, r.gbit, r.system(), r.Time.Seconds(), r.cfg.Bound().Seconds(), ratio)); err != nil {
			return err
		}
	}
	if len(done) == 0 {
		return cli.Usagef("gvw simulate: none of the %d configurations can be simulated: stderr has the reasons", len(runs))
	}
	return writePictures(c, set, func() ([]byte, error) { return allReduceCSV(done) }, func() []byte { return allReduceSVG(done) })
}

// writePictures writes the files that the options csv and svg name.
func writePictures(c *cli.Context, set *files.Set, table func() ([]byte, error), picture func() []byte) error {
	if c.IsSet("csv") {
		text, err := table()
		if err != nil {
			return err
		}
		if err := writeWhole(c, set, c.String("csv"), text); err != nil {
			return err
		}
	}
	if c.IsSet("svg") {
		return writeWhole(c, set, c.String("svg"), picture())
	}
	return nil
}

// writeWhole writes a file, which gets its name when it is complete.
func writeWhole(c *cli.Context, set *files.Set, name string, text []byte) error {
	out, err := set.Creator(c.Context, set.System(c.String, true), 0)(name)
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// allReduceCSV returns the table.
func allReduceCSV(runs []simulated) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"ranks", "gbit_per_s", "name", "schedule", "bytes", "seconds", "bound_seconds", "busiest_link_bytes"})
	for _, r := range runs {
		w.Write([]string{
			strconv.Itoa(r.cfg.Ranks), strconv.FormatFloat(r.gbit, 'g', -1, 64), r.name, r.Schedule.String(), strconv.Itoa(r.cfg.Bytes),
			strconv.FormatFloat(r.Time.Seconds(), 'g', -1, 64), strconv.FormatFloat(r.cfg.Bound().Seconds(), 'g', -1, 64), strconv.FormatInt(r.Busiest, 10),
		})
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// allReduceSVG returns a picture with a line for each schedule and rate.
func allReduceSVG(runs []simulated) []byte {
	l := chart.Lines{Title: fmt.Sprintf("Simulated all-reduce of %d bytes", runs[0].cfg.Bytes), X: "ranks", Y: "seconds", LogX: true, LogY: true}
	at := map[string]int{}
	for _, r := range runs {
		name := fmt.Sprintf("%s, %g Gbit/s", r.name, r.gbit)
		i, ok := at[name]
		if !ok {
			i = len(l.Series)
			at[name] = i
			l.Series = append(l.Series, chart.Series{Name: name})
		}
		l.Series[i].X = append(l.Series[i].X, float64(r.cfg.Ranks))
		l.Series[i].Y = append(l.Series[i].Y, r.Time.Seconds())
	}
	return l.AppendSVG(nil, chart.File)
}
