// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The server's mind, without a socket, a clock or a goroutine: an event goes
// in, with the time at which it happened, and what is to be done comes out.
// server.go feeds it and does what it says; the transcripts in
// testdata/machine show what it says to whom.

// ConnID is a connection, as the shell numbers them.
type ConnID uint64

// Endpoint is where a connection comes from.
type Endpoint struct {
	Host  string // the far end's address as seen here
	Local string // our address as the far end sees it
}

// Event is something that happened to the server.
type Event interface{ event() }

type (
	// VwHello are the three numbers by which a vw worker registers.
	VWHello struct {
		Conn                ConnID
		From                Endpoint
		Unique, Total, Rank uint64
	}
	// VwPort is the number that a vw worker answers kid_count with.
	VWPort struct {
		Conn ConnID
		Port uint16
	}
	// Arrived is a JOIN.
	JoinReceived struct {
		Conn ConnID
		From Endpoint
		Join *protocol.JoinFrame
	}
	// Received is any other frame of a connection that has joined.
	FrameReceived struct {
		Conn  ConnID
		Frame protocol.Frame
	}
	// Asked is a STATUS.
	StatusRequested struct{ Conn ConnID }
	// Cancelling is a CANCEL.
	CancelRequested struct {
		Conn   ConnID
		From   Endpoint
		Cancel *protocol.CancelFrame
	}
	// Closed ends a connection. A connection that the machine hung up may
	// still be closed; the machine does not know it any more.
	ConnClosed struct {
		Conn ConnID
		Why  string
	}
	// Ticked is the passing of time.
	TimePassed struct{}
	// Drained asks for no new jobs.
	DrainRequested struct{}
	// Persisted answers a persist that has a receipt.
	Persisted struct {
		Receipt uint64
		Err     error
	}
	// JournalFailed reports that no record reaches the journal any more.
	JournalFailed struct{ Err error }
)

func (VWHello) event()         {}
func (VWPort) event()          {}
func (JoinReceived) event()    {}
func (FrameReceived) event()   {}
func (StatusRequested) event() {}
func (CancelRequested) event() {}
func (ConnClosed) event()      {}
func (TimePassed) event()      {}
func (DrainRequested) event()  {}
func (Persisted) event()       {}

func (JournalFailed) event() {}

// action is something the shell has to do, in the order given.
type action interface{ action() }

type (
	SendFrame struct {
		Conn  ConnID
		Frame protocol.Frame
	}
	// SendBytes is for vw workers.
	SendBytes struct {
		Conn  ConnID
		Bytes []byte
	}
	// HangUp closes a connection once everything before has been written.
	CloseConn struct{ Conn ConnID }
	// Persist writes a record to the journal. With a receipt it is synced and
	// answered by persisted; if there is no journal, at once.
	Persist struct {
		Record  protocol.Record
		Receipt uint64
	}
	// Note is a line for the log.
	LogLine struct {
		Level       slog.Level
		Text        string
		Attrs       []slog.Attr
		RateLimited bool // it is about a client that was refused, and there may be many
	}
)

func (SendFrame) action() {}
func (SendBytes) action() {}
func (CloseConn) action() {}
func (Persist) action()   {}
func (LogLine) action()   {}

// Rules are the bounds a machine keeps. All must be positive.
type Rules struct {
	MaxJobs, MaxRanks int
	Tick              time.Duration // between two ticks; a longer gap between events is a pause of the server, 0: none is
	LostAfter         time.Duration // silence of a native rank that does not say otherwise
	PortTimeout       time.Duration // from kid_count to a vw worker's port
	ReplaceTimeout    time.Duration // for a lost rank to be replaced, where the job does not say otherwise
	IdleFor           time.Duration // silence that nobody may ask for more than
	JournalTimeout    time.Duration // for a record to reach the disk
	Remember          int           // finished runs
	RememberBytes     int64
	Version           string // of the program
	RememberFor       time.Duration
}

