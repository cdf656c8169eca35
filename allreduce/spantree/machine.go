// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"fmt"
	"github.com/gvw-project/gvw/internal/clock"
	"log/slog"
	"slices"
	"time"
) // The server's mind, without a socket, a clock or a goroutine: an event goes
// in, with the time at which it happened, and what is to be done comes out.
// server.go feeds it and does what it says; the transcripts in
// testdata/machine show what it says to whom.

// connID is a connection, as the shell numbers them.
type connID uint64

// endpoint is where a connection comes from.
type endpoint struct {
	host  string // the far end's address as seen here
	local string // our address as the far end sees it
}

// event is something that happened to the server.
type event interface{ event() }

type (
	// vwHello are the three numbers by which a vw worker registers.
	vwHello struct {
		conn                connID
		from                endpoint
		unique, total, rank uint64
	}
	// vwPort is the number that a vw worker answers kid_count with.
	vwPort struct {
		conn connID
		port uint16
	}
	// arrived is a JOIN.
	arrived struct {
		conn connID
		from endpoint
		join *joinFrame
	}
	// received is any other frame of a connection that has joined.
	received struct {
		conn  connID
		frame frame
	}
	// asked is a STATUS.
	asked struct{ conn connID }
	// cancelling is a CANCEL.
	cancelling struct {
		conn   connID
		from   endpoint
		cancel *cancelFrame
	}
	// closed ends a connection. A connection that the machine hung up may
	// still be closed; the machine does not know it any more.
	closed struct {
		conn connID
		why  string
	}
	// ticked is the passing of time.
	ticked struct{}
	// drained asks for no new jobs.
	drained struct{}
	// persisted answers a persist that has a receipt.
	persisted struct {
		receipt uint64
		err     error
	}
	// journalFailed reports that no record reaches the journal any more.
	journalFailed struct{ err error }
)

func (vwHello) event()    {}
func (vwPort) event()     {}
func (arrived) event()    {}
func (received) event()   {}
func (asked) event()      {}
func (cancelling) event() {}
func (closed) event()     {}
func (ticked) event()     {}
func (drained) event()    {}
func (persisted) event()  {}

func (journalFailed) event() {}

// action is something the shell has to do, in the order given.
type action interface{ action() }

type (
	sendFrame struct {
		conn  connID
		frame frame
	}
	// sendBytes is for vw workers.
	sendBytes struct {
		conn  connID
		bytes []byte
	}
	// hangUp closes a connection once everything before has been written.
	hangUp struct{ conn connID }
	// persist writes a record to the journal. With a receipt it is synced and
	// answered by persisted; if there is no journal, at once.
	persist struct {
		record  record
		receipt uint64
	}
	// note is a line for the log.
	note struct {
		level slog.Level
		text  string
		attrs []slog.Attr
		often bool // it is about a client that was refused, and there may be many
	}
)

func (sendFrame) action() {}
func (sendBytes) action() {}
func (hangUp) action()    {}
func (persist) action()   {}
func (note) action()      {}

// rules are the bounds a machine keeps. All must be positive.
type rules struct {
	maxJobs, maxRanks int
	tick              time.Duration // between two ticks; a longer gap between events is a pause of the server, 0: none is
	lostAfter         time.Duration // silence of a native rank that does not say otherwise
	portTimeout       time.Duration // from kid_count to a vw worker's port
	replaceTimeout    time.Duration // for a lost rank to be replaced, where the job does not say otherwise
	idleFor           time.Duration // silence that nobody may ask for more than
	journalTimeout    time.Duration // for a record to reach the disk
	remember          int           // finished runs
	rememberBytes     int64
	version           string // of the program
	rememberFor       time.Duration
}

// machine is the state of a server.
type machine struct {
	rules
	term        uint32
	incarnation uint64
	random      func([]byte) // fills with random bytes

	now      time.Time // by the clock, which stands still while the server does not run
	wall     time.Time // of the calendar, for records
	clock    clock.Clock
	out      []action
	jobs     map[Job]*job
	order    []*job // the same, oldest first: nothing depends on map order
	conns    map[connID]*attempt
	finished memory
	past     pasts
	endings  endings
	refused  refusals
	grace    time.Time // until then attempts of an earlier life of the server may report
	draining bool
	receipts uint64
	awaiting map[uint64]*job // by receipt
	broken   string          // why no record reaches the journal any more; "": they do
}

func newMachine(r rules, term uint32, incarnation uint64, random func([]byte)) *machine {
	return &machine{
		rules: r, term: term, incarnation: incarnation, random: random, clock: clock.Clock{Tick: r.tick},
		jobs: map[Job]*job{}, conns: map[connID]*attempt{}, awaiting: map[uint64]*job{},
		finished: memory{by: map[string]*finishedRecord{}, limit: r.remember, room: r.rememberBytes, age: r.rememberFor},
	}
}

// reportedPause is the shortest pause of the server that the log mentions.
const reportedPause = time.Second

// read takes the time. A pause of the server is none of the ranks' silence.
func (m *machine) read(now time.Time) {
	var pause time.Duration
	m.wall = now
	if m.now, pause = m.clock.Read(now); pause >= reportedPause {
		m.log(slog.LevelWarn, "this server was paused: the time does not count as silence of ranks", slog.String("for", pause.Round(time.Millisecond).String()))
	}
}

