// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// callKinds are the kinds of collectives in counts. An all-gather of records is two collectives.
var callKinds = [...]traffic.Call{
	VerbAllReduce: traffic.AllReduce, VerbBroadcast: traffic.Broadcast, VerbSizes: traffic.AllGather, VerbRecords: traffic.AllGather,
	VerbBarrier: traffic.Barrier, VerbReduce: traffic.Reduce, VerbReduceScatter: traffic.ReduceScatter, VerbAllGather: traffic.AllGather,
	VerbGather: traffic.Gather, VerbScatter: traffic.Scatter, VerbSendRecv: traffic.SendReceive, VerbSendRecvArgs: traffic.SendReceive,
}

// callWait is the part of the active call's time in which it has waited for other ranks.
type callWait struct {
	edges  int           // from which it receives, and whose peers have not entered the call
	since  time.Time     // since when there are any; zero: there are none
	took   time.Duration // of waits that are over
	asleep bool          // waits for shared memory count, too
	slept  time.Duration // those before the call
}

// expect notes that the call waits for the first part over an edge, if bytes come from there; under the lock.
func (en *Engine) expect(e *Edge) {
	c := &en.Call
	if _, comes := c.run.Awaits(e.at); !comes || en.Stream || en.Traffic == nil {
		return // vw's stream does not show when a part begins
	}
	e.awaited = true
	if c.wait.edges++; c.wait.edges > 1 {
		return
	}
	if c.wait.since = c.Started; c.wait.asleep { // the ranks of this machine come first
		c.wait.since = time.Now()
	}
}

// arrives ends the wait for the first part over an edge, under the lock. The peer may have entered the call long before: it then
// waited for other ranks.
func (en *Engine) arrives(e *Edge) {
	if !e.awaited {
		return
	}
	e.awaited = false
	c := &en.Call
	if c.wait.edges--; c.wait.edges == 0 {
		c.wait.took += time.Since(c.wait.since)
		c.wait.since = time.Time{}
	}
}

// waited returns how long the active call has waited so far, under the lock.
func (en *Engine) waited(now time.Time) time.Duration {
	w := &en.Call.wait
	d := w.took
	if !w.since.IsZero() {
		d += max(0, now.Sub(w.since))
	}
	if w.asleep {
		d += en.Shared.Slept() - w.slept
	}
	return d
}

// ended counts and records that the call has ended, under the lock.
func (en *Engine) ended() {
	c, now := &en.Call, time.Now()
	en.Events.EndAt(c.mark, now)
	if en.Traffic != nil {
		en.Traffic.Collective(c.Started, now, callKinds[c.ID.Verb], uint64(c.ID.size()), en.waited(now))
	}
}

// tally has the bytes of the calls in shared memory that the meter does not have yet. How they are divided among the ranks is
// computed when the meter gets them.
type tally struct {
	small uint64 // of vectors that each rank reads from all others
	whole uint64 // of vectors of which each rank sums a share, and all take the shares
	part  uint64 // of vectors that the ranks of this machine sum for the first of them, which brings the result
}

// countShared counts a call in shared memory over a vector of n bytes, under the lock. part means that other machines took part.
func (en *Engine) countShared(n int, part bool) {
	var t tally
	switch {
	case part:
		t.part = uint64(n)
	case en.Shared.IsSmall(n):
		t.small = uint64(n)
	default:
		t.whole = uint64(n)
	}
	en.tally = tally{en.tally.small + t.small, en.tally.whole + t.whole, en.tally.part + t.part}
	if !en.Timeline.Metered() {
		return
	}
	ranks, now := en.Shared.Ranks, time.Now()
	sent, received := make([]uint64, len(ranks)), make([]uint64, len(ranks))
	for i, rank := range ranks {
		if sent[i], received[i] = t.between(en.Rank, rank, ranks); sent[i]+received[i] > 0 {
			en.Timeline.Via(rank, traffic.Memory.String())
		}
	}
	busy := max(0, now.Sub(en.Call.Started)-en.waited(now))
	if part {
		busy = 0 // the connections to other machines record their own spans
	}
	en.Timeline.Shared(ranks, sent, received, busy, now)
}

// between returns the bytes that a rank has sent to and received from another one. Each rank reads its share of the vectors of all
// others, and the shares of the result that they have summed. It reads from a rank what that rank has sent.
func (t tally) between(self, rank int, ranks []int) (sent, received uint64) {
	if rank == self {
		return 0, 0
	}
	k, leader := uint64(len(ranks)), ranks[0]
	both := t.small + 2*t.whole/k + t.part/k // of calls with other machines: the share in the sum of this machine
	sent, received = both, both
	switch leader {
	case self: // it takes the shares, and brings the result
		sent, received = sent+t.part, received+t.part/k
	case rank:
		sent, received = sent+t.part/k, received+t.part
	}
	return sent, received
}

// Counts returns the counts of this rank.
func (en *Engine) Counts(now time.Time) *traffic.Counts {
	if en.Traffic == nil {
		return nil
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.Flush()
	if !en.Active {
		return en.Traffic.Counts(now, time.Time{}, 0)
	}
	return en.Traffic.Counts(now, en.Call.Started, en.waited(now))
}

// Flush gives the meter the bytes that have moved since the last call, under the lock.
func (en *Engine) Flush() {
	if en.Traffic == nil {
		return
	}
	for _, e := range en.open {
		in, out := e.Link.Counts()
		moved := traffic.Edge{
			Rank: e.Rank, Via: e.via(), Local: e.local, Sent: uint64(max(0, out-e.counted.out)), Received: uint64(max(0, in-e.counted.in)),
		}
		if e.Rank == link.UnknownRank {
			moved.Rank = -1
		}
		e.counted.in, e.counted.out = in, out
		en.Traffic.Moved(moved)
	}
	en.flushShared()
}

// flushShared gives the meter the bytes of calls in shared memory.
func (en *Engine) flushShared() {
	t := en.tally
	if t == (tally{}) {
		return
	}
	en.tally = tally{}
	for _, rank := range en.Shared.Ranks {
		sent, received := t.between(en.Rank, rank, en.Shared.Ranks)
		en.Traffic.Moved(traffic.Edge{Rank: rank, Via: traffic.Memory, Local: true, Sent: sent, Received: received})
	}
}

// via returns the carrier of an edge.
func (e *Edge) via() traffic.Via {
	switch {
	case e.Verbs.Out:
		return traffic.Verbs
	case e.Ring.Out:
		return traffic.Memory
	}
	return traffic.TCP
}
