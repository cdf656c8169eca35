// SPDX-License-Identifier: Apache-2.0

package cause

import (
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
)

// rank returns a live rank that waits for another one in a collective; -1 and 0: in none.
func rank(r, waitsFor int, collective uint64, all ...events.Event) *Rank {
	return &Rank{Rank: r, Host: "h" + string(rune('0'+r)), State: "ready", WaitsFor: waitsFor, Collective: collective, Answered: true, Events: all}
}

// silent returns a rank from which the server gets nothing.
func silent(r *Rank, d time.Duration) *Rank {
	r.Silent, r.Answered = d, false
	return r
}

// calls returns all-reduces of these vectors, from a number on.
func calls(from uint64, names ...string) (all []events.Event) {
	for i, name := range names {
		ago := time.Duration(len(names)-i) * 100 * time.Millisecond
		all = append(all, events.Event{Kind: events.Collective, Number: from + uint64(i), Peer: -1, Verb: "all-reduce", Name: name, Elements: 4, Bytes: 16, Ago: ago, Took: ago / 2})
	}
	return all
}

// failed returns the failure of a rank.
func failed(c events.Class, peer int) events.Event {
	return events.Event{Kind: events.Failure, Class: c, Peer: peer, Name: "in its words"}
}

// gaveUp returns the evidence of three ranks of which rank 2 gave up.
func gaveUp(c events.Class, peer int) Evidence {
	return Evidence{How: GaveUp, Rank: 2, Peer: -1, Ranks: []*Rank{rank(0, 2, 5), rank(1, 2, 5), rank(2, -1, 0, failed(c, peer))}}
}

// broken returns the evidence of the loss of rank 1.
func broken(f events.Fault, why string, r *Rank) Evidence {
	return Evidence{How: Lost, Fault: f, Rank: 1, Host: "h1", Peer: -1, Epoch: 1, Why: why, Ranks: []*Rank{rank(0, 1, 9, calls(7, "a", "b")...), r}}
}

// acked returns a rank whose kernel has acknowledged something.
func acked(r *Rank, ago time.Duration) *Rank {
	r.KernelAck = ago
	return r
}

// on returns a rank on a host.
func on(r *Rank, host, address string) *Rank {
	r.Host, r.Address = host, address
	return r
}

// quiet returns the evidence of the loss of rank 1 by silence, in a job without collectives.
func quiet(lost *Rank, others ...*Rank) Evidence {
	lost.Address = "10.0.0.1"
	return Evidence{How: Lost, Fault: events.FaultSilent, Rank: 1, Host: "h1", Peer: -1, Epoch: 1, Why: "silent for 10s", Ranks: append(others, lost)}
}

