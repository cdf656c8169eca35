// SPDX-License-Identifier: Apache-2.0

package core

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// simCluster is a machine with simulated clients. Frames between them arrive late, but in order.
// Clients follow the protocol; they may die, fall silent, and be replaced at any time. The cluster
// records what the clients have done, and checks that the machine respects it.
type simCluster struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	m       *Machine
	now     time.Time
	total   int
	steps   uint64 // number of steps of the job
	policy  protocol.OnLoss
	key     string
	clients []*fakeRank // in the order of their connections
	conns   ConnID
	history []string // the events, for a failure

	holders     map[string]uint64 // epoch and rank → attempt: one at most
	resumes     map[protocol.Epoch]resume.Point
	contributed map[string]bool // contributions, by epoch, rank and step
	owed        map[string]bool // files in a DELIVER without a DELIVERED
	done        int             // delivered files
	lowest      int             // lowest rank of the newest epoch, which owes the model
	ended       bool            // the job has finished or failed
	gen         uint32          // generation of the launcher
}

// fakeRank is the process of a client.
type fakeRank struct {
	conn    ConnID
	rank    int // -1: a spare
	number  uint64
	token   [16]byte
	gen     uint32
	inbox   []protocol.Frame // a nil frame is the end of the connection
	outbox  []protocol.Frame
	dead    bool // the process has ended; the server may not have detected this yet
	cut     bool // its connection has ended for the server
	away    bool // and the client has ended it
	outcome string
	ready   bool
	epoch   protocol.Epoch // of the newest EPOCH_START or PULL
	members int
	fenced  protocol.Epoch // the newest epoch that has ended for it
	at      resume.Point   // newest completed step
	missing bool
	pulls   bool
	source  int
	want    resume.Point
	final   bool // COMPLETE was sent
	pace    time.Duration
	owed    []string

	spare     bool             // another attempt has its rank: its data does not count
	replayLog []protocol.Frame // frames that it repeats over another connection
}

func newSimCluster(t interface {
	Helper()
	Fatalf(string, ...any)
}, total int, steps uint64, policy protocol.OnLoss, key string,
) *simCluster {
	s := &simCluster{
		t: t, now: birth, total: total, steps: steps, policy: policy, key: key,
		holders: map[string]uint64{}, resumes: map[protocol.Epoch]resume.Point{}, contributed: map[string]bool{}, owed: map[string]bool{},
	}
	s.m = NewMachine(testRules, 1, 1, constant)
	return s
}

func (s *simCluster) fatalf(format string, args ...any) {
	s.t.Helper()
	n := len(s.history)
	s.t.Fatalf("%s\n%q", fmt.Sprintf(format, args...), s.history[max(0, n-60):])
}

func (s *simCluster) record(format string, args ...any) {
	s.history = append(s.history, fmt.Sprintf(format, args...))
}

// step passes an event to the machine.
func (s *simCluster) step(ev Event) {
	var answers []Event
	for _, a := range s.m.Step(s.now, ev) {
		switch a := a.(type) {
		case SendFrame:
			s.receive(a.Conn, a.Frame)
		case CloseConn:
			if c := s.client(a.Conn); c != nil && !c.cut {
				c.inbox, c.cut = append(c.inbox, nil), true
			}
		case Persist:
			if _, err := protocol.AppendRecord(nil, a.Record); err != nil {
				s.fatalf("%v", err)
			}
			if _, ok := a.Record.(*protocol.FinishedRecord); ok && len(s.owed) > 0 {
				s.fatalf("the job has finished, and %v is not delivered", s.owed)
			}
			if a.Receipt != 0 {
				answers = append(answers, Persisted{Receipt: a.Receipt})
			}
		}
	}
	s.m.check()
	if s.ended && len(s.m.jobs) > 0 { // it was an earlier job of this name
		s.ended = false
		for _, a := range s.clients {
			if a.outcome == "EPOCH_END" || a.outcome == "FINISHED" {
				a.outcome = "FENCED"
			}
		}
	}
	for _, ev := range answers {
		s.step(ev)
	}
}

func (s *simCluster) Helper() { s.t.Helper() }

func (s *simCluster) Fatalf(format string, args ...any) { s.t.Helper(); s.fatalf(format, args...) }

