// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
	"github.com/gvw-project/gvw/internal/spantree/retry"
)

// job is a job that has had at least one attempt. Fields that have a meaning in one phase only are
// together in a type of their own: fillState, endedEpoch and finishState.
type job struct {
	id      protocol.Job
	created time.Time
	phase   phase
	agreement

	holders  map[int]*attempt   // by rank: the attempts that the server has accepted
	inOrder  []*attempt         // the same, by rank; setHolder and clearHolder change both
	standbys map[int][]*attempt // by rank, in order of arrival
	spares   []*attempt         // in order of arrival
	departed map[int]departure  // end of the newest holder of each rank that has none

	native     int              // holders that speak the native protocol
	ready      int              // those of them that are READY
	readyCount int              // READY frames so far: the order in which attempts became READY
	changes    int              // of holders, ready and departed so far: a report is valid until the next one
	removed    map[int]bool     // ranks without which the job continues: lost ones, and excluded ones
	membership protocol.Members // excluded ranks of an elastic job, once they are known

	epoch    protocol.Epoch // the newest; zero while the job fills
	vwStream bool           // the data connections carry vw's stream
	wiring   epochWiring    // of epoch
	fill     fillState      // while filling
	lastEnd  endedEpoch     // while recovering; also while ending, if a rank was lost
	finish   finishState    // while ending

	losses     losses
	links      links
	evictions  evictions
	handover   handover
	restart    restart
	waitReport waitReport
	refusals   refusalCount
	earlier    *history.Failure     // of a job of the same name, shortly before; nil: none
	newestLoss *attempt             // the holder that was lost last; nil: none
	nextStall  time.Time            // of the next inquiry about a stall
	found      *protocol.FoundCause // by the newest inquiry; nil: none has ended
	traffic    *traffic.Counts      // of all attempts; nil: none has sent counts
}

// agreement is what all ranks of a job must agree on. The first native attempt sets it.
type agreement struct {
	generation     uint32 // restarts of the whole job
	total          int    // ranks, members or not
	options        string
	digest         [32]byte // SHA-256 of options
	owner          [32]byte // SHA-256 of the claim that cancels the job; zero: every client may
	policy         protocol.OnLoss
	replaceTimeout time.Duration // for the replacement of a lost rank
	slowFactor     float64       // times the median: from there on a rank is handed over; up to 1: never
	startTimeout   time.Duration // from the first join to a start without missing ranks; 0: never
}

// fillState is the state of a job that fills.
type fillState struct {
	firstJoin   time.Time // from which startTimeout counts; zero: no rank has joined
	missingFrom time.Time // since when all ranks that have joined wait for missing ones; zero: they do not
}

// epochWiring is the content of the frames that started an epoch.
type epochWiring struct {
	token    [16]byte                  // authenticates the data connections
	gateway  string                    // the gateway's address as seen by members on other hosts; "": all are on it
	resumeAt resume.Point              // where the epoch began
	start    *protocol.EpochStartFrame // for members that reconnect; nil: the job does not recover
	shards   map[int]protocol.Shard    // data that the members have read, by rank
}

// endedEpoch is the end of the newest epoch.
type endedEpoch struct {
	cause      protocol.Cause
	at         time.Time
	unanswered int // holders that have not answered EPOCH_END
}

// finishState is the state of a job of which a rank is COMPLETE. Its zero value is that of a job
// in any other phase.
type finishState struct {
	completed   int      // holders that are COMPLETE
	model       [32]byte // SHA-256, equal on all of them; valid after deliverSent
	deliverSent bool     // DELIVER was sent to at least one holder
	leaseWaits  bool     // a DELIVER waits for the lease of a lost attempt to expire
	owed        int      // files that COMPLETE holders must still deliver
	owedByLost  map[int][]string
	files       []protocol.DeliveredFile // in order of their delivery
	source      *attempt                 // from which others fetch missing data; nil: not chosen yet
	receipt     uint64                   // of the finished record; 0: not written yet
	sentAt      time.Time                // when the journal got that record
}