func TestJudge(t *testing.T) {
	long := calls(1, "a", "b", "c", "a", "b", "c")
	disk := failed(events.DiskFull, -1)
	for name, c := range map[string]struct {
		evidence Evidence
		rank     int
		kind     Kind
		line     string // the beginning
	}{
		"skipped":                  {Evidence{How: GaveUp, Rank: 0, Ranks: []*Rank{rank(0, -1, 0, long[:5]...), rank(1, -1, 0, long[:5]...), rank(2, -1, 0, append(calls(1, "a", "b", "c", "a"), calls(5, "c")...)...)}}, 2, Skipped, "rank 2 (h2) skipped all-reduce 5 (b): it called all-reduce (c) of 4 elements instead"},
		"skipped, of two ranks":    {Evidence{Rank: 0, Ranks: []*Rank{rank(0, -1, 0, calls(1, "a", "b", "c", "a", "b")...), rank(1, -1, 0, calls(1, "a", "b", "c", "a", "c")...)}}, 1, Skipped, "rank 1 (h1) skipped all-reduce 5"},
		"no history, of two ranks": {Evidence{Rank: 0, Ranks: []*Rank{rank(0, -1, 0, calls(1, "a")...), rank(1, -1, 0, calls(1, "b")...)}}, 0, OtherCall, "rank 0 (h0) and rank 1 (h1) disagree in collective 1"},
		"an earlier epoch":         {Evidence{Epoch: 2, How: Lost, Fault: events.FaultEnded, Rank: 1, Ranks: []*Rank{rank(0, -1, 0, append(calls(1, "a"), events.Event{Kind: events.Epoch, Number: 2})...), rank(2, -1, 0, append([]events.Event{{Kind: events.Epoch, Number: 2}}, calls(1, "b")...)...)}}, 1, ProcessEnded, "rank 1 ended without a report"},

		"disk full":        {gaveUp(events.DiskFull, -1), 2, FullDisk, "rank 2 (h2) has a full disk: in its words"},
		"another error":    {gaveUp(events.Other, -1), 2, OwnError, "rank 2 (h2) gave up: in its words"},
		"no events":        {Evidence{How: GaveUp, Rank: 2, Why: "bad luck"}, 2, OwnError, "rank 2 gave up: bad luck"},
		"changed bytes":    {gaveUp(events.Corrupt, 1), 1, EdgeCorrupt, "bytes of rank 1 (h1) were changed on the way to rank 2 (h2)"},
		"another object":   {gaveUp(events.CallDiffers, -1), 2, OtherCall, "rank 2 (h2) differs from the others: in its words"},
		"stall":            {gaveUp(events.Stall, 1), 1, EdgeBroken, "the network between rank 2 (h2) and rank 1 (h1) carries nothing"},
		"peer lost":        {gaveUp(events.PeerLost, 7), 7, ProcessEnded, "rank 7 is gone: rank 2 (h2) reports"},
		"the peer's disk":  {Evidence{How: GaveUp, Rank: 0, Ranks: []*Rank{rank(0, -1, 0, failed(events.PeerLost, 1)), rank(1, -1, 0, disk)}}, 1, FullDisk, "rank 1 (h1) has a full disk"},
		"blame in circles": {Evidence{How: GaveUp, Rank: 0, Ranks: []*Rank{rank(0, -1, 0, failed(events.PeerLost, 1)), rank(1, -1, 0, failed(events.PeerLost, 0))}}, 1, EdgeBroken, "the network between"},

		"killed":               {broken(events.FaultEnded, "connection closed", rank(1, -1, 0)), 1, ProcessEnded, "rank 1 (h1) ended without a report"},
		"killed after a fault": {broken(events.FaultEnded, "connection closed", rank(1, -1, 0, disk)), 1, FullDisk, "rank 1 (h1) has a full disk"},
		"silent":               {broken(events.FaultSilent, "silent for 10s", silent(rank(1, 0, 9), 500*time.Millisecond)), 1, HostSilent, "rank 1 (h1) stopped answering (silent for 10s)"},

		"stopped":                 {quiet(acked(silent(rank(1, 0, 9), 10*time.Second), 900*time.Millisecond)), 1, ProcessStopped, "rank 1 (h1) stopped answering (silent for 10s), while the kernel of its host answers: its process is stopped"},
		"host down":               {quiet(acked(silent(rank(1, 0, 9), 10*time.Second), 9900*time.Millisecond), on(rank(2, -1, 0), "h1", "10.0.0.9")), 1, HostSilent, "rank 1 (h1) stopped answering (silent for 10s), and so did its host: it is down or cut off"},
		"neighbour answers":       {quiet(silent(rank(1, 0, 9), 10*time.Second), on(rank(2, -1, 0), "h1", "10.0.0.1")), 1, ProcessStopped, "rank 1 (h1) stopped answering (silent for 10s), while rank 2 on its host answers"},
		"neighbour silent":        {quiet(silent(rank(1, 0, 9), 10*time.Second), on(silent(rank(2, -1, 0), 9*time.Second), "h1", "10.0.0.1")), 1, HostSilent, "rank 1 (h1) stopped answering (silent for 10s), and so did rank 2 on its host"},
		"one name, two addresses": {quiet(silent(rank(1, 0, 9), 10*time.Second), on(rank(2, -1, 0), "h1", "10.0.0.2")), 1, HostSilent, "rank 1 (h1) stopped answering (silent for 10s): its host is down or cut off, or its process is stopped"},
		"cut off from the server": {broken(events.FaultSilent, "silent for 10s", silent(rank(1, 0, 9), 10*time.Second)), 1, CutFromServer, "rank 1 (h1) no longer reaches the server (silent for 10s), but rank 0 (h0) completed a collective with it"},
		"stuck":                   {broken(events.FaultUnanswered, "it has not answered EPOCH_END within 10s", rank(1, -1, 0)), 1, NotAnswering, "rank 1 (h1) sends heartbeats, but"},
		"no route":                {broken(events.FaultNetwork, "connection lost: no route to host", rank(1, -1, 0)), 1, NetworkBroken, "rank 1 (h1) lost its connection to the server"},
		"bad frames":              {broken(events.FaultProtocol, "it sent WELCOME", rank(1, -1, 0)), 1, BadFrames, "rank 1 (h1) broke the protocol"},
		"evicted":                 {broken(events.FaultDropped, "it gets no missing data from any source", rank(1, -1, 0)), 1, TakenAway, "rank 1 (h1) lost its place: it gets no missing data"},
		"no rank":                 {Evidence{How: Lost, Rank: -1, Peer: -1, Why: "the epoch is over"}, -1, Unknown, "the epoch is over"},
		"words decide nothing":    {broken(events.FaultEnded, "silent for 10s, and not replaced within 10m", rank(1, -1, 0)), 1, ProcessEnded, "rank 1 (h1) ended without a report"},
		"not replaced":            {broken(events.FaultNotReplaced, "connection closed, and not replaced within 10m", rank(1, -1, 0)), 1, NotReplaced, "rank 1 (h1) was lost: connection closed, and not replaced"},

		"edge":             {Evidence{How: Edge, Rank: 1, Peer: 0, Why: "it broke", Ranks: []*Rank{rank(0, 1, 3), rank(1, 0, 3)}}, 0, EdgeBroken, "the network between rank 1 (h1) and rank 0 (h0)"},
		"edge to a silent": {Evidence{How: Edge, Rank: 1, Peer: 0, Ranks: []*Rank{rank(0, 1, 3), silent(rank(1, 0, 3), 5*time.Second)}}, 1, HostSilent, "rank 1 (h1) stopped answering (silent for 5s)"},
		"edge, checksums":  {Evidence{How: Edge, Fault: events.FaultCorrupt, Rank: 1, Peer: 0, Why: "it differs", Ranks: []*Rank{rank(0, 1, 3), rank(1, 0, 3)}}, 0, EdgeCorrupt, "bytes between"},

		"slow work":          {Evidence{How: Stalled, Rank: 0, Peer: 1, Ranks: []*Rank{rank(0, 1, 9), rank(1, 2, 9), rank(2, -1, 0, events.Event{Kind: events.Step, Name: "work", Open: true, Ago: 40 * time.Second})}}, 2, SlowWork, "rank 2 (h2) keeps the others waiting: the work of its step has taken 40s so far"},
		"slow checkpoint":    {Evidence{How: Stalled, Rank: 0, Peer: 1, Ranks: []*Rank{rank(0, 1, 9), rank(1, -1, 0, events.Event{Kind: events.Checkpoint, Open: true, Ago: 40 * time.Second})}}, 1, SlowCheckpoint, "rank 1 (h1) has been writing a checkpoint for 40s"},
		"waits in circles":   {Evidence{How: Stalled, Rank: 0, Peer: 1, Ranks: []*Rank{rank(0, 1, 9), rank(1, 0, 9)}}, 0, EdgeBroken, "the network between"},
		"one call fewer":     {Evidence{How: Stalled, Rank: 0, Peer: 1, Ranks: []*Rank{rank(0, 1, 9), {Rank: 1, Host: "h1", State: "complete", WaitsFor: -1}}}, 1, Skipped, "rank 1 (h1) has completed its work while others"},
		"missing in a chain": {Evidence{How: Stalled, Rank: 0, Peer: 4, Ranks: []*Rank{rank(0, 4, 9)}}, 4, NotJoined, "rank 4 is missing"},

		"never joined":  {Evidence{How: GaveUp, Rank: 0, Missing: map[int]string{3: ""}, Ranks: []*Rank{rank(0, -1, 0, failed(events.NotStarted, -1))}}, 3, NotJoined, "rank 3 has never joined"},
		"two missing":   {Evidence{How: GaveUp, Rank: 0, Missing: map[int]string{5: "", 3: ""}, Ranks: []*Rank{rank(0, -1, 0, failed(events.NotStarted, -1))}}, 3, NotJoined, "rank 3 and 1 others have never joined"},
		"refused":       {Evidence{How: GaveUp, Rank: 0, Missing: map[int]string{3: "", 4: "an attempt was refused: bits=18, the job has bits=20"}, Ranks: []*Rank{rank(0, -1, 0, failed(events.NotStarted, -1))}}, 4, NotJoined, "rank 4 is missing: an attempt was refused: bits=18"},
		"not ready":     {Evidence{How: GaveUp, Rank: 0, Ranks: []*Rank{rank(0, -1, 0, failed(events.NotStarted, -1)), {Rank: 1, Host: "h1", State: "joined"}}}, 1, SlowWork, "rank 1 (h1) was not ready in time"},
		"models differ": {Evidence{How: Server, Rank: -1, Fault: events.FaultModels, Why: "the ranks hold different models: rank 1 holds …"}, -1, ModelsDiffer, "the ranks hold different models"},
		"journal":       {Evidence{How: Server, Rank: -1, Fault: events.FaultJournal, Why: "the server cannot write its journal: disk full"}, -1, JournalFailed, "the server cannot write its journal"},
		"other":         {Evidence{How: Server, Rank: -1, Why: "no reason"}, -1, Unknown, "no reason"},
	} {
		v := Judge(c.evidence)
		if v.Rank != c.rank || v.Kind != c.kind || !strings.HasPrefix(v.Line, c.line) {
			t.Errorf("%s: got %+v\nwant rank %d, %q, %q", name, v, c.rank, c.kind, c.line)
		}
	}
}

