// SPDX-License-Identifier: Apache-2.0

package core

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var update = flag.Bool("update", false, "rewrite the transcripts of testdata/machine")

// A transcript is a sequence of events. A line without indent is an event. A
// duration before it, as in "5s tick", lets time pass first. The indented lines
// below it are the machine's actions. go test -update writes them, and the
// reviewer of a change reads them.
//
// The line "grace 1m" replaces the machine by a new one with this grace period.
//
// After the line "ticking" time passes tick by tick, as in a server. Then "pause
// 60s" is a pause of the server, and during "20s heartbeats 1 2" these connections
// send a heartbeat every second.
func TestMachineTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/machine/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := playTranscript(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
				t.Errorf("%s, -want +got (go test -update accepts it):\n%s", file, d)
			}
		})
	}
}

// testRules are limits that are low enough for tests to reach.
var testRules = Rules{
	MaxJobs: 3, MaxRanks: 8, LostAfter: 10 * time.Second, Grace: 10 * time.Second, PortTimeout: time.Minute, ReplaceTimeout: 10 * time.Minute, IdleFor: 24 * time.Hour,
	JournalTimeout: 5 * time.Minute, Remember: 2, RememberBytes: 1 << 20, RememberFor: time.Hour, Version: "test",
}

var birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// constant replaces the random bytes of tokens, so that transcripts are reproducible.
func constant(b []byte) {
	for i := range b {
		b[i] = 0x77
	}
}

// playTranscript plays the events of a transcript. It returns the transcript with the actions of
// the machine, and the changes of phase of all jobs.
func playTranscript(t *testing.T, text string) (got string, changes phaseChanges) {
	t.Helper()
	rules := testRules
	m, now := NewMachine(rules, 5, 0xabc, constant), birth
	var out strings.Builder
	step := func(ev Event) {
		for _, a := range m.Step(now, ev) {
			fmt.Fprintf(&out, "  %s\n", show(a))
		}
		m.check()
	}
	pass := func(d time.Duration, beating []ConnID) {
		for end := now.Add(d); now.Before(end); {
			if rules.Tick == 0 {
				now = end
				return
			}
			now = now.Add(min(rules.Tick, end.Sub(now)))
			if now.Sub(birth)%time.Second == 0 {
				for _, conn := range beating {
					if a := m.Conns[conn]; a != nil {
						m.Step(now, FrameReceived{conn, &protocol.HeartbeatFrame{WaitsFor: -1, Epoch: a.job.epoch}}) // the answers are not shown
					}
				}
			}
			step(TimePassed{})
		}
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		words := split(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if d, err := time.ParseDuration(words[0]); err == nil {
			if words = words[1:]; words[0] == "heartbeats" {
				pass(d, connsOf(t, words[1:]))
				continue
			}
			pass(d, nil)
		}
		switch words[0] {
		case "restart":
			changes.add(m.phaseChanges)
			m = NewMachine(rules, 5, m.Incarnation+1, constant)
			continue
		case "grace":
			d, err := time.ParseDuration(words[1])
			if err != nil {
				t.Fatal(err)
			}
			rules.Grace = d
			m = NewMachine(rules, 5, m.Incarnation, constant)
			continue
		case "ticking":
			rules.Tick = TickInterval
			m = NewMachine(rules, 5, m.Incarnation, constant)
			step(TimePassed{})
			continue
		case "pause":
			d, err := time.ParseDuration(words[1])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
			continue
		}
		ev, err := parseEvent(m, words)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		step(ev)
	}
	changes.add(m.phaseChanges)
	return out.String(), changes
}

func connsOf(t *testing.T, words []string) (all []ConnID) {
	t.Helper()
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ConnID(n))
	}
	return all
}

// split splits a line into words. Quotes join several words.
func split(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

// args are the "name=value" words of an event.
type args map[string]string

func (a args) num(name string) uint64 {
	n, err := strconv.ParseUint(a[name], 0, 64)
	if err != nil && a[name] != "" {
		panic(fmt.Sprintf("BUG: %s=%q", name, a[name]))
	}
	return n
}

func (a args) list(name string) []string {
	if a[name] == "" {
		return nil
	}
	return strings.Split(a[name], ",")
}

func (a args) duration(name string) time.Duration {
	d, err := time.ParseDuration(cmp.Or(a[name], "0s"))
	if err != nil {
		panic(fmt.Sprintf("BUG: %s=%q", name, a[name]))
	}
	return d
}

// epochOf parses an epoch: "5.1" is one of this server, "5.1.9" one of a server with incarnation 9.
func epochOf(s string) (e protocol.Epoch) {
	if s == "" {
		return e
	}
	var parts [3]uint64
	parts[2] = 0xabc
	for i, p := range strings.Split(s, ".") {
		n, err := strconv.ParseUint(p, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("BUG: epoch %q", s))
		}
		parts[i] = n
	}
	return protocol.Epoch{Term: uint32(parts[0]), N: uint32(parts[1]), Incarnation: parts[2]}
}