// Machine is the state of a server.
type Machine struct {
	Rules
	Term        uint32
	Incarnation uint64
	random      func([]byte) // fills with random bytes

	Now          time.Time // by the clock, which stands still while the server does not run
	wall         time.Time // of the calendar, for records
	clock        clock.Clock
	out          []action
	jobs         map[protocol.Job]*job
	order        []*job // the same, oldest first: nothing depends on map order
	Conns        map[ConnID]*attempt
	finished     finishedRuns
	pastJobs     pastJobs
	endings      endings
	refused      refusals
	Grace        time.Time // until then attempts of an earlier life of the server may report
	draining     bool
	receipts     uint64
	phaseChanges phaseChanges
	steps        uint64          // events so far, counted in builds that check invariants
	awaiting     map[uint64]*job // by receipt
	broken       string          // why no record reaches the journal any more; "": they do
}

// NewMachine returns a machine without jobs. random fills its argument with random bytes.
func NewMachine(r Rules, term uint32, incarnation uint64, random func([]byte)) *Machine {
	return &Machine{
		Rules: r, Term: term, Incarnation: incarnation, random: random, clock: clock.Clock{Tick: r.Tick},
		jobs: map[protocol.Job]*job{}, Conns: map[ConnID]*attempt{}, awaiting: map[uint64]*job{},
		finished: finishedRuns{by: map[string]*protocol.FinishedRecord{}, limit: r.Remember, room: r.RememberBytes, age: r.RememberFor},
	}
}

// reportedPause is the shortest pause of the server that the log mentions.
const reportedPause = time.Second

// Read takes the time. A pause of the server is none of the ranks' silence.
func (m *Machine) Read(now time.Time) {
	var pause time.Duration
	m.wall = now
	if m.Now, pause = m.clock.Read(now); pause >= reportedPause {
		m.log(slog.LevelWarn, "this server was paused: the time does not count as silence of ranks", slog.String("for", pause.Round(time.Millisecond).String()))
	}
}

// mayReturn reports whether an attempt whose connection has ended may be about to join
// again: to the attempt, a paused server looks like a dead one. If the attempt does not
// come back, its silence counts from now on.
func (m *Machine) mayReturn(a *attempt) bool {
	return m.clock.Settling() && a.isHolder && a.job.recovers() && a.wired != protocol.Epoch{}
}

// Step returns what to do about an event. The result is valid until the next call.
func (m *Machine) Step(now time.Time, ev Event) []action {
	m.out = m.out[:0]
	m.Read(now)
	switch ev := ev.(type) {
	case VWHello:
		m.onVWHello(ev)
	case VWPort:
		m.onVWPort(ev)
	case JoinReceived:
		m.onJoin(ev)
	case FrameReceived:
		m.onFrame(ev)
	case StatusRequested:
		m.onStatus(ev)
	case CancelRequested:
		m.onCancel(ev)
	case ConnClosed:
		if a := m.Conns[ev.Conn]; a != nil && !m.mayReturn(a) {
			m.lose(a, ev.Why)
		}
	case TimePassed:
		m.onTick()
	case DrainRequested:
		m.onDrain()
	case Persisted:
		m.onPersisted(ev)
	case JournalFailed:
		m.broken = ev.Err.Error()
	default:
		panic(fmt.Sprintf("BUG: spantree: unknown event %T", ev))
	}
	if invariant.Enabled {
		m.checkStep()
	}
	return m.out
}

// Idle tells that nothing is lost when the server stops.
func (m *Machine) Idle() bool { return len(m.jobs) == 0 }

func (m *Machine) do(a action)                       { m.out = append(m.out, a) }
func (m *Machine) send(a *attempt, f protocol.Frame) { m.do(SendFrame{a.conn, f}) }
func (m *Machine) sendBytes(a *attempt, b ...byte)   { m.do(SendBytes{a.conn, b}) }

func (m *Machine) log(level slog.Level, text string, attrs ...slog.Attr) {
	m.do(LogLine{Level: level, Text: text, Attrs: attrs})
}

