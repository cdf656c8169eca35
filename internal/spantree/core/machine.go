// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/clock"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The machine has no socket, clock or goroutine. An event goes in with the time at which it
// happened, and actions come out. Package server produces the events and executes the actions. The
// transcripts in testdata/machine show the answers to sequences of events.

// ConnID numbers the connections. Package server chooses the numbers, and never reuses one.
type ConnID uint64

// Endpoint is the pair of addresses of a connection.
type Endpoint struct {
	Host  string // address of the far end, as the server sees it
	Local string // address of the server, as the far end sees it
}

// Event is an event that the machine reacts to.
type Event interface{ event() }

type (
	// VWHello is the registration of a vw worker.
	VWHello struct {
		Conn                ConnID
		From                Endpoint
		Unique, Total, Rank uint64
	}
	// VWPort is the answer of a vw worker to kid_count.
	VWPort struct {
		Conn ConnID
		Port uint16
	}
	// JoinReceived is a JOIN.
	JoinReceived struct {
		Conn ConnID
		From Endpoint
		Join *protocol.JoinFrame
	}
	// FrameReceived is any other frame, of a connection that has joined.
	FrameReceived struct {
		Conn  ConnID
		Frame protocol.Frame
	}
	// StatusRequested is a STATUS.
	StatusRequested struct{ Conn ConnID }
	// CancelRequested is a CANCEL.
	CancelRequested struct {
		Conn   ConnID
		From   Endpoint
		Cancel *protocol.CancelFrame
	}
	// ConnClosed is the end of a connection. The machine ignores it for a connection that it has
	// closed itself.
	ConnClosed struct {
		Conn  ConnID
		Fault events.Fault
		Why   string
	}
	// ClientRefused is a client that has no valid secret or certificate. Its rank is unknown.
	ClientRefused struct {
		From Endpoint
		Why  string
	}
	// TimePassed is a tick. It must follow every TickInterval.
	TimePassed struct {
		// Acked is the time since the kernel of a rank's host acknowledged something, for connections
		// of Silent; those without an entry are unknown.
		Acked map[ConnID]time.Duration
	}
	// DrainRequested ends the admission of new jobs.
	DrainRequested struct{}
	// Persisted answers a Persist with a receipt.
	Persisted struct {
		Receipt uint64
		Err     error
	}
	// JournalFailed reports that the journal accepts no more records.
	JournalFailed struct{ Err error }
)

func (VWHello) event()         {}
func (VWPort) event()          {}
func (JoinReceived) event()    {}
func (FrameReceived) event()   {}
func (StatusRequested) event() {}
func (CancelRequested) event() {}
func (ConnClosed) event()      {}
func (ClientRefused) event()   {}
func (TimePassed) event()      {}
func (DrainRequested) event()  {}
func (Persisted) event()       {}

func (JournalFailed) event() {}

// action is an instruction to package server. Actions must be executed in their order.
type action interface{ action() }

type (
	// SendFrame sends a frame to a native client.
	SendFrame struct {
		Conn  ConnID
		Frame protocol.Frame
	}
	// SendBytes sends bytes to a vw worker.
	SendBytes struct {
		Conn  ConnID
		Bytes []byte
	}
	// CloseConn closes a connection when all earlier frames have been written.
	CloseConn struct{ Conn ConnID }
	// Persist writes a record to the journal. With a receipt the record is synced, and answered by
	// Persisted; without a journal at once.
	Persist struct {
		Record  protocol.Record
		Receipt uint64
	}
	// LogLine is a line for the log.
	LogLine struct {
		Level       slog.Level
		Text        string
		Attrs       []slog.Attr
		RateLimited bool // it is about a refused client, and there may be many such lines
	}
)

func (SendFrame) action() {}
func (SendBytes) action() {}
func (CloseConn) action() {}
func (Persist) action()   {}
func (LogLine) action()   {}

// Rules are the limits of a machine. All must be positive, except for Tick.
type Rules struct {
	MaxJobs, MaxRanks int
	Tick              time.Duration // interval of ticks; a longer gap between events is a pause of the server; 0: gaps are no pauses
	LostAfter         time.Duration // silence after which a native rank is lost, unless it sets another limit
	Grace             time.Duration // after a restart of the server, for the ranks of running jobs to reconnect
	PortTimeout       time.Duration // from kid_count to the port of a vw worker
	ReplaceTimeout    time.Duration // for the replacement of a lost rank, unless the job sets another limit
	IdleFor           time.Duration // longest silence that a rank may ask for
	JournalTimeout    time.Duration // for a record to reach the disk
	Remember          int           // number of finished runs that are remembered
	RememberBytes     int64         // their memory, in bytes
	Version           string        // of the program, for the status
	RememberFor       time.Duration // their age; also that of ended jobs in the status, and of the logs of ranks
	Logs              ranklog.Limits
}