func policyOf(s string) protocol.OnLoss {
	switch s {
	case "wait":
		return protocol.Wait
	case "shrink":
		return protocol.Shrink
	case "grow":
		return protocol.Grow
	case "open":
		return protocol.Open
	}
	return protocol.Abort
}

func parseEvent(m *Machine, words []string) (Event, error) {
	verb, a := words[0], args{}
	conn := ConnID(0)
	for _, w := range words[1:] {
		name, value, found := strings.Cut(w, "=")
		if n, err := strconv.Atoi(w); err == nil && !found {
			conn = ConnID(n)
			continue
		}
		a[name] = strings.Trim(value, `"`)
	}
	from := Endpoint{Host: a["from"], Local: "10.0.0.100"}
	if from.Host == "" {
		from.Host = fmt.Sprintf("10.0.0.%d", conn)
	}
	if isLoopback(from.Host) {
		from.Local = from.Host
	}
	epoch := protocol.Epoch{}
	if at := m.Conns[conn]; at != nil {
		epoch = at.job.epoch
	}
	received := func(f protocol.Frame) (Event, error) { return FrameReceived{conn, f}, nil }
	switch verb {
	case "vw":
		return VWHello{conn, from, a.num("job"), a.num("total"), a.num("rank")}, nil
	case "port":
		return VWPort{conn, uint16(a.num("is"))}, nil
	case "join":
		if a["rank"] == "none" { // a spare
			a["rank"] = strconv.Itoa(protocol.NoRank)
		}
		id, key, _ := strings.Cut(a["job"], "/")
		unique, err := strconv.ParseUint(id, 10, 64)
		f := &protocol.JoinFrame{
			UniqueID: unique, RunKey: key, Rank: uint32(a.num("rank")), Total: uint32(a.num("total")),
			Generation: uint32(a.num("gen")), Attempt: uint64(conn), Heartbeat: time.Second, Port: 26544,
			AdvertiseHost: a["advertise"], Host: a["host"], Options: a["options"],
			OnLoss: policyOf(a["on_loss"]), ReplaceTimeout: a.duration("replace"), SlowFactor: float64(a.num("slow")),
			State: protocol.AttemptState(a.num("state")), Epoch: epochOf(a["epoch"]), Completed: epochOf(a["at"]), Step: a.num("step"),
			OptionsSHA256: sha256.Sum256([]byte(a["options"])), Version: "9", Elastic: a.duration("elastic"),
		}
		if a["digest"] == "wrong" {
			f.OptionsSHA256[0]++
		}
		if a["attempt"] != "" {
			f.Attempt = a.num("attempt")
		}
		if a["owner"] != "" {
			f.Owner = sha256.Sum256([]byte(a["owner"]))
		}
		if a["excluded"] != "" { // the attempt reports these ranks as excluded
			var missing []int
			for _, r := range strings.Split(a["excluded"], ",") {
				n, err := strconv.Atoi(r)
				if err != nil {
					return nil, err
				}
				missing = append(missing, n)
			}
			f.Members = protocol.MembersWithout(missing)
		}
		return JoinReceived{conn, from, f}, err
	case "ready":
		return received(&protocol.ReadyFrame{Shard: protocol.Shard{Examples: cmp.Or(a.num("examples"), 10), Bytes: a.num("bytes"), Took: a.duration("took")}, Checkpoint: a.num("checkpoint")})
	case "heartbeat":
		f := &protocol.HeartbeatFrame{Seq: a.num("seq"), Waits: a["waits"], WaitsFor: -1, Epoch: epoch, Collective: a.num("in")}
		if a["for"] != "" {
			f.WaitsFor = int(a.num("for"))
		}
		return received(f)
	case "report":
		return received(&protocol.ReportFrame{Epoch: epoch, Progress: protocol.Progress{Pass: 3, Loss: 0.25, Number: a.num("step"), StepTook: a.duration("took")}})
	case "complete":
		f := &protocol.CompleteFrame{Epoch: epoch, Owed: a.list("owes"), Step: a.num("step")}
		f.Model[0] = byte(a.num("model"))
		if a["epoch"] == "old" {
			f.Epoch.N--
		}
		return received(f)
	case "delivered":
		if at := m.Conns[conn]; at != nil {
			return received(&protocol.DeliveredFrame{Epoch: epoch, Attempt: at.number, File: a["file"]})
		}
		return received(&protocol.DeliveredFrame{Epoch: epoch, Attempt: uint64(conn), File: a["file"]})
	case "leave":
		return received(&protocol.LeaveFrame{Reason: a["why"]})
	case "fail":
		return received(&protocol.FailFrame{Reason: a["why"]})
	case "ask":
		f := &protocol.AskFrame{Epoch: epoch, Peer: 1, Collective: a.num("in"), Fault: protocol.EdgeFault(max(1, a.num("fault"))), Detail: cmp.Or(a["why"], "slow")}
		if a["epoch"] != "" {
			f.Epoch = epochOf(a["epoch"])
		}
		if a["peer"] != "" {
			f.Peer = int(a.num("peer"))
		}
		return received(f)
	case "position":
		f := &protocol.PositionFrame{Epoch: epoch, Step: a.num("step"), WaitsFor: -1}
		if f.Completed = epochOf(a["in"]); f.Step > 0 && a["in"] == "" {
			f.Completed = epoch
		}
		if a["epoch"] != "" {
			f.Epoch = epochOf(a["epoch"])
		}
		return received(f)
	case "finished":
		return received(&protocol.FinishedFrame{})
	case "cancel":
		id, key, _ := strings.Cut(a["job"], "/")
		unique, err := strconv.ParseUint(id, 10, 64)
		return CancelRequested{conn, from, &protocol.CancelFrame{UniqueID: unique, RunKey: key, Reason: a["why"]}}, err
	case "status":
		return StatusRequested{conn}, nil
	case "close":
		return ConnClosed{conn, events.FaultEnded, "connection closed"}, nil
	case "tick":
		return TimePassed{}, nil
	case "drain":
		return DrainRequested{}, nil
	case "persisted":
		var err error
		if a["error"] != "" {
			err = errors.New(a["error"])
		}
		return Persisted{a.num("receipt"), err}, nil
	case "broken":
		return JournalFailed{errors.New(a["error"])}, nil
	}
	return nil, fmt.Errorf("unknown event %q", verb)
}