// Every class of a rank's own error has a cause, except for the class of unknown errors.
func TestEveryClassIsJudged(t *testing.T) {
	for c := events.Other + 1; c <= events.ServerLost; c++ {
		if v := Judge(gaveUp(c, 1)); v.Kind == OwnError {
			t.Errorf("class %d: got %+v", c, v)
		}
	}
}

// A line is short, and has no control characters of another machine.
func TestLinesAreShortAndPlain(t *testing.T) {
	e := Evidence{How: GaveUp, Rank: 2, Why: "\x1b[31m" + strings.Repeat("é", 4096)}
	if v := Judge(e); len(v.Line) > MaxLine || strings.ContainsRune(v.Line, '\x1b') {
		t.Errorf("got %d bytes: %q", len(v.Line), v.Line)
	}
}

// Judge ends with a verdict for any evidence.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func() int {
			if len(b) == 0 {
				return 0
			}
			n := int(b[0])
			b = b[1:]
			return n
		}
		hows := []How{Stalled, Lost, GaveUp, Edge, Server}
		e := Evidence{How: hows[next()%5], Fault: events.Fault(next() % 13), Rank: next()%6 - 1, Peer: next()%6 - 1, Why: "why", Missing: map[int]string{next(): ""}}
		for r := range next() % 5 {
			one := rank(r, next()%6-1, uint64(next()%3))
			one.Silent = time.Duration(next()) * 100 * time.Millisecond
			for range next() % 8 {
				one.Events = append(one.Events, events.Event{Kind: events.Kind(next() % 8), Class: events.Class(next() % 24), Number: uint64(next() % 4), Peer: next()%6 - 1, Name: string(rune('a' + next()%3)), Verb: "all-reduce"})
			}
			e.Ranks = append(e.Ranks, one)
		}
		if v := Judge(e); v.Line == "" || v.Kind == "" {
			t.Errorf("got %+v", v)
		}
	})
}