// losses is the state of a job's lost ranks.
type losses struct {
	vacant  map[int]vacancy   // lost ranks that must be replaced
	leases  map[int]time.Time // until then a lost attempt of the rank may rename files to their final names
	shrunk  protocol.Epoch    // the first epoch of fewer ranks: COMPLETE of earlier ones does not count
	retries retry.Budget

	newest   protocol.Cause // why the newest of the epochs ended that have ended, for the status
	newestAt time.Time      // zero: none has ended
	newestIn protocol.Epoch
}

// vacancy is the loss of a rank that must be replaced.
type vacancy struct {
	since time.Time
	cause protocol.Cause
}

// evictions are the attempts that have lost their ranks for good.
type evictions struct {
	attempts map[uint64]string   // by number, with the reason; at most maxEvicted
	hosts    map[rankOnHost]bool // from which an attempt of the rank was evicted
	stranded map[int]string      // by rank: the host of the newest attempt that was cut off from all sources
}

// refusalCount counts attempts that disagreed with the job's other ranks.
type refusalCount struct {
	count  int
	newest string // the reason
}

// departure is the end of an attempt that was a rank's holder.
type departure struct {
	host, why string
	fault     events.Fault
	at        time.Time
}

// recovers reports whether the job continues after the loss of a rank.
func (j *job) recovers() bool { return j.policy != protocol.Abort && !j.vwStream && !j.mixed() }

// configured reports whether a native attempt has set the agreement.
func (j *job) configured() bool {
	return j.native > 0 || len(j.spares) > 0 || j.epoch != protocol.Epoch{}
}

// mixed reports whether the job has vw workers.
func (j *job) mixed() bool { return j.native < len(j.holders) }

// phase is a part of the life of a job:
//
//	filling ──▶ wired ──▶ ending ──▶ (removed)
//	             ▲ │         ▲
//	             │ ▼         │
//	          recovering ────┘
//
// A job that recovers from losses goes from wired to recovering and back any number of times.
// COMPLETE may cross EPOCH_END, so a job may end while it recovers. If all COMPLETE ranks of an
// ending job are lost, the job is wired again ([Machine.reopen]). A job may fail in any phase.
// A job that has failed or finished is removed from the machine, which keeps its outcome.
type phase int

const (
	filling    phase = iota // ranks join; in a job with vw workers also while these are wired
	wired                   // the epoch runs
	recovering              // the epoch has ended, and the next one has not begun
	ending                  // a rank is COMPLETE
	failed                  // the final EPOCH_END was sent
	phases                  // their number
)

func (p phase) String() string {
	return [...]string{"filling", "wired", "recovering", "ending", "failed"}[p]
}

// nextPhases are the phases that may follow each phase. A restarted server wires a job that fills
// or recovers, when a rank reports an epoch that the server does not know ([Machine.adoptEpoch]).
var nextPhases = [phases][]phase{
	filling:    {wired, failed},
	wired:      {recovering, ending, failed},
	recovering: {wired, ending, failed},
	ending:     {wired, failed},
}

// phaseChanges counts the changes from each phase to each other one. Tests compare it with
// nextPhases.
type phaseChanges [phases][phases]int

// enter moves a job to a phase. It does nothing if the job is in that phase.
func (m *Machine) enter(j *job, to phase) {
	if j.phase == to {
		return
	}
	if invariant.Enabled {
		invariant.Check(slices.Contains(nextPhases[j.phase], to), "spantree: job %v goes from %v to %v", j.id, j.phase, to)
	}
	m.phaseChanges[j.phase][to]++
	switch j.phase {
	case filling:
		j.fill = fillState{}
	case ending:
		if to == wired {
			j.finish = finishState{}
		}
	}
	j.phase = to
}