// complain logs a warning about a client that was refused.
func (m *Machine) logRefusal(text string, attrs ...slog.Attr) {
	m.do(LogLine{Level: slog.LevelWarn, Text: text, Attrs: attrs, RateLimited: true})
}

// onFrame handles what a member says after its JOIN.
func (m *Machine) onFrame(ev FrameReceived) {
	a := m.Conns[ev.Conn]
	if a == nil || a.vw {
		return // it was told to go and has not noticed yet
	}
	a.lastFrame = m.Now
	if a.rank < 0 && !allowedFromSpare(ev.Frame) {
		m.lose(a, fmt.Sprintf("it has no rank, and sent %v", protocol.TypeOf(ev.Frame)))
		return
	}
	switch f := ev.Frame.(type) {
	case *protocol.ReadyFrame:
		m.onReady(a, f)
	case *protocol.HeartbeatFrame:
		m.onHeartbeat(a, f)
	case *protocol.ReportFrame:
		m.onReport(a, f)
	case *protocol.CompleteFrame:
		m.onComplete(a, f)
	case *protocol.DeliveredFrame:
		m.onDelivered(a, f)
	case *protocol.LeaveFrame:
		m.onLeave(a, f)
	case *protocol.FailFrame:
		m.onFail(a, f)
	case *protocol.AskFrame:
		m.onAsk(a, f)
	case *protocol.PositionFrame:
		m.onPosition(a, f)
	default:
		m.log(slog.LevelWarn, "frame of a server from a rank", append(a.attrs(), slog.String("frame", protocol.TypeOf(ev.Frame).String()))...)
		m.lose(a, fmt.Sprintf("it sent a frame of a server, %v", protocol.TypeOf(ev.Frame)))
	}
}

// onTick finds who has been silent for too long.
func (m *Machine) onTick() {
	m.finished.expire(m.wall)
	m.endings.expire(m.wall, m.RememberFor)
	m.forgetPastJobs()
	m.refused.expire(m.Now)
	for _, j := range slices.Clone(m.order) {
		for _, a := range j.everybody() {
			switch {
			case j.phase == failed || m.Conns[a.conn] != a:
			case !a.vw && m.Now.Sub(a.lastFrame) > a.lostAfter:
				why := fmt.Sprintf("silent for %v", m.Now.Sub(a.lastFrame).Round(time.Millisecond))
				if j.phase == filling || j.recovers() {
					m.send(a, &protocol.FencedFrame{Epoch: j.epoch, Reason: why})
				}
				m.lose(a, why)
			case a.vw && !a.kidsSent && m.Now.Sub(a.joined) > m.IdleFor:
				m.lose(a, fmt.Sprintf("its job has not filled within %v", m.IdleFor))
			case a.vw && a.kidsSent && !a.hasPort && m.Now.Sub(a.kidsAt) > m.PortTimeout:
				m.lose(a, fmt.Sprintf("it has not sent its port within %v", m.PortTimeout))
			}
		}
		m.endGracePeriod(j)
		m.decideMembers(j)
		m.assignMissing(j)
		m.decideAsks(j)
		m.watchRecovery(j)
		m.watchJournal(j)
		if (j.phase == filling || j.phase == recovering) && !m.Now.Before(j.waitReport.nextLog) {
			m.log(slog.LevelInfo, "job waits", slog.String("job", j.id.String()), slog.String("for", j.report(m.Now)))
			j.waitReport.logGap = min(2*j.waitReport.logGap, maxReportGap)
			j.waitReport.nextLog = m.Now.Add(j.waitReport.logGap)
		}
	}
}

func (m *Machine) onDrain() {
	if m.draining {
		return
	}
	m.draining = true
	m.log(slog.LevelInfo, "draining: no new jobs", slog.Int("jobs", len(m.jobs)))
	for _, j := range m.order {
		m.log(slog.LevelInfo, "job still there", slog.String("job", j.id.String()), slog.String("state", j.describe(m.Now)))
	}
}

// Tick is how often the server looks for who has been silent for too long.
const TickInterval = 200 * time.Millisecond