// show returns an action as a line of a transcript.
func show(a action) string {
	switch a := a.(type) {
	case SendFrame:
		return fmt.Sprintf("%d <- %v%s", a.Conn, protocol.TypeOf(a.Frame), fields(a.Frame))
	case SendBytes:
		return fmt.Sprintf("%d <- % x", a.Conn, a.Bytes)
	case CloseConn:
		return fmt.Sprintf("%d hang up", a.Conn)
	case Persist:
		name := strings.TrimPrefix(fmt.Sprintf("%T", a.Record), "*protocol.")
		s := fmt.Sprintf("journal %s%s%s", strings.ToLower(name[:1]), name[1:], fields(a.Record))
		if a.Receipt != 0 {
			s += fmt.Sprintf(" receipt %d", a.Receipt)
		}
		return s
	case LogLine:
		s := fmt.Sprintf("log %v %s", a.Level, a.Text)
		for _, attr := range a.Attrs {
			s += fmt.Sprintf(" %s=%q", attr.Key, attr.Value.String())
		}
		return s
	}
	return fmt.Sprintf("%#v", a)
}

// fields lists the fields of a frame or record that are not zero.
func fields(f any) string {
	var b strings.Builder
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		if field.IsZero() {
			continue
		}
		switch x := field.Interface().(type) {
		case [32]byte:
			fmt.Fprintf(&b, " %s=%x…", name, x[:2])
		case [16]byte:
			fmt.Fprintf(&b, " %s=%x…", name, x[:2])
		case string:
			fmt.Fprintf(&b, " %s=%q", name, x)
		case protocol.Epoch:
			fmt.Fprintf(&b, " %s=%v.%x", name, x, x.Incarnation)
		case protocol.Cause:
			fmt.Fprintf(&b, " cause=%d code=%d fault=%q rank=%d host=%q why=%q", x.Kind, x.Code, x.Fault, x.Rank, x.Host, x.Why)
		case protocol.DeliveredFile:
			fmt.Fprintf(&b, " rank %d delivered %q", x.Rank, x.File)
		case []protocol.DeliveredFile:
			for _, d := range x {
				fmt.Fprintf(&b, " rank %d delivered %q", d.Rank, d.File)
			}
		case protocol.MemberList:
			fmt.Fprintf(&b, " %s=%+v", name, slices.Collect(x.All()))
		case protocol.Members:
			fmt.Fprintf(&b, " excluded=%v", x.Excluded(64))
		default:
			fmt.Fprintf(&b, " %s=%+v", name, x)
		}
	}
	return b.String()
}
