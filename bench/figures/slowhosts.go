// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/simulate/straggler"
)

// quantileRows are the rows of the published table of the times of nodes.
var quantileRows = []string{"median", "75 %", "95 %", "max"}

// slowHosts draws the times of ranks in passes without and with second attempts of slow ranks, as the published table.
func slowHosts(ctx context.Context, _ string) ([]figure, error) {
	f := figure{
		Name: "quantiles", Title: "Times of ranks in a pass, with and without second attempts", X: "time over the median without second attempts", LogX: true, Kind: "dots", Rows: quantileRows,
		Seed: "0 of the real job, 1 of the simulated ones",
		Alt:  "Dots in four rows, median, 75 %, 95 % and maximum: without second attempts the maximum is ten to twenty medians, with them the 95 % quantile is below two.",
		Shows: "It shows how second attempts bound the times of slow ranks. In the real job each rank is a process, GVW_FAULT slows two of them, and the server, its decisions and " +
			"the sums are real; the work of a healthy rank is a sleep. It does not show the load of data, nor hosts that become slow because of other work.",
	}
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/gvw-project/gvw/bench/speculation", "-processes", "-ranks", "20", "-passes", "16", "-within", "60s")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	measured, err := speculationTable(string(out))
	if err != nil {
		return nil, err
	}
	quantiles(&f, "real, without", measured[0], measured[0][0])
	quantiles(&f, "real, with", measured[1], measured[0][0])
	err = simulateQuantiles(&f)
	return []figure{f}, err
}

// simulateQuantiles adds the series of the simulation, and the notes.
func simulateQuantiles(f *figure) error {
	cfg := straggler.Config{Ranks: 1000, Passes: 20, Work: 34_000 * time.Second, Hosts: straggler.Published, Seed: 1}
	without, err := straggler.Run(cfg)
	if err != nil {
		return err
	}
	cfg.Speculate = 1.5
	with, err := straggler.Run(cfg)
	if err != nil {
		return err
	}
	scale := without.Quantile(0.5).Seconds()
	quantiles(f, "simulated, without", simulatedQuantiles(without), scale)
	quantiles(f, "simulated, with", simulatedQuantiles(with), scale)
	f.Notes = fmt.Sprintf("real: 20 processes and 16 passes of 80 ms, two of them ten times slower by GVW_FAULT, one from the third pass on; simulated: 1,000 ranks and 20 passes, hosts as published, "+
		"the slowest rank of the last pass takes %.1f medians with second attempts and %.1f without; published for 1,000 nodes: max 758 s without and 63 s with",
		with.Last.Seconds()/with.Quantile(0.5).Seconds(), without.Last.Seconds()/without.Quantile(0.5).Seconds())
	return nil
}

// quantiles adds a series of times over a scale.
func quantiles(f *figure, name string, seconds []float64, scale float64) {
	for row, s := range seconds {
		x, _ := strconv.ParseFloat(fmt.Sprintf("%.3g", s/scale), 64)
		f.Add(name, point{X: x, Y: float64(row)})
	}
}

// simulatedQuantiles returns the rows of a simulation.
func simulatedQuantiles(r *straggler.Result) (seconds []float64) {
	for _, q := range []float64{0.5, 0.75, 0.95, 1} {
		seconds = append(seconds, r.Quantile(q).Seconds())
	}
	return seconds
}

// speculationRow is a row of the table that bench/speculation prints: 5 %, 50 %, 75 %, 95 %, max.
var speculationRow = regexp.MustCompile(`(?m)^ *with(?:out)? duplicates +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) `)

// speculationTable returns the quantiles of the two rows of the table, without and with second attempts.
func speculationTable(text string) (rows [2][]float64, err error) {
	found := speculationRow.FindAllStringSubmatch(text, -1)
	if len(found) != 2 {
		return rows, fmt.Errorf("bench/speculation: got %d rows, want 2:\n%s", len(found), text)
	}
	for i, m := range found {
		for _, field := range m[2:] {
			s, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return rows, err
			}
			rows[i] = append(rows[i], s)
		}
	}
	return rows, nil
}
