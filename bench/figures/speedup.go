// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/internal/simulate"
	"github.com/gvw-project/gvw/internal/simulate/straggler"
)

const (
	// processorShare is the share of a processor of each rank in the figure of the speed-up. Eight ranks then need less than
	// half of one.
	processorShare = 0.05
	speedUpPasses  = 10
	speedUpTurns   = 2
	speedUpBits    = 14
	speedUpWindows = 400_000
	// largeWork is the time of a pass of a large job on one host.
	largeWork = 10 * time.Hour
)

var (
	realSizes      = []int{1, 2, 4, 8}
	simulatedSizes = []int{1, 2, 4, 8, 16, 30, 60, 125, 250, 500, 1000}
)

// speedUps measures the passes of jobs of 1 to 8 ranks, and simulates more of them. It returns the figures of the speed-up
// and of passes by time.
func speedUps(ctx context.Context, _ string) (figures []figure, err error) {
	if why := linksWork(ctx); why != nil {
		return nil, skipped("there are no network links: " + why.Error())
	}
	groups, free, err := shareProcessor(slices.Max(realSizes), processorShare)
	if err != nil {
		return nil, skipped("there are no control groups: " + err.Error())
	}
	defer func() { err = errors.Join(err, free()) }()
	j, end, err := newJobs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	w := drawWindows(speedUpWindows, 1)
	if err := os.WriteFile(j.path("train.vw"), []byte(strings.Join(w.train, "")), 0o600); err != nil {
		return nil, err
	}
	best := make([][]float64, len(realSizes)) // seconds by passes
	for range speedUpTurns {
		for i, n := range realSizes {
			seconds, err := j.passes(ctx, n, groups)
			if err != nil {
				return nil, err
			}
			if best[i] == nil || medianPass(seconds) < medianPass(best[i]) {
				best[i] = seconds
			}
		}
	}
	curve, err := speedUpCurve(ctx, best)
	if err != nil {
		return nil, err
	}
	passes := figure{
		Name: "effective-passes", Title: "Passes over all data by time", X: "seconds since the start of the second pass", Y: "passes", Seed: w.seed, Notes: curve.Notes,
		Alt:   "A line for each of 1, 2, 4 and 8 ranks: passes over all data by seconds. All are straight, and more ranks have steeper lines.",
		Shows: "It shows passes of L-BFGS by wall time, where each rank has the same share of a processor. It does not show how many passes an algorithm needs.",
	}
	for i, n := range realSizes {
		name := strconv.Itoa(n) + " ranks"
		if n == 1 {
			name = "1 rank"
		}
		for pass, s := range best[i][1:] {
			passes.Add(name, point{X: s - best[i][1], Y: float64(pass)})
		}
	}
	return []figure{curve, passes}, nil
}

// passes runs a job of L-BFGS, and returns the seconds by passes.
func (j *jobs) passes(ctx context.Context, n int, groups string) ([]float64, error) {
	args := []string{
		"-d", j.path("train.vw"), "--cache_file", j.path("cache." + strconv.Itoa(n) + ".{rank}"), "-b", strconv.Itoa(speedUpBits), "--loss_function", "logistic", "--holdout_off",
		"--bfgs", "--termination", "0", "--l2", "10", "--passes", strconv.Itoa(speedUpPasses), "--log_json", j.path("passes.json"),
	}
	cmd := j.network(ctx, n, gigabit, groups, args)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%d ranks: %w\n%s", n, err, text)
	}
	return readSeconds(j.path("passes.json"))
}