func (s *simCluster) client(c ConnID) *fakeRank {
	for _, a := range s.clients {
		if a.conn == c {
			return a
		}
	}
	return nil
}

// receive appends a frame to a client's inbox, and checks it.
func (s *simCluster) receive(conn ConnID, f protocol.Frame) {
	a := s.client(conn)
	if a == nil || a.cut {
		s.fatalf("%v is sent to connection %d, which has ended", protocol.TypeOf(f), conn)
	}
	if _, err := protocol.AppendFrame(nil, f); err != nil {
		s.fatalf("%v", err)
	}
	a.inbox = append(a.inbox, f)
	if _, ok := f.(*protocol.HeartbeatAckFrame); !ok {
		s.record("%d(%d)<-%v%s", conn, a.rank, protocol.TypeOf(f), fields(f))
	}
	switch f := f.(type) {
	case *protocol.EpochStartFrame:
		s.checkStart(a, f)
	case *protocol.PullFrame:
		if f.Token == [16]byte{} {
			s.fatalf("rank %d gets PULL without a token", a.rank)
		}
	case *protocol.EpochEndFrame:
		switch {
		case f.Final && f.Cause.Code == protocol.AttemptFenced: // by a newer generation, which has the job now
			a.outcome = "FENCED"
		case f.Final:
			a.outcome, s.ended = "EPOCH_END", true
		}
	case *protocol.FinishedFrame:
		a.outcome, s.ended = "FINISHED", true
		if len(s.owed) > 0 || s.done == 0 {
			s.fatalf("FINISHED, with %v owed, %v done", s.owed, s.done)
		}
	case *protocol.RefusedFrame:
		a.outcome = "REFUSED"
	case *protocol.FencedFrame:
		a.outcome = "FENCED"
	case *protocol.DeliverFrame:
		for _, file := range f.Files {
			s.owed[fmt.Sprint(a.rank, " ", file)] = true
		}
	}
}

// checkStart checks an EPOCH_START against the positions of the clients.
func (s *simCluster) checkStart(a *fakeRank, f *protocol.EpochStartFrame) {
	key := fmt.Sprint(f.Epoch, f.Epoch.Incarnation, " ", a.rank)
	if other, ok := s.holders[key]; ok && other != a.number {
		s.fatalf("rank %d of epoch %v is held by attempts %d and %d", a.rank, f.Epoch, other, a.number)
	}
	s.holders[key] = a.number
	from := resume.Point{Epoch: f.ResumeEpoch, Step: f.ResumeStep}
	if old, ok := s.resumes[f.Epoch]; ok && old != from {
		s.fatalf("epoch %v resumes at %v and %v", f.Epoch, old, from)
	}
	s.resumes[f.Epoch] = from
	clear(s.owed) // COMPLETE and DELIVERED are void when a job runs again
	var own *protocol.Missing
	for _, l := range f.Missing {
		if l.Rank == a.rank {
			own = &l
		}
		if l.Rank == l.Source {
			s.fatalf("rank %d is its own source of missing data", l.Rank)
		}
	}
	switch {
	case !a.ready:
		s.fatalf("rank %d is wired and was never READY", a.rank)
	case f.Members.Len() != s.total && s.policy != protocol.Shrink && s.policy != protocol.Grow:
		s.fatalf("epoch %v has %d members of %d", f.Epoch, f.Members.Len(), s.total)
	case a.dead:
	case a.epoch != protocol.Epoch{} && a.fenced.Compare(a.epoch) < 0 && !a.final:
		s.fatalf("rank %d is wired again, and has not sent its position", a.rank)
	case a.at.Compare(from) > 0 && !a.spare:
		s.fatalf("rank %d has completed %v, epoch %v resumes at %v", a.rank, a.at, f.Epoch, from)
	case own == nil && a.at != from:
		s.fatalf("rank %d has completed %v, is missing no data, and epoch %v resumes at %v", a.rank, a.at, f.Epoch, from)
	case own != nil && own.Payload == protocol.PayloadResults && a.at.Step+1 != from.Step:
		s.fatalf("rank %d has completed %v, and must fetch only the results of %v", a.rank, a.at, from)
	}
}

