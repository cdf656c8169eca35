// SPDX-License-Identifier: Apache-2.0

package core

import (
	"crypto/sha256"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// FuzzMachine plays events that the bytes choose. The machine must not panic, and
// its counters must be consistent after each event.
func FuzzMachine(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x00\x11\x12\x13\x20\x21\x30\x31\x40\x41\x50\x51\x60\x70"))
	f.Add([]byte{0, 1, 16, 17, 32, 33, 48, 49, 64, 65, 80, 81, 96, 97, 112, 113, 128, 129, 144, 145})
	f.Fuzz(func(t *testing.T, script []byte) {
		playMachine(t, script)
	})
}

// playMachine plays a script with two bytes per event: its kind and its connection. If the number of
// bytes is odd, the time between two events is a pause of the server.
func playMachine(t interface {
	Helper()
	Fatalf(string, ...any)
}, script []byte,
) *Machine {
	t.Helper()
	rules := testRules
	if len(script)%2 == 1 {
		rules.Tick = TickInterval
	}
	m, now := NewMachine(rules, 1, 1, constant), birth
	known, gone := map[ConnID]bool{}, map[ConnID]bool{}
	for i := 0; i+1 < len(script); i += 2 {
		what, client := script[i], script[i+1]
		conn := ConnID(client)
		ev := scripted(m, what, client)
		switch ev.(type) {
		case JoinReceived, VWHello, StatusRequested, CancelRequested:
			if known[conn] {
				continue // a connection registers or sends its request only once
			}
		}
		known[conn] = true
		now = now.Add(time.Duration(what>>4) * time.Second)
		for _, a := range m.Step(now, ev) {
			switch a := a.(type) {
			case SendFrame:
				if gone[a.Conn] {
					t.Fatalf("%v is sent to connection %d after it was hung up", protocol.TypeOf(a.Frame), a.Conn)
				}
				if _, err := protocol.AppendFrame(nil, a.Frame); err != nil {
					t.Fatalf("%v", err)
				}
			case SendBytes:
				if gone[a.Conn] {
					t.Fatalf("% x is sent to connection %d after it was hung up", a.Bytes, a.Conn)
				}
			case CloseConn:
				gone[a.Conn] = true
			case Persist:
				if _, err := protocol.AppendRecord(nil, a.Record); err != nil {
					t.Fatalf("%v", err)
				}
			}
		}
		m.check()
	}
	return m
}

// membersOf returns the members that an attempt reports. Most attempts report none.
func membersOf(n byte) protocol.Members {
	switch n {
	case 2:
		return protocol.MembersWithout(nil)
	case 3:
		return protocol.MembersWithout([]int{1})
	}
	return protocol.Members{}
}

// scripted makes an event of two bytes. Eight connections share two ids.
func scripted(m *Machine, what, client byte) Event {
	conn := ConnID(client)
	epoch := protocol.Epoch{}
	if a := m.Conns[conn]; a != nil {
		epoch = a.job.epoch
	}
	from := Endpoint{Host: "10.0.0.1", Local: "10.0.0.9"}
	unique, rank, total := uint64(client>>2&1), uint64(client&3), uint64(2+client>>5&1)
	if what&0x7f == 4 { // a spare, where the job can use one
		rank = protocol.NoRank
	}
	switch what & 15 {
	case 0, 1:
		return VWHello{conn, from, unique, total, rank}
	case 2, 3, 4:
		return JoinReceived{conn, from, &protocol.JoinFrame{
			UniqueID: unique, RunKey: []string{"", "k"}[client>>3&1], Rank: uint32(rank), Total: uint32(total), Generation: uint32(what >> 7),
			OptionsSHA256: sha256.Sum256(nil), Attempt: uint64(conn), OnLoss: protocol.OnLoss(unique),
			Elastic: time.Duration(what>>6&1) * time.Second, Members: membersOf(what >> 4 & 3),
		}}
	case 5:
		return VWPort{conn, uint16(client)}
	case 6, 7:
		return FrameReceived{conn, &protocol.ReadyFrame{}}
	case 8:
		return FrameReceived{conn, &protocol.CompleteFrame{Epoch: epoch, Owed: [][]string{nil, {"f"}}[client>>6&1]}}
	case 9:
		return FrameReceived{conn, &protocol.DeliveredFrame{Epoch: epoch, Attempt: uint64(conn), File: "f"}}
	case 10:
		return FrameReceived{conn, &protocol.HeartbeatFrame{}}
	case 11:
		return []Event{FrameReceived{conn, &protocol.LeaveFrame{}}, FrameReceived{conn, &protocol.FailFrame{Reason: "x"}}}[what>>7]
	case 12:
		return ConnClosed{conn, events.FaultEnded, "closed"}
	case 13:
		if client>>5&1 != 0 {
			return []Event{
				FrameReceived{conn, &protocol.AskFrame{Epoch: epoch, Peer: int(client & 3), Fault: protocol.EdgeFault(what >> 6), Detail: strings.Repeat("x", protocol.MaxText)}},
				FrameReceived{conn, &protocol.ReportFrame{Epoch: epoch, Progress: protocol.Progress{Number: uint64(what >> 5), StepTook: time.Duration(client) * time.Second}}},
				CancelRequested{conn, from, &protocol.CancelFrame{UniqueID: unique}},
				JoinReceived{conn, from, &protocol.JoinFrame{
					UniqueID: unique, RunKey: []string{"", "k"}[client>>3&1], Rank: uint32(rank), Total: uint32(total), OptionsSHA256: sha256.Sum256(nil), Attempt: uint64(client & 7),
					OnLoss: protocol.OnLoss(unique), Epoch: protocol.Epoch{Term: 1, N: uint32(what >> 7), Incarnation: uint64(what >> 6 & 1)}, Step: uint64(what >> 5 & 1),
				}},
			}[what>>4&3]
		}
		return Persisted{Receipt: uint64(client & 3)}
	case 14:
		if client>>5&1 != 0 {
			return FrameReceived{conn, &protocol.PositionFrame{Epoch: epoch, Completed: epoch, Step: uint64(what >> 5)}}
		}
		return StatusRequested{conn}
	}
	if client>>5&1 != 0 {
		return FrameReceived{conn, &protocol.PositionFrame{Epoch: epoch}}
	}
	return TimePassed{}
}

// The fuzz test as a property test, so that each run of the tests plays some scripts.
func TestMachineAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2500 {
		script := make([]byte, 60+r.IntN(400))
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		// Few connections, so that several events refer to the same one.
		mask := []byte{0x6f, 0x2f, 0x67, 0xff}[i%4]
		for i := 1; i < len(script); i += 2 {
			script[i] &= mask
		}
		playMachine(t, script)
	}
}
