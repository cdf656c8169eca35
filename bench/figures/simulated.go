// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/simulate"
)

// The ranks and the rates of links, in Gbit/s, of simulated all-reduces.
var (
	simulatedRanks = []int{10, 30, 100, 300, 1000, 4000}
	simulatedRates = []float64{1, 10, 100}
)

// simulatedAllReduce simulates all-reduces of 64 MiB by gvw's choice of schedule and by vw's tree.
func simulatedAllReduce(ctx context.Context, _ string) ([]figure, error) {
	f := figure{
		Name: "simulated-allreduce", Title: "Time of an all-reduce of 64 MiB (simulated)", X: "ranks", Y: "seconds", LogX: true, LogY: true,
	}
	f.Notes = "gvw simulate allreduce: one rank per host, latency 50 µs, headers of Ethernet; gvw by its own choice of schedule, vw by its " +
		"one tree; the bound counts the bytes that each rank must send, without headers; no real network was used. With 1,000 ranks:"
	for _, rate := range simulatedRates {
		for _, ranks := range simulatedRanks {
			at := ""
			for _, vw := range []bool{false, true} {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				cfg := simulatedConfig(ranks, rate, vw)
				r, err := simulate.AllReduce(cfg)
				if err != nil {
					return nil, err
				}
				name := "gvw"
				if vw {
					name = "vw"
				}
				f.Add(fmt.Sprintf("%s, %g Gbit/s", name, rate), point{X: float64(ranks), Y: r.Time.Seconds()})
				at += fmt.Sprintf(" %s %.3g s,", name, r.Time.Seconds())
				if vw {
					f.Add(fmt.Sprintf("bound, %g Gbit/s", rate), point{X: float64(ranks), Y: cfg.Bound().Seconds()})
					at += fmt.Sprintf(" bound %.3g s;", cfg.Bound().Seconds())
				}
			}
			if ranks == 1000 {
				f.Notes += fmt.Sprintf(" at %g Gbit/s%s", rate, at)
			}
		}
	}
	f.Notes = strings.TrimSuffix(f.Notes, ";")
	return []figure{f}, nil
}

// simulatedConfig returns an all-reduce of 64 MiB at a rate in Gbit/s.
func simulatedConfig(ranks int, rate float64, vw bool) simulate.Config {
	return simulate.Config{
		Ranks: ranks, Bytes: 64 << 20, VW: vw, Processor: simulate.Usual,
		Network: simulate.Network{Rate: rate * 1e9, Latency: 50 * time.Microsecond, Headers: simulate.EthernetHeaders},
	}
}