// Machine is the state of a server. It is not safe for concurrent use.
type Machine struct {
	Rules
	Term        uint32       // number of starts on the journal; a rank that reports a higher one raises it
	Incarnation uint64       // random, distinguishes servers with equal terms
	random      func([]byte) // fills its argument with random bytes

	Now            time.Time // of the clock, which stands still while the server does not run
	wall           time.Time // of the calendar, for records
	clock          clock.Clock
	started        time.Time // first time of the calendar that it was given
	out            []action  // of the current step; reused by the next one
	jobs           map[protocol.Job]*job
	order          []*job // the same, oldest first, so that nothing depends on the order of a map
	Conns          map[ConnID]*attempt
	finished       *history.Runs
	outcomes       history.Outcomes
	endings        history.Jobs
	refused        history.Refusals
	failures       history.Failures
	logs           ranklog.Store[protocol.Job]
	refusedClient  refusedClient // the newest client without valid credentials
	graceUntil     time.Time     // end of the grace period of jobs that are opened before it; see BeginGrace
	draining       bool
	receipts       uint64 // the newest receipt
	phaseChanges   phaseChanges
	steps          uint64          // events so far, counted in builds that check invariants
	awaiting       map[uint64]*job // jobs that wait for Persisted, by receipt
	inquiries      []*inquiry      // that run, oldest first
	inquiriesSoFar uint64
	broken         string // the failure after which the journal accepts no record; "": none
}

// NewMachine returns a machine without jobs. random fills its argument with random bytes.
func NewMachine(r Rules, term uint32, incarnation uint64, random func([]byte)) *Machine {
	return &Machine{
		Rules: r, Term: term, Incarnation: incarnation, random: random, clock: clock.Clock{Tick: r.Tick},
		jobs: map[protocol.Job]*job{}, Conns: map[ConnID]*attempt{}, awaiting: map[uint64]*job{},
		finished: history.NewRuns(r.Remember, r.RememberBytes, r.RememberFor), logs: ranklog.Store[protocol.Job]{Limits: r.Logs},
	}
}

// reportedPause is the shortest pause of the server that the log mentions.
const reportedPause = time.Second

// Read sets the time. A pause of the server does not count as silence of ranks.
func (m *Machine) Read(now time.Time) {
	var pause time.Duration
	m.wall = now
	if m.started.IsZero() {
		m.started = now
	}
	if m.Now, pause = m.clock.Read(now); pause >= reportedPause {
		m.log(slog.LevelWarn, "this server was paused: the time does not count as silence of ranks", slog.String("for", pause.Round(time.Millisecond).String()))
	}
}

// refusedClient is a client without valid credentials. It may be a rank for which a job waits.
type refusedClient struct {
	host, why string
	at        time.Time // zero: there was none
}

// mayReturn reports whether an attempt whose connection has ended may reconnect: during a pause of
// the server its rank may have given up the connection. If it does not reconnect, its silence
// counts from now on.
func (m *Machine) mayReturn(a *attempt) bool {
	return m.clock.Settling() && a.isHolder && a.job.recovers() && a.wired != protocol.Epoch{}
}

// Step processes an event, and returns the actions that it causes. The result is valid until the
// next call.
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
	case LogsRequested:
		m.onLogs(ev)
	case CancelRequested:
		m.onCancel(ev)
	case ConnClosed:
		m.unanswered(ev.Conn)
		if a := m.Conns[ev.Conn]; a != nil && !m.mayReturn(a) {
			m.lose(a, ev.Fault, ev.Why)
		}
	case ClientRefused:
		m.refusedClient = refusedClient{host: ev.From.Host, why: ev.Why, at: m.Now}
	case TimePassed:
		m.onTick(ev)
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

// Idle reports whether the machine has no jobs and no inquiries, so that the server may stop.
func (m *Machine) Idle() bool { return len(m.jobs) == 0 && len(m.inquiries) == 0 }

func (m *Machine) do(a action)                       { m.out = append(m.out, a) }
func (m *Machine) send(a *attempt, f protocol.Frame) { m.do(SendFrame{a.conn, f}) }
func (m *Machine) sendBytes(a *attempt, b ...byte)   { m.do(SendBytes{a.conn, b}) }

func (m *Machine) log(level slog.Level, text string, attrs ...slog.Attr) {
	m.do(LogLine{Level: level, Text: text, Attrs: attrs})
}

// logRefusal logs a warning about a refused client.
func (m *Machine) logRefusal(text string, attrs ...slog.Attr) {
	m.do(LogLine{Level: slog.LevelWarn, Text: text, Attrs: attrs, RateLimited: true})
}

