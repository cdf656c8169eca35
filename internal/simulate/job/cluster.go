// SPDX-License-Identifier: Apache-2.0

package job

import (
	"container/heap"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// cluster is a server's machine with the attempts of a job.
type cluster struct {
	Config
	machine *core.Machine
	random  *rand.Rand
	now     time.Duration
	added   uint64
	coming  timers
	inbox   []delivery // frames of the machine that no attempt has read yet
	busy    bool       // the inbox is being emptied

	attempts []*attempt // that are alive, or of which the server does not know that they are not; oldest first
	byConn   map[core.ConnID]*attempt
	conns    core.ConnID
	members  []*attempt // of the newest epoch
	epoch    protocol.Epoch
	running  bool          // the epoch has started, and not ended
	version  uint64        // changes when a step begins or is given up
	step     uint64        // newest completed step
	beaten   time.Duration // of the last heartbeats of all
	moved    time.Duration // of the last start of a step
	ended    time.Duration // of the last end of an epoch
	ticking  bool

	losses, epochs int
	done           bool
	failed         string // why the job has failed
}

// delivery is a frame on its way to an attempt.
type delivery struct {
	to    *attempt
	frame protocol.Frame
}

// attempt is a process that holds a rank, or waits for one.
type attempt struct {
	conn    core.ConnID
	rank    int // -1: a spare
	dead    bool
	known   bool // the server knows that it is dead
	loading bool
	epoch   protocol.Epoch // in which it is wired
	at      protocol.Epoch // epoch of its newest completed step
	step    uint64         // number of that step
	fetches bool           // it lacks the state of the epoch's resume point
	from    time.Duration  // when it can begin its part of the step
}

// birth is the time of the calendar at which a simulation begins.
var birth = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newCluster(c Config) *cluster {
	return &cluster{
		Config: c, random: rand.New(rand.NewPCG(c.Seed, 22)), byConn: map[core.ConnID]*attempt{},
		machine: core.NewMachine(core.Rules{
			MaxJobs: 1, MaxRanks: MaxRanks, LostAfter: c.LostAfter, Grace: c.LostAfter, PortTimeout: time.Minute, ReplaceTimeout: maxTime, IdleFor: maxTime,
			JournalTimeout: time.Hour, Remember: 1, RememberBytes: 1 << 20, RememberFor: time.Hour, Version: "simulation",
		}, 1, 1, func(b []byte) {
			for i := range b {
				b[i] = byte(i + 1) // tokens need not be secret here
			}
		}),
	}
}

// after calls do when d has passed.
func (s *cluster) after(d time.Duration, do func()) {
	s.added++
	heap.Push(&s.coming, timer{s.now + d, s.added, do})
}

// tell passes an event to the machine, and its frames to the attempts.
func (s *cluster) tell(ev core.Event) {
	for _, a := range s.machine.Step(birth.Add(s.now), ev) {
		switch a := a.(type) {
		case core.SendFrame:
			if to := s.byConn[a.Conn]; to != nil && !to.dead {
				s.inbox = append(s.inbox, delivery{to, a.Frame})
			}
		case core.CloseConn:
			if to := s.byConn[a.Conn]; to != nil {
				s.drop(to)
			}
		case core.Persist:
			if a.Receipt != 0 {
				defer s.tell(core.Persisted{Receipt: a.Receipt})
			}
		}
	}
	if s.busy {
		return
	}
	s.busy = true
	for len(s.inbox) > 0 {
		d := s.inbox[0]
		s.inbox = s.inbox[1:]
		if !d.to.dead {
			s.read(d.to, d.frame)
		}
	}
	s.busy = false
}

// send sends a frame to the server.
func (s *cluster) send(a *attempt, f protocol.Frame) {
	if !a.dead && !a.known {
		s.tell(core.FrameReceived{Conn: a.conn, Frame: f})
	}
}

// drop forgets an attempt whose connection has ended.
func (s *cluster) drop(a *attempt) {
	a.known = true
	delete(s.byConn, a.conn)
	s.attempts = slices.DeleteFunc(s.attempts, func(b *attempt) bool { return a == b })
}

// startAll starts all ranks and spares.
func (s *cluster) startAll() {
	for rank := range s.Ranks {
		s.start(rank)
	}
	for range s.Spares {
		s.start(-1)
	}
}

// start starts an attempt of a rank; -1: a spare.
func (s *cluster) start(rank int) {
	if s.done {
		return
	}
	s.conns++
	a := &attempt{conn: s.conns, rank: rank}
	s.attempts = append(s.attempts, a)
	s.byConn[a.conn] = a
	host := fmt.Sprintf("10.%d.%d.%d", a.conn>>16, a.conn>>8&255, a.conn&255)
	join := &protocol.JoinFrame{
		UniqueID: 1, Rank: uint32(rank), Total: uint32(s.Ranks), OptionsSHA256: sha256.Sum256(nil), Attempt: uint64(a.conn),
		OnLoss: s.OnLoss, Heartbeat: heartbeat, LostAfter: s.LostAfter, RunKey: "simulation", Host: host,
	}
	if rank < 0 {
		join.Rank = protocol.NoRank
	} else {
		s.load(a)
	}
	s.tell(core.JoinReceived{Conn: a.conn, From: core.Endpoint{Host: host, Local: "10.255.255.255"}, Join: join})
	if s.Between > 0 {
		s.end(a, time.Duration(min(s.random.ExpFloat64()*float64(s.Between), float64(maxTime))), s.random.Float64() < s.Silent)
	}
}

// load lets an attempt load the data of its rank. Then it is READY.
func (s *cluster) load(a *attempt) {
	a.loading = true
	s.after(s.Load, func() {
		a.loading = false
		s.send(a, &protocol.ReadyFrame{Shard: protocol.Shard{Examples: 1, Bytes: 1}})
	})
}

// end lets an attempt end after a time. Before, it sends its last heartbeat.
func (s *cluster) end(a *attempt, after time.Duration, silent bool) {
	last := (s.now + after) / heartbeat * heartbeat
	s.after(max(0, last-s.now), func() { s.beat(a) })
	s.after(after, func() {
		if a.dead || a.known {
			return
		}
		a.dead = true
		held := a.epoch != protocol.Epoch{}
		if held {
			s.losses++
		}
		if s.OnLoss != protocol.Shrink || s.epochs == 0 { // no job starts without a rank
			rank := a.rank
			if s.Spares > 0 {
				rank = -1 // a spare has its rank, or will have it
			}
			s.after(s.Restart, func() { s.start(rank) })
		}
		if !silent {
			s.drop(a)
			s.tell(core.ConnClosed{Conn: a.conn, Fault: events.FaultEnded, Why: "connection closed"})
		}
		s.tick()
	})
}

// beat sends a heartbeat.
func (s *cluster) beat(a *attempt) {
	s.send(a, &protocol.HeartbeatFrame{WaitsFor: -1, Epoch: a.epoch})
}

// tick starts the ticks of the server and the heartbeats, as long as they matter: in a recovery, and while an attempt is
// silent.
func (s *cluster) tick() {
	if s.ticking || s.done {
		return
	}
	s.ticking = true
	s.after(0, s.onTick)
}

func (s *cluster) onTick() {
	if s.now-s.moved > maxWait {
		s.failed = fmt.Sprintf("no step and no epoch since %v: the losses are too frequent", s.moved)
		return
	}
	if s.beaten == 0 || s.now-s.beaten >= s.LostAfter/4 {
		s.beaten = s.now
		for _, a := range slices.Clone(s.attempts) {
			s.beat(a)
		}
	}
	s.tell(core.TimePassed{})
	silent := slices.ContainsFunc(s.attempts, func(a *attempt) bool { return a.dead })
	if s.running && !silent || s.done || s.failed != "" {
		s.ticking = false
		return
	}
	next := core.TickInterval
	if !silent && s.now-s.ended > 2*s.LostAfter {
		next = s.LostAfter / 4 // the job waits for attempts that load: their READY is what matters
	}
	s.after(next, s.onTick)
}

// read lets an attempt process a frame of the server.
func (s *cluster) read(a *attempt, f protocol.Frame) {
	switch f := f.(type) {
	case *protocol.AssignFrame:
		if a.rank != f.Rank {
			a.rank = f.Rank
			s.load(a)
		}
	case *protocol.EpochStartFrame:
		s.begin(a, f)
	case *protocol.EpochEndFrame:
		if f.Final {
			s.failed = fmt.Sprintf("the server has ended the job at %v: %s", s.now, f.Cause.Why)
			return
		}
		s.running, s.ended = false, s.now
		s.version++
		s.tick()
		a.fetches = false
		s.send(a, &protocol.PositionFrame{Epoch: f.Epoch, Completed: a.at, Step: a.step, WaitsFor: -1})
	case *protocol.RefusedFrame:
		s.failed = fmt.Sprintf("the server has refused an attempt of rank %d: %s", a.rank, f.Reason)
	case *protocol.FencedFrame:
		a.dead = true
		s.drop(a)
	case *protocol.PullFrame:
		s.failed = "BUG: PULL before the end of the job"
	}
}

// begin lets an attempt begin an epoch. The last one of its members begins the step.
func (s *cluster) begin(a *attempt, f *protocol.EpochStartFrame) {
	if s.epoch != f.Epoch {
		s.epoch, s.members, s.running = f.Epoch, s.members[:0], true
		s.epochs++
	}
	a.epoch, a.from = f.Epoch, s.now
	for _, m := range f.Missing {
		if m.Rank == a.rank {
			a.fetches = true
			a.from += s.Fetch
			s.after(s.Fetch, func() {
				if a.fetches && a.epoch == f.Epoch {
					a.at, a.step, a.fetches = f.ResumeEpoch, f.ResumeStep, false
				}
			})
		}
	}
	if !a.fetches && a.step != f.ResumeStep {
		s.failed = fmt.Sprintf("BUG: rank %d is at step %d, and begins at %d without fetching", a.rank, a.step, f.ResumeStep)
	}
	s.step = f.ResumeStep
	if s.members = append(s.members, a); len(s.members) == f.Members.Len() {
		s.nextStep()
	}
}

// nextStep begins a step. It is complete when all members that are alive at its end have made their part. A member that is
// dead lets all others wait until the epoch ends.
func (s *cluster) nextStep() {
	s.version++
	version, from := s.version, s.now
	s.moved = s.now
	for _, a := range s.members {
		from = max(from, a.from)
	}
	s.after(from+s.Step-s.now, func() {
		if version != s.version || slices.ContainsFunc(s.members, func(a *attempt) bool { return a.dead }) {
			return
		}
		s.step++
		for _, a := range s.members {
			a.at, a.step, a.fetches = s.epoch, s.step, false
		}
		if s.step >= uint64(s.Steps) {
			s.done = true
			return
		}
		s.nextStep()
	})
}