// read lets a client process the oldest frame of its inbox.
func (s *simCluster) read(a *fakeRank) {
	f := a.inbox[0]
	a.inbox = a.inbox[1:]
	switch f := f.(type) {
	case nil:
		a.dead = true
	case *protocol.StandByFrame:
		a.spare = true
	case *protocol.EpochStartFrame:
		a.spare, a.token = false, f.Token
		a.trimReplayLog()
		if a.final && f.Members.Len() < a.members {
			a.final = false // it may owe other files now
			a.replayLog = slices.DeleteFunc(a.replayLog, func(f protocol.Frame) bool { return protocol.TypeOf(f) == protocol.TypeComplete })
		}
		a.epoch, a.missing, a.pulls, a.want, a.members = f.Epoch, false, false, resume.Point{Epoch: f.ResumeEpoch, Step: f.ResumeStep}, f.Members.Len()
		s.lowest = f.Members.At(0).Rank
		for _, l := range f.Missing {
			if l.Rank == a.rank {
				a.missing, a.source = true, l.Source
			}
		}
		s.completeLast(a)
	case *protocol.PullFrame:
		a.spare, a.token = false, f.Token
		a.trimReplayLog()
		a.epoch, a.missing, a.pulls, a.source, a.want = f.Epoch, true, true, f.Source, resume.Point{Epoch: f.ResumeEpoch, Step: f.ResumeStep}
	case *protocol.EpochEndFrame:
		if f.Final {
			a.dead = true
			return
		}
		if f.Epoch.Compare(a.fenced) > 0 {
			a.fenced = f.Epoch
		}
		a.missing, a.pulls = false, false
		a.sendLogged(&protocol.PositionFrame{Epoch: f.Epoch, Completed: a.at.Epoch, Step: a.at.Step, WaitsFor: -1})
	case *protocol.DeliverFrame:
		a.owed = append(a.owed, f.Files...)
	case *protocol.AssignFrame:
		if a.rank >= 0 && a.rank != f.Rank {
			s.fatalf("the spare of rank %d gets rank %d", a.rank, f.Rank)
		}
		a.rank = f.Rank
	case *protocol.FinishedFrame, *protocol.RefusedFrame, *protocol.FencedFrame:
		a.dead = true
	}
}

func (a *fakeRank) sendLogged(f protocol.Frame) {
	a.outbox = append(a.outbox, f)
	a.replayLog = append(a.replayLog, f)
}

// send sends a frame that is not repeated.
func (a *fakeRank) send(f protocol.Frame) { a.outbox = append(a.outbox, f) }

// trimReplayLog removes the frames that are not repeated in a new epoch.
func (a *fakeRank) trimReplayLog() {
	a.replayLog = slices.DeleteFunc(a.replayLog, func(f protocol.Frame) bool {
		t := protocol.TypeOf(f)
		return t == protocol.TypeReady || t == protocol.TypePosition
	})
}

// flush delivers the oldest frame of a client's outbox to the server.
func (s *simCluster) flush(a *fakeRank) {
	f := a.outbox[0]
	a.outbox = a.outbox[1:]
	if !a.cut {
		s.record("%d(%d)->%v%s", a.conn, a.rank, protocol.TypeOf(f), fields(f))
		if d, ok := f.(*protocol.DeliveredFrame); ok {
			key := fmt.Sprint(a.rank, " ", d.File)
			delete(s.owed, key)
			s.done++
		}
		s.step(FrameReceived{a.conn, f})
	}
}

// completeLast sends COMPLETE when the last step is completed.
func (s *simCluster) completeLast(a *fakeRank) {
	if a.at.Step < s.steps || a.final || a.missing {
		return
	}
	a.final = true
	f := &protocol.CompleteFrame{Epoch: a.epoch, Step: a.at.Step, Model: [32]byte{1}}
	if a.rank == s.lowest {
		f.Owed = []string{"model"}
	}
	a.sendLogged(f)
}

// works reports whether a client is in an epoch that runs, and is missing no data.
func (a *fakeRank) works() bool {
	return !a.dead && a.epoch != protocol.Epoch{} && a.fenced.Compare(a.epoch) < 0 && !a.missing && !a.final
}

// contribute records a client's contribution to its next step.
func (s *simCluster) contribute(a *fakeRank) { s.contributed[a.contribution(a.rank)] = true }

