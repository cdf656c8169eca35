// SPDX-License-Identifier: Apache-2.0

//go:build linux && long

package tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestNetworkStorm: jobs under gvw supervise, and a network that misbehaves at random, for some
// seconds each. All end with the bytes of an undisturbed one. GVW_NETWORK_STORM is how many
// there are, GVW_NETWORK_SEED the seed of the first.
func TestNetworkStorm(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	makeNetwork(t)
	want := ""
	t.Run("undisturbed", func(t *testing.T) { want = newNetJob(t, "").startAll().end("") })
	jobs, first := fromEnv(t, "GVW_NETWORK_STORM", 40), fromEnv(t, "GVW_NETWORK_SEED", 1)
	for seed := first; seed < first+jobs; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			j := newNetJob(t, "")
			for rank := range j.ranks {
				j.ranks[rank] = j.supervised(rank)
			}
			j.untilPass(1)
			for range 1 + rng.IntN(3) {
				undo := misbehave(t, rng)
				time.Sleep(time.Duration(100+rng.IntN(5000)) * time.Millisecond)
				undo()
				time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			}
			j.end(want)
		})
	}
}

func fromEnv(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, text)
	}
	return n
}

// misbehave breaks something, and returns how to mend it.
func misbehave(t *testing.T, rng *rand.Rand) (undo func()) {
	t.Helper()
	host := rng.IntN(4)
	other := (host + 1 + rng.IntN(3)) % 4
	mend := func() { cut(t, host, false) }
	kind := rng.IntN(6)
	t.Logf("host %d, other %d: kind %d", host, other, kind)
	switch kind {
	case 0:
		sh(t, fmt.Sprintf("ip netns exec h%d tc qdisc add dev eth0 root tbf rate %dkbit burst 32kbit latency 400ms", host, 500+rng.IntN(8000)))
		return func() { sh(t, fmt.Sprintf("ip netns exec h%d tc qdisc del dev eth0 root", host)) }
	case 1:
		rules(t, host, fmt.Sprintf("numgen random mod 100 < %d drop", 1+rng.IntN(20)), "")
	case 2:
		cut(t, host, true)
	case 3: // two are parted, and both reach the server
		rules(t, host, "ip saddr "+hostIP(other)+" drop", "ip daddr "+hostIP(other)+" drop")
	case 4: // one way alone
		rules(t, host, "ip saddr "+hostIP(other)+" drop", "")
	case 5:
		rules(t, host, "ip saddr "+hostIP(other)+" meta l4proto tcp reject with tcp reset", "")
	}
	return mend
}