// mayReturn reports whether an attempt whose connection has ended may be about to join
// again: to the attempt, a paused server looks like a dead one. If the attempt does not
// come back, its silence counts from now on.
func (m *machine) mayReturn(a *attempt) bool {
	return m.clock.Settling() && a.seated && a.job.recovers() && a.wired != Epoch{}
}

// step returns what to do about an event. The result is valid until the next call.
func (m *machine) step(now time.Time, ev event) []action {
	m.out = m.out[:0]
	m.read(now)
	switch ev := ev.(type) {
	case vwHello:
		m.onVWHello(ev)
	case vwPort:
		m.onVWPort(ev)
	case arrived:
		m.onJoin(ev)
	case received:
		m.onFrame(ev)
	case asked:
		m.onStatus(ev)
	case cancelling:
		m.onCancel(ev)
	case closed:
		if a := m.conns[ev.conn]; a != nil && !m.mayReturn(a) {
			m.lose(a, ev.why)
		}
	case ticked:
		m.onTick()
	case drained:
		m.onDrain()
	case persisted:
		m.onPersisted(ev)
	case journalFailed:
		m.broken = ev.err.Error()
	default:
		panic(fmt.Sprintf("BUG: spantree: unknown event %T", ev))
	}
	return m.out
}

// idle tells that nothing is lost when the server stops.
func (m *machine) idle() bool { return len(m.jobs) == 0 }

func (m *machine) do(a action)                { m.out = append(m.out, a) }
func (m *machine) send(a *attempt, f frame)   { m.do(sendFrame{a.conn, f}) }
func (m *machine) tell(a *attempt, b ...byte) { m.do(sendBytes{a.conn, b}) }

func (m *machine) log(level slog.Level, text string, attrs ...slog.Attr) {
	m.do(note{level: level, text: text, attrs: attrs})
}

// complain logs a warning about a client that was refused.
func (m *machine) complain(text string, attrs ...slog.Attr) {
	m.do(note{level: slog.LevelWarn, text: text, attrs: attrs, often: true})
}

// onFrame handles what a member says after its JOIN.
func (m *machine) onFrame(ev received) {
	a := m.conns[ev.conn]
	if a == nil || a.vw {
		return // it was told to go and has not noticed yet
	}
	a.heard = m.now
	if a.rank < 0 && !spareSays(ev.frame) {
		m.lose(a, fmt.Sprintf("it has no rank, and sent %v", typeOf(ev.frame)))
		return
	}
	switch f := ev.frame.(type) {
	case *readyFrame:
		m.onReady(a, f)
	case *beatFrame:
		m.onBeat(a, f)
	case *reportFrame:
		m.onReport(a, f)
	case *completeFrame:
		m.onComplete(a, f)
	case *doneFrame:
		m.onDone(a, f)
	case *leaveFrame:
		m.onLeave(a, f)
	case *failFrame:
		m.onFail(a, f)
	case *askFrame:
		m.onAsk(a, f)
	case *atFrame:
		m.onAt(a, f)
	default:
		m.log(slog.LevelWarn, "frame of a server from a rank", append(a.attrs(), slog.String("frame", typeOf(ev.frame).String()))...)
		m.lose(a, fmt.Sprintf("it sent a frame of a server, %v", typeOf(ev.frame)))
	}
}

// onTick finds who has been silent for too long.
func (m *machine) onTick() {
	m.finished.expire(m.wall)
	m.endings.expire(m.wall, m.rememberFor)
	m.forgetPast()
	m.refused.expire(m.now)
	for _, j := range slices.Clone(m.order) {
		for _, a := range j.everybody() {
			switch {
			case j.state == failed || m.conns[a.conn] != a:
			case !a.vw && m.now.Sub(a.heard) > a.lostAfter:
				why := fmt.Sprintf("silent for %v", m.now.Sub(a.heard).Round(time.Millisecond))
				if j.state == filling || j.recovers() {
					m.send(a, &fencedFrame{Epoch: j.epoch, Reason: why})
				}
				m.lose(a, why)
			case a.vw && !a.kidsSent && m.now.Sub(a.joined) > m.idleFor:
				m.lose(a, fmt.Sprintf("its job has not filled within %v", m.idleFor))
			case a.vw && a.kidsSent && !a.hasPort && m.now.Sub(a.kidsAt) > m.portTimeout:
				m.lose(a, fmt.Sprintf("it has not sent its port within %v", m.portTimeout))
			}
		}
		m.judge(j)
		m.muster(j)
		m.assignMissing(j)
		m.decide(j)
		m.watchRecovery(j)
		m.watchJournal(j)
		if (j.state == filling || j.state == recovering) && !m.now.Before(j.nextReport) {
			m.log(slog.LevelInfo, "job waits", slog.String("job", j.id.String()), slog.String("for", j.report(m.now)))
			j.reportGap = min(2*j.reportGap, maxReportGap)
			j.nextReport = m.now.Add(j.reportGap)
		}
	}
}

func (m *machine) onDrain() {
	if m.draining {
		return
	}
	m.draining = true
	m.log(slog.LevelInfo, "draining: no new jobs", slog.Int("jobs", len(m.jobs)))
	for _, j := range m.order {
		m.log(slog.LevelInfo, "job still there", slog.String("job", j.id.String()), slog.String("state", j.describe(m.now)))
	}
}

// tick is how often the server looks for who has been silent for too long.
const tick = 200 * time.Millisecond