func (a *fakeRank) contribution(rank int) string {
	return fmt.Sprint(a.epoch, a.epoch.Incarnation, " ", rank, " ", a.at.Step+1)
}

// complete lets a client complete its next step, if all have contributed to it.
func (s *simCluster) complete(a *fakeRank) bool {
	contributions := 0
	for r := range s.total {
		if s.contributed[a.contribution(r)] {
			contributions++
		}
	}
	if !a.works() || contributions < a.members {
		return false
	}
	a.at = resume.Point{Epoch: a.epoch, Step: a.at.Step + 1}
	a.send(&protocol.ReportFrame{Epoch: a.epoch, Progress: protocol.Progress{Number: a.at.Step, StepTook: a.pace}})
	s.completeLast(a)
	return true
}

// fetch lets a client fetch its missing data, if the source is alive and has it.
func (s *simCluster) fetch(a *fakeRank) bool {
	if !a.missing || a.dead {
		return false
	}
	for _, b := range s.clients {
		if b.dead || b.rank != a.source || b.at != a.want {
			continue
		}
		if a.pulls && b.final || !a.pulls && b.epoch == a.epoch && b.fenced.Compare(b.epoch) < 0 || !a.pulls && b.final {
			a.at, a.missing, a.pulls = a.want, false, false
			s.completeLast(a)
			return true
		}
	}
	return false
}

// enter starts another attempt of a rank; -1: a spare.
func (s *simCluster) enter(rank int) *fakeRank {
	s.conns++
	a := &fakeRank{conn: s.conns, rank: rank, number: uint64(s.conns), gen: s.gen, pace: time.Duration(1+s.conns%3*3) * time.Second}
	s.clients = append(s.clients, a)
	s.record("%d(%d) joins", a.conn, rank)
	s.join(a)
	return a
}

func (s *simCluster) join(a *fakeRank) {
	s.step(JoinReceived{a.conn, Endpoint{Host: "10.0.0.1", Local: "10.0.0.9"}, &protocol.JoinFrame{
		UniqueID: 1, RunKey: s.key, Rank: uint32(a.rank), Total: uint32(s.total), OptionsSHA256: sha256.Sum256(nil), Attempt: a.number,
		OnLoss: s.policy, SlowFactor: 2, Generation: a.gen, Epoch: a.epoch, Completed: a.at.Epoch, Step: a.at.Step, Token: a.token,
	}})
}

// reconnect gives a client another connection. The server may not know yet that the old one has
// ended; frames on their way are lost.
func (s *simCluster) reconnect(a *fakeRank, detected bool) {
	if old := a.conn; detected && !a.cut {
		a.cut, a.away = true, true
		s.step(ConnClosed{old, events.FaultEnded, "connection closed"})
	}
	if s.ended {
		return
	}
	s.conns++
	s.record("%d(%d) is back as %d", a.conn, a.rank, s.conns)
	a.conn, a.cut, a.away, a.inbox, a.outbox = s.conns, false, false, nil, nil
	s.join(a)
	for _, f := range a.replayLog {
		a.sendLogged(f)
	}
}

// restart restarts the server, with or without a journal.
func (s *simCluster) restart(term uint32) {
	s.record("restart")
	s.m = NewMachine(testRules, term, s.m.Incarnation+1, constant)
	for _, a := range s.clients {
		a.cut, a.away, a.inbox, a.outbox = true, true, nil, nil
	}
}

// kill ends a client. The server detects it at once if its connection ends, or by its silence.
func (s *simCluster) kill(a *fakeRank, detected bool) {
	a.dead = true
	s.record("%d(%d) dies", a.conn, a.rank)
	if detected && !a.cut {
		a.cut = true
		s.step(ConnClosed{a.conn, events.FaultEnded, "connection closed"})
	}
}

// pass advances the time. Live clients send a heartbeat.
func (s *simCluster) pass(d time.Duration) {
	s.now = s.now.Add(d)
	if n := len(s.history); n == 0 || s.history[n-1] != d.String() {
		s.record("%v", d)
	}
	for _, a := range s.clients {
		if !a.dead && !a.cut {
			s.step(FrameReceived{a.conn, &protocol.HeartbeatFrame{WaitsFor: -1, Epoch: a.epoch}})
		}
	}
	s.step(TimePassed{})
}