// medianPass returns the median time of a pass but the first.
func medianPass(seconds []float64) float64 {
	var took []float64
	for i := 2; i < len(seconds); i++ {
		took = append(took, seconds[i]-seconds[i-1])
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// speedUpCurve returns the figure of the speed-up. The simulation has the work of the measured job of one rank.
func speedUpCurve(ctx context.Context, best [][]float64) (figure, error) {
	last := len(realSizes) - 1
	f := figure{
		Name: "speedup", Title: "Speed-up over one rank", X: "ranks", Y: "speed-up", LogX: true, LogY: true, Seed: "22 of the data, 1 of the simulated hosts",
		Alt: fmt.Sprintf("Speed-up by ranks, both scales logarithmic: marks of real jobs up to %d ranks, which are %.1f times as fast as one; dashed lines of simulations up "+
			"to 1,000 ranks, of which that with unequal hosts falls far below it.", realSizes[last], medianPass(best[0])/medianPass(best[last])),
		Shows: "It shows how passes scale: lines with the name real are measured, dashed lines are simulated. It does not show a real cluster: all ranks were on one " +
			"machine, each with a share of a processor and a link of its own, whose limit delays each message by up to a period, which the simulation leaves " +
			"out; and not the time to load data.",
	}
	one := medianPass(best[0])
	texts := make([]string, len(realSizes))
	for i, n := range realSizes {
		took := medianPass(best[i])
		f.Add("real, small job", point{X: float64(n), Y: one / took})
		texts[i] = fmt.Sprintf("%d: %.3g s", n, took)
	}
	slow := simulate.Usual // on a share of a processor
	slow.Message = time.Duration(float64(slow.Message) / processorShare)
	slow.Move, slow.Add = slow.Move/processorShare, slow.Add/processorShare
	large := ""
	for _, n := range simulatedSizes {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		f.Add("ideal", point{X: float64(n), Y: float64(n)})
		small, err := simulatedSpeedUp(n, time.Duration(one*1e9), 4<<speedUpBits, slow, nil, 0)
		if err != nil {
			return f, err
		}
		f.Add("simulated, small job", point{X: float64(n), Y: small})
		for _, way := range []struct {
			name      string
			hosts     straggler.Table
			speculate float64
		}{
			{"simulated, large job", nil, 0},
			{"simulated, large job, unequal hosts", straggler.Published, 0},
			{"simulated, the same with second attempts", straggler.Published, 1.5},
		} {
			y, err := simulatedSpeedUp(n, largeWork, 64<<20, simulate.Usual, way.hosts, way.speculate)
			if err != nil {
				return f, err
			}
			f.Add(way.name, point{X: float64(n), Y: y})
			if n == simulatedSizes[len(simulatedSizes)-1] {
				large += fmt.Sprintf("; %s with %d ranks: %.0f", way.name, n, y)
			}
		}
	}
	f.Notes = fmt.Sprintf("small job: L-BFGS on %d drawn windows, -b %d, each rank with %g %% of a processor (control groups, periods of %d ms) in a network namespace behind a link of %s/s; "+
		"medians of passes, best of %d jobs, %s: %s; large job: 10 h of one host for a pass, 64 MiB at 1 Gbit/s%s",
		speedUpWindows, speedUpBits, 100*processorShare, sharePeriod/1000, gigabit, speedUpTurns, setup.Machine(), strings.Join(texts, ", "), large)
	return f, nil
}

// simulatedSpeedUp returns the speed-up of passes with all-reduces of a vector.
func simulatedSpeedUp(n int, work time.Duration, bytes int, processor simulate.Processor, hosts straggler.Table, speculate float64) (float64, error) {
	exchange, err := exchangeTime(n, bytes, processor)
	if err != nil {
		return 0, err
	}
	r, err := straggler.Run(straggler.Config{Ranks: n, Passes: 20, Work: work, Exchange: exchange, Hosts: hosts, Speculate: speculate, Seed: 1})
	if err != nil {
		return 0, err
	}
	return r.SpeedUp(), nil
}

// exchanges has the times that exchangeTime has computed.
var exchanges = map[string]time.Duration{}

// exchangeTime returns the simulated time of an all-reduce at 1 Gbit/s.
func exchangeTime(n, bytes int, processor simulate.Processor) (time.Duration, error) {
	key := fmt.Sprint(n, bytes, processor)
	if took, ok := exchanges[key]; ok {
		return took, nil
	}
	r, err := simulate.AllReduce(simulate.Config{
		Ranks: n, Bytes: bytes, Processor: processor,
		Network: simulate.Network{Rate: 1e9, Latency: 50 * time.Microsecond, Headers: simulate.EthernetHeaders},
	})
	if err != nil {
		return 0, err
	}
	exchanges[key] = r.Time
	return r.Time, nil
}
