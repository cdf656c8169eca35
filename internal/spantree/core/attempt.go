// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/edges"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// attempt is a process that claims a rank of a job: a holder, a standby or a spare.
type attempt struct {
	conn   ConnID
	job    *job
	rank   int    // -1: a spare without a rank
	vw     bool   // it speaks vw's protocol
	number uint64 // chosen by the attempt; vw workers have none
	from   Endpoint
	host   string    // name for people
	joined time.Time // when it joined, or got its rank as a spare

	// Of native attempts.
	advertise    string // host of its data listener; "": from.Host
	capabilities uint64 // forwarded to the other ranks without being decoded
	version      string // of its program
	lastFrame    time.Time
	lostAfter    time.Duration // silence after which it is lost
	kernelAck    time.Duration // since its host acknowledged something, while it is silent; 0: unknown
	ready        bool          // it has sent READY
	shard        protocol.Shard
	reported     lastReport
	progress     protocol.Progress
	traffic      *traffic.Counts // newest; nil: none
	waitText     string          // the event that it waits for, in words
	complete     bool            // it has sent COMPLETE
	model        [32]byte        // SHA-256, in COMPLETE
	owed         []string        // files not delivered yet
	deliverSent  bool            // it was sent DELIVER
	epochState
	speed
	waits  edges.Waits    // of its heartbeats
	events []events.Event // that it has sent before its end

	// port is that of the data listener. A vw worker sends it later than its registration; hasPort
	// reports that it is known.
	port              uint16
	kidsSent, hasPort bool      // kidsSent: the vw worker was sent its number of children
	kidsAt            time.Time // when that was sent; PortTimeout counts from it
}

// attrs returns the attributes that identify the attempt in log lines.
func (a *attempt) attrs() []slog.Attr {
	rank := slog.Int("rank", a.rank)
	if a.rank < 0 {
		rank = slog.Bool("spare", true)
	}
	return []slog.Attr{slog.String("job", a.job.id.String()), rank, slog.String("host", a.host)}
}

// joinedFrame returns the JOINED that answers the attempt now.
func (a *attempt) joinedFrame() *protocol.JoinedFrame {
	return &protocol.JoinedFrame{
		Attempt: a.number, LostAfter: a.lostAfter, Joined: uint32(a.job.accountedFor()), Seen: protocol.Clip(a.from.Host, protocol.MaxHost),
		Members: a.job.membership,
	}
}

// epochState is the state of a native attempt in the epochs of its job.
type epochState struct {
	isHolder   bool
	generation uint32
	readyOrder int    // of READY within the job
	checkpoint uint64 // step of its checkpoint, of rank 0 only; 0: none
	sentHolder uint64 // holder in the newest STANDBY, plus 1; 0: none was sent

	wired          protocol.Epoch // epoch of which it is a member; zero: none yet
	endSent        bool           // EPOCH_END of that epoch was sent
	endSentAt      time.Time
	answered       bool         // by POSITION or COMPLETE
	position       resume.Point // its newest completed step
	hasWork        bool         // it has its contribution to the next step
	unknownHistory bool         // it has joined a restarted server, which does not know how it reached its position
	rejoined       bool         // it has reported its epoch to a restarted server
	fetchedState   resume.Point // resume point for which it fetches the state: it does not have the results of that step

	cutOff    []*attempt   // sources of which it gets no data, since the newest completed step
	pullsFrom *attempt     // source in the newest PULL; nil: none
	pullPoint resume.Point // position of that source
	ackedAt   time.Time    // time of the newest HEARTBEAT_ACK or JOINED
}

// members returns the holders in ascending order of their ranks.
func (j *job) members() []*attempt { return slices.Clone(j.inOrder) }

// place returns the place of a rank in inOrder, and whether it has a holder.
func (j *job) place(rank int) (int, bool) {
	return slices.BinarySearchFunc(j.inOrder, rank, func(a *attempt, rank int) int { return a.rank - rank })
}