// onFrame processes a frame of an attempt that has joined.
func (m *Machine) onFrame(ev FrameReceived) {
	a := m.Conns[ev.Conn]
	if f, ok := ev.Frame.(*protocol.EventsFrame); ok {
		if a != nil {
			a.lastFrame = m.Now
		}
		m.onEvents(ev.Conn, f)
		return
	}
	if a == nil || a.vw {
		return // the machine has closed the connection; the frame was sent before that
	}
	a.lastFrame = m.Now
	if f, ok := ev.Frame.(*protocol.LogFrame); ok {
		m.onLog(a, f)
		return
	}
	if a.rank < 0 && !allowedFromSpare(ev.Frame) {
		m.lose(a, events.FaultProtocol, fmt.Sprintf("it has no rank, and sent %v", protocol.TypeOf(ev.Frame)))
		return
	}
	switch f := ev.Frame.(type) {
	case *protocol.ReadyFrame:
		m.onReady(a, f)
	case *protocol.HeartbeatFrame:
		m.onHeartbeat(a, f)
	case *protocol.ClockFrame:
		m.onClock(a, f)
	case *protocol.ReportFrame:
		m.onReport(a, f)
	case *protocol.TrafficFrame:
		a.onTraffic(f)
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
		m.log(slog.LevelWarn, "frame refused: only servers send it", append(a.attrs(), slog.String("frame", protocol.TypeOf(ev.Frame).String()))...)
		m.lose(a, events.FaultProtocol, fmt.Sprintf("it sent a frame of a server, %v", protocol.TypeOf(ev.Frame)))
	}
}

// onTick checks all limits of time. It visits a copy of the jobs, since a limit may remove one.
func (m *Machine) onTick(ev TimePassed) {
	m.finished.Expire(m.wall)
	m.endings.Expire(m.wall, m.RememberFor)
	m.outcomes.Expire(m.Now, m.Remember, m.RememberFor)
	m.refused.Expire(m.Now)
	m.failures.Expire(m.Now)
	m.logs.Expire(m.wall, m.RememberFor)
	m.endInquiries()
	for _, j := range slices.Clone(m.order) {
		for _, a := range j.attempts() {
			a.kernelAck = ev.Acked[a.conn]
			switch {
			case j.phase == failed || m.Conns[a.conn] != a:
			case !a.vw && m.Now.Sub(a.lastFrame) > a.lostAfter:
				why := fmt.Sprintf("silent for %v", m.Now.Sub(a.lastFrame).Round(time.Millisecond))
				if j.phase == filling || j.recovers() {
					m.send(a, &protocol.FencedFrame{Epoch: j.epoch, Reason: why})
				}
				m.lose(a, events.FaultSilent, why)
			case a.vw && !a.kidsSent && m.Now.Sub(a.joined) > m.IdleFor:
				m.lose(a, events.FaultDropped, fmt.Sprintf("its job has not filled within %v", m.IdleFor))
			case a.vw && a.kidsSent && !a.hasPort && m.Now.Sub(a.kidsAt) > m.PortTimeout:
				m.lose(a, events.FaultSilent, fmt.Sprintf("it has not sent its port within %v", m.PortTimeout))
			}
		}
		m.endGracePeriod(j)
		m.decideMembers(j)
		m.assignMissing(j)
		m.decideAsks(j)
		m.grow(j)
		m.watchRecovery(j)
		m.watchJournal(j)
		if (j.phase == filling || j.phase == recovering) && !m.Now.Before(j.waitReport.nextLog) {
			m.log(slog.LevelInfo, "job waiting", slog.String("job", j.id.String()), slog.String("for", j.report(m.Now)))
			j.waitReport.logGap = min(2*j.waitReport.logGap, maxReportGap)
			j.waitReport.nextLog = m.Now.Add(j.waitReport.logGap)
		}
	}
}

// probeFor is the time before the loss of a silent rank in which the server observes whether the kernel of its host
// still answers.
const probeFor = 5 * time.Second

// Silent appends the connections of the ranks that will soon be lost by their silence.
func (m *Machine) Silent(dst []ConnID) []ConnID {
	for _, j := range m.order {
		for _, a := range j.attempts() {
			if from := max(a.lostAfter/2, a.lostAfter-probeFor); !a.vw && m.Now.Sub(a.lastFrame) > from && m.Conns[a.conn] == a {
				dst = append(dst, a.conn)
			}
		}
	}
	return dst
}

// onDrain ends the admission of new jobs, and logs the jobs for which the server waits.
func (m *Machine) onDrain() {
	if m.draining {
		return
	}
	m.draining = true
	m.log(slog.LevelInfo, "draining: new jobs are refused", slog.Int("jobs", len(m.jobs)))
	for _, j := range m.order {
		m.log(slog.LevelInfo, "job still running", slog.String("job", j.id.String()), slog.String("state", j.describe(m.Now)))
	}
}

// TickInterval is the interval of the server's ticks, and so the resolution of its limits of time.
const TickInterval = 200 * time.Millisecond
