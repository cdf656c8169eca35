// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/bench/collective"
	"github.com/gvw-project/gvw/internal/simulate"
)

// simulatedRanks is the number of ranks of the jobs that are compared with their simulation.
const simulatedRanks = 8

// tcHeaders is the share of headers that tc counts: 66 bytes of Ethernet, IP and TCP for each 1,448.
const tcHeaders = 66.0 / 1448

// TestSimulation compares all-reduces of 8 real ranks, each in a network namespace behind a link of a bounded rate, with
// their simulation. No job can be much faster than simulated. How much slower it may be is above.
func TestSimulation(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	makeHosts(t, simulatedRanks)
	server := start(t, t.TempDir(), serverBin, "--nondaemon", "--bind", gatewayIP, "--port", gatewayPort)
	defer func() {
		_ = server.cmd.Process.Signal(os.Interrupt)
		server.wait()
	}()
	waitFor(t, "the server to listen", func() bool { return dialable(gatewayIP + ":" + gatewayPort) })
	job := 0
	for _, rate := range simulatedRates {
		for h := range simulatedRanks {
			// The queue is so long that no packet is lost.
			sh(t, fmt.Sprintf("for at in '-n h%d qdisc replace dev eth0' 'qdisc replace dev v%[1]d'; do tc $at root tbf rate %[2]dmbit burst 64kb latency 2s; done", h, rate))
		}
		for _, name := range simulatedNames {
			t.Run(fmt.Sprintf("%v at %d Mbit per s", name, rate), func(t *testing.T) {
				bytes := 1 << 20
				if rate >= 100 {
					bytes = 4 << 20
				}
				want, err := simulate.AllReduce(simulate.Config{
					Ranks: simulatedRanks, Bytes: bytes, Schedule: name, Processor: simulate.Usual,
					Network: simulate.Network{Rate: float64(rate) * 1e6, Headers: tcHeaders},
				})
				if err != nil {
					t.Fatal(err)
				}
				var ratios []float64
				for range simulatedTurns {
					job++
					got := measureReduce(t, job, name, bytes)
					ratios = append(ratios, got.Seconds()/want.Time.Seconds())
					t.Logf("real %v, simulated %v: ratio %.3f", got.Round(100*time.Microsecond), want.Time.Round(100*time.Microsecond), ratios[len(ratios)-1])
					if slices.Min(ratios) <= simulatedSlack {
						break
					}
				}
				if ratio := slices.Min(ratios); ratio < 1/1.2 || ratio > simulatedSlack {
					t.Errorf("a real job took %.3f times as long as simulated, want %.3f to %g", ratio, 1/1.2, simulatedSlack)
				}
			})
		}
	}
}

// measureReduce returns the median time of all-reduces in a job with a rank on each host.
func measureReduce(t *testing.T, job int, name schedule.Name, bytes int) time.Duration {
	t.Helper()
	ranks := make([]*process, simulatedRanks)
	for rank := range ranks {
		task := fmt.Sprintf(`{"server":"%s:%s","job":%d,"rank":%d,"total":%d,"schedule":%q,"sizes":[%d],"per_size":1000000}`,
			gatewayIP, gatewayPort, job, rank, simulatedRanks, name, bytes)
		ranks[rank] = start(t, t.TempDir(), "ip", "netns", "exec", fmt.Sprintf("h%d", rank), gvwBin, "bench", "rank", task)
	}
	var times []float64
	for rank, p := range ranks {
		r := p.wait()
		if r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, tail(r.stderr, 10))
		}
		for line := range strings.Lines(r.stdout) {
			var b collective.Batch
			if err := json.Unmarshal([]byte(line), &b); err != nil {
				t.Fatalf("rank %d: %v: %q", rank, err, line)
			}
			times = append(times, b.US)
		}
	}
	if len(times) == 0 {
		t.Fatal("no rank has reported a time")
	}
	slices.Sort(times)
	return time.Duration(times[len(times)/2] * float64(time.Microsecond))
}
