// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package maltstorm

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt"
)

// TestGuestStorm runs jobs whose updates go over two Soft-RoCE devices, each with one fault. STORM is their number, and
// STORM_SEED the seed. The loss of each rank is compared with that of a serial program. See tests/rdma.
func TestGuestStorm(t *testing.T) {
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("it runs in the guest of tests/rdma")
	}
	seed, server := uint64(number("STORM_SEED", 1)), serve(t)
	// The guest's processor is emulated, on a host that may be busy.
	all := storm{limit: 5 * hangs, kinds: map[string]int{}}
	for n := range uint64(number("STORM", 3)) {
		begun := time.Now()
		j, s := drawGuestJob(seed, n, server)
		shares := data(j.Total)
		all.run(t, fmt.Sprintf("STORM_SEED=%d job %d", seed, n), j, []strike{s}, loss(serial(shares, j.Rounds), shares))
		t.Logf("job %d: %v, %s, %s, %v: %v, %d lost", n, j.OnLoss, j.Graph, j.Sync, s, time.Since(begun).Round(time.Second/10), j.lost)
	}
	t.Log(&all)
}

// drawGuestJob draws the n-th job of a seed, and its fault. The first three jobs have each fault, policy and graph once.
func drawGuestJob(seed, n uint64, server string) (*job, strike) {
	rng := rand.New(rand.NewPCG(seed, n))
	j := &job{begun: make(chan struct{}), task: task{
		Server: server, Job: n + 1, RunKey: fmt.Sprintf("guest-%d", n), Total: 3, Rounds: 60, Verbs: true, Pace: 2 * time.Millisecond,
		OnLoss: []malt.OnLoss{malt.Wait, malt.Shrink, malt.Grow}[(n+n/3)%3],
		Graph:  []string{"all", "ring", "one_peer"}[(n+n/9)%3],
		Sync:   []string{"bsp", "asp", "ssp:3", "notify_ack"}[n%4],
		// No rank is lost because it is slow. If the server was just paused, by the load of the host, a killed rank is lost
		// only after this time: the server takes the end of its connection as an effect of the pause.
		LostAfter: time.Minute,
	}}
	return j, strike{
		kind: []string{"kill", "stop", "garble"}[n%3], rank: rng.IntN(j.Total),
		after: time.Duration(rng.IntN(500)) * time.Millisecond, lasts: time.Duration(1+rng.IntN(3)) * time.Second,
	}
}

// serial returns the model of a program that makes all steps by itself.
func serial(shares [][]sample, rounds uint64) []float64 {
	w, own := make([]float64, width), make([]int, len(shares))
	for i := range own {
		own[i] = i
	}
	for round := range rounds {
		step(w, shares, own, 1, float64(round))
	}
	return w
}