// attempts returns all attempts of a job: holders by rank, then standbys, then spares.
func (j *job) attempts() []*attempt {
	all := j.members()
	for _, r := range sortedRanks(j.standbys) {
		all = append(all, j.standbys[r]...)
	}
	return append(all, j.spares...)
}

// find returns the attempt of a rank with this number, or nil.
func (j *job) find(rank int, number uint64) *attempt {
	if a := j.holders[rank]; a != nil && !a.vw && a.number == number {
		return a
	}
	for _, a := range j.standbys[rank] {
		if a.number == number {
			return a
		}
	}
	return nil
}

// findSpare returns the attempt with this number that has joined as a spare. It may have a rank
// without knowing it.
func (j *job) findSpare(number uint64) *attempt {
	all := j.attempts()
	if i := slices.IndexFunc(all, func(a *attempt) bool { return !a.vw && a.number == number }); i >= 0 {
		return all[i]
	}
	return nil
}

// free reports whether an attempt that joins now may become the holder of the rank.
func (j *job) free(rank int) bool {
	if j.holders[rank] != nil || j.removed[rank] {
		return false
	}
	_, vacant := j.losses.vacant[rank]
	return j.phase == filling || vacant
}

// missing returns the ranks that the job waits for and that have no holder, in ascending order.
func (j *job) missing() []int {
	var missing []int
	for r := range j.total {
		if j.holders[r] == nil && !j.removed[r] {
			missing = append(missing, r)
		}
	}
	return missing
}

// notReady returns the native ranks that have joined and are not READY, in ascending order.
func (j *job) notReady() []int {
	var slow []int
	for _, a := range j.members() {
		if !a.vw && !a.ready {
			slow = append(slow, a.rank)
		}
	}
	return slow
}

// noAttempts reports whether no attempt with a rank is left.
func (j *job) noAttempts() bool {
	return j.phase != filling && len(j.holders) == 0 && len(j.standbys) == 0
}

// empty reports whether no attempt is left at all, and the job does not wait for the journal either.
func (j *job) empty() bool { return j.noAttempts() && len(j.spares) == 0 && j.finish.receipt == 0 }

// setHolder makes an attempt the holder of its rank.
func (j *job) setHolder(a *attempt) {
	if at, ok := j.place(a.rank); ok {
		j.inOrder[at] = a
	} else {
		j.inOrder = slices.Insert(j.inOrder, at, a)
	}
	j.holders[a.rank], a.isHolder = a, true
	j.changes++
	if !a.vw {
		j.native++
		if a.ready {
			j.ready++
		}
	}
}

// clearHolder ends that. The counters of the job follow.
func (j *job) clearHolder(a *attempt) {
	if at, ok := j.place(a.rank); ok {
		j.inOrder = slices.Delete(j.inOrder, at, at+1)
	}
	delete(j.holders, a.rank)
	a.isHolder = false
	j.changes++
	if a.vw {
		return
	}
	j.native--
	if a.ready {
		j.ready--
	}
	if a.complete {
		j.finish.completed--
		j.finish.owed -= len(a.owed)
	}
	if a.endSent && !a.answered {
		j.lastEnd.unanswered--
	}
}

// forget removes an attempt from its job.
func (m *Machine) forget(a *attempt) {
	delete(m.Conns, a.conn)
	switch {
	case a.isHolder:
		a.job.clearHolder(a)
	case a.rank < 0:
		a.job.dropSpare(a)
	default:
		a.job.dropStandby(a)
		if a.job.handover.previous == a {
			a.job.handover.previous = nil
		}
	}
}

// sortedRanks returns the keys of a map by rank, so that nothing depends on the order of a map.
func sortedRanks[V any](by map[int]V) []int { return slices.Sorted(maps.Keys(by)) }

// assign sets a key of a map that may be nil.
func assign[K comparable, V any](to *map[K]V, k K, v V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[k] = v
}
