// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"strings"
	"testing"
	"time"
)

// TestNetworkFaults: four ranks train a hybrid over a network that is slow, loses packets, is
// partitioned, or resets connections. The job ends with the bytes of an undisturbed job, or
// names the rank.
func TestNetworkFaults(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	makeNetwork(t)
	want := ""
	t.Run("undisturbed", func(t *testing.T) { want = newNetJob(t, "").startAll().end("") })

	t.Run("a slow link", func(t *testing.T) {
		sh(t, "ip netns exec h2 tc qdisc add dev eth0 root tbf rate 4mbit burst 32kbit latency 400ms")
		defer sh(t, "ip netns exec h2 tc qdisc del dev eth0 root")
		newNetJob(t, "").startAll().end(want)
	})
	t.Run("lost packets", func(t *testing.T) {
		for h := range 4 {
			rules(t, h, "numgen random mod 100 < 2 drop", "")
			defer cut(t, h, false)
		}
		newNetJob(t, "--heartbeat 1s --lost_after 8s --stall_timeout 8s").startAll().end(want)
	})
	t.Run("a long way", func(t *testing.T) {
		j := newNetJob(t, "")
		relays := newRelays(t, len(j.ranks), 15*time.Millisecond)
		for rank := range j.ranks {
			j.ranks[rank] = j.attempt(rank, rank, modelOf(rank), relays.options(rank)...)
		}
		j.end(want)
		if relays.carried() == 0 {
			t.Error("nothing has gone the long way")
		}
	})
	t.Run("a rank is cut off for a moment", func(t *testing.T) {
		j := newNetJob(t, "--heartbeat 500ms --lost_after 30s --stall_timeout 30s").startAll()
		j.untilPass(2)
		cut(t, 2, true)
		time.Sleep(1500 * time.Millisecond)
		j.until("wired") // and not finished
		cut(t, 2, false)
		j.end(want)
	})
	t.Run("a rank is cut off for good", func(t *testing.T) {
		j := newNetJob(t, "").startAll()
		j.untilPass(2)
		cut(t, 2, true)
		parted := j.ranks[2]
		j.until("recovering")
		j.ranks[2] = j.attempt(2, 4, modelOf(2))
		j.end(want)
		for _, rank := range []int{0, 1, 3} {
			if said := j.ranks[rank].res.stderr; !strings.Contains(said, "rank 2 ("+hostIP(2)+") was lost: silent for ") {
				t.Errorf("rank %d does not name the rank that is cut off:\n%s", rank, tail(said, 20))
			}
		}
		// When the network is back, the rank learns that it is excluded and ends, without
		// disturbing another rank.
		cut(t, 2, false)
		if r := parted.wait(); r.code != 3 && !(r.code == 0 && strings.Contains(tail(r.stderr, 1), "is not needed")) {
			t.Errorf("the rank that was cut off: exit code %d\n%s", r.code, tail(r.stderr, 10))
		}
		j.end(want)
	})
	t.Run("and the job is not to recover", func(t *testing.T) {
		j := newNetJob(t, "")
		for rank := range j.ranks {
			j.ranks[rank] = j.attemptToAbort(rank)
		}
		j.untilPass(2)
		cut(t, 2, true)
		defer cut(t, 2, false)
		for _, rank := range []int{0, 1, 3} {
			r := j.ranks[rank].wait()
			if last := tail(r.stderr, 1); r.code != 3 || !strings.Contains(last, "rank 2") {
				t.Errorf("rank %d: exit code %d, want 3, and rank 2 named: %q", rank, r.code, last)
			}
			nothingLeft(t, j.dir, modelOf(rank))
		}
	})
	t.Run("a host is cut off, and no process is stopped", func(t *testing.T) {
		j := newNetJob(t, "--heartbeat 200ms --lost_after 6s --stall_timeout 12s")
		for rank := range j.ranks {
			j.ranks[rank] = j.attemptToAbort(rank)
		}
		j.untilPass(2)
		cut(t, 2, true)
		defer cut(t, 2, false)
		for _, rank := range []int{0, 1, 3} {
			r := j.ranks[rank].wait()
			if last := tail(r.stderr, 1); r.code != 3 || !strings.Contains(last, "and so did its host: it is down or cut off") {
				t.Errorf("rank %d: exit code %d, want 3, and the host named: %q", rank, r.code, last)
			}
		}
	})
	t.Run("a link between two ranks is broken", func(t *testing.T) {
		// The next attempt of rank 3 does not reach rank 0, from which it is to take the state.
		j := newNetJob(t, "").startAll()
		j.untilPass(2)
		rules(t, 0, "ip saddr "+hostIP(4)+" drop", "ip daddr "+hostIP(4)+" drop")
		defer cut(t, 0, false)
		j.ranks[3].cancel()
		j.until("recovering")
		j.ranks[3] = j.attempt(3, 4, modelOf(3))
		j.untilEpoch("1.3")
		cut(t, 0, false) // collectives need the link
		j.end(want)
		if said := j.ranks[3].res.stderr; !strings.Contains(said, "asking the server for another source") {
			t.Errorf("rank 3 has not asked for another source:\n%s", tail(said, 20))
		}
	})
	t.Run("connections are reset", func(t *testing.T) {
		j := newNetJob(t, "")
		for rank := range j.ranks {
			j.ranks[rank] = j.supervised(rank) // the rank at one end of a connection that fails repeatedly is excluded
		}
		j.untilPass(1)
		// Packets between these two ranks are answered by a reset.
		rules(t, 0, "ip saddr "+hostIP(3)+" meta l4proto tcp reject with tcp reset", "ip daddr "+hostIP(3)+" meta l4proto tcp reject with tcp reset")
		j.until("recovering")
		cut(t, 0, false)
		j.end(want)
	})
}
