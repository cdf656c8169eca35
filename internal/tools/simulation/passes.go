// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/simulate"
	"github.com/gvw-project/gvw/internal/simulate/straggler"
)

// passRow is a job without or with second attempts.
type passRow struct {
	name string
	cfg  straggler.Config
	*straggler.Result
}

// mean returns the mean time of a pass with its all-reduce.
func (r *passRow) mean() time.Duration { return r.Total / time.Duration(r.cfg.Passes) }

// quantiles are the columns with times of later passes.
var quantiles = []float64{0.5, 0.75, 0.95, 1}

// simulatePasses runs gvw simulate passes.
func simulatePasses(ctx context.Context, p *cli.Process, set *cli.FlagSet, args []string) error {
	s, err := set.Read(p, args)
	if s == nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) error {
		base, reduce, err := passOptions(c)
		if err != nil {
			return err
		}
		sizes, err := numbers("ranks", c.String("ranks"), "10,100,1000")
		if err != nil {
			return err
		}
		if err := p.Print(fmt.Sprintf("%6s  %-16s %9s %9s %9s %9s %9s %9s %10s %9s %9s\n", "ranks", "second attempts", "first s", "median", "75 %", "95 %", "max", "last s", "all-reduce", "pass s", "speed-up")); err != nil {
			return err
		}
		var rows []passRow
		for _, n := range sizes {
			if base.Ranks = int(n); float64(base.Ranks) != n {
				return cli.Usagef("--ranks: got %g, want whole numbers", n)
			}
			pair, err := passPair(c.Context, base, reduce)
			if err != nil {
				return cli.Usagef("gvw simulate passes: %d ranks: %w", base.Ranks, err)
			}
			for _, r := range pair {
				line := fmt.Sprintf("%6d  %-16s %9.2f", r.cfg.Ranks, r.name, r.First.Seconds())
				for _, q := range quantiles {
					line += fmt.Sprintf(" %9.2f", r.Quantile(q).Seconds())
				}
				if err := p.Print(fmt.Sprintf("%s %9.2f %10.3f %9.2f %9.1f\n", line, r.Last.Seconds(), r.cfg.Exchange.Seconds(), r.mean().Seconds(), r.SpeedUp())); err != nil {
					return err
				}
			}
			rows = append(rows, pair...)
		}
		return writePictures(c, files.New(p), func() ([]byte, error) { return passCSV(rows) }, func() []byte { return passSVG(rows) })
	})
}

// passOptions reads the options.
func passOptions(c *cli.Context) (base straggler.Config, reduce simulate.Config, err error) {
	base = straggler.Config{Passes: 20, Work: time.Hour, Hosts: straggler.Published, Speculate: 1.5, SlowFactor: c.Float64("slow_factor"), Seed: 1}
	reduce = simulate.Config{
		Bytes: 64 << 20, Processor: simulate.Usual,
		Network: simulate.Network{Rate: 1e9, Latency: 50 * time.Microsecond, Headers: simulate.EthernetHeaders},
	}
	if c.IsSet("work") {
		base.Work = c.Duration("work")
	}
	if c.IsSet("passes") {
		base.Passes = int(c.Uint64("passes"))
	}
	if c.IsSet("speculate") {
		if base.Speculate = c.Float64("speculate"); base.Speculate == 0 {
			return base, reduce, cli.Usagef("--speculate: got 0, want 1 or more: there is a row without second attempts")
		}
	}
	if c.IsSet("seed") {
		base.Seed = c.Uint64("seed")
	}
	if c.IsSet("bytes") {
		reduce.Bytes = int(c.Uint64("bytes"))
	}
	if c.IsSet("rate") {
		reduce.Network.Rate = c.Float64("rate") * 1e9
	}
	if text := c.String("hosts"); text != "" {
		if base.Hosts, err = straggler.ParseTable(text); err != nil {
			return base, reduce, cli.Usagef("--hosts: %w", err)
		}
	}
	return base, reduce, nil
}

// passPair simulates a job without and with second attempts.
func passPair(ctx context.Context, cfg straggler.Config, reduce simulate.Config) ([]passRow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reduce.Ranks = cfg.Ranks
	exchange, err := simulate.AllReduce(reduce)
	if err != nil {
		return nil, err
	}
	cfg.Exchange = exchange.Time
	without := passRow{name: "no", cfg: cfg}
	without.cfg.Speculate = 0
	with := passRow{name: fmt.Sprintf("after %g medians", cfg.Speculate), cfg: cfg}
	pair := []passRow{without, with}
	for i := range pair {
		if pair[i].Result, err = straggler.Run(pair[i].cfg); err != nil {
			return nil, err
		}
	}
	return pair, nil
}

// passCSV returns the table.
func passCSV(rows []passRow) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"ranks", "speculate", "second_attempts", "first_seconds", "median_seconds", "seconds_75", "seconds_95", "max_seconds", "last_seconds", "allreduce_seconds", "pass_seconds", "speed_up"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, r := range rows {
		row := []string{strconv.Itoa(r.cfg.Ranks), number(r.cfg.Speculate), strconv.Itoa(r.Attempts), number(r.First.Seconds())}
		for _, q := range quantiles {
			row = append(row, number(r.Quantile(q).Seconds()))
		}
		w.Write(append(row, number(r.Last.Seconds()), number(r.cfg.Exchange.Seconds()), number(r.mean().Seconds()), number(r.SpeedUp())))
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// passSVG returns a picture of the speed-up.
func passSVG(rows []passRow) []byte {
	l := chart.Lines{Title: "Simulated speed-up", X: "ranks", Y: "speed-up over one usual host", LogX: true, LogY: true}
	l.Series = []chart.Series{{Name: "ideal"}, {Name: "without second attempts"}, {Name: "with second attempts"}}
	for i, r := range rows {
		s := &l.Series[1+i%2]
		s.X, s.Y = append(s.X, float64(r.cfg.Ranks)), append(s.Y, r.SpeedUp())
		if i%2 == 0 {
			l.Series[0].X, l.Series[0].Y = append(l.Series[0].X, float64(r.cfg.Ranks)), append(l.Series[0].Y, float64(r.cfg.Ranks))
		}
	}
	return l.AppendSVG(nil, chart.File)
}
