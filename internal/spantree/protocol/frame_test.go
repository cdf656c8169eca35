// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/wire"
)

// draw fills v with arbitrary values within the limits of a frame.
func drawValue(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Duration:
		*x = time.Duration(rapid.IntRange(0, math.MaxUint32).Draw(t, "ms")) * time.Millisecond
		return
	case *string:
		*x = rapid.StringN(-1, -1, MaxStep).Draw(t, "text")
		return
	case *MemberList:
		*x = listOf(anyMembers(t)...)
		return
	case *int: // a rank
		*x = rapid.IntRange(-1, math.MaxInt32).Draw(t, "rank")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			drawValue(t, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			drawValue(t, v.Index(i))
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 4).Draw(t, "length"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				drawValue(t, v.Index(i))
			}
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Max(1<<v.Type().Bits()-1).Draw(t, "number"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "real"))
	default:
		t.Fatalf("no value for a %v", v.Type())
	}
}

func TestFramesComeBackAsTheyWere(t *testing.T) {
	for kind, k := range FrameKinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				f := k.newFrame()
				if TypeOf(f) != kind {
					t.Fatalf("a fresh %s is of type %v", k.name, TypeOf(f))
				}
				drawValue(t, reflect.ValueOf(f).Elem())
				if end, ok := f.(*EpochEndFrame); ok { // one field has both
					if end.Cause.Kind == CauseRefused {
						end.Cause.Fault = 0
					} else {
						end.Cause.Code = 0
					}
				}
				b, err := AppendFrame([]byte("before"), f)
				if err != nil {
					t.Fatal(err)
				}
				r := FrameReader{R: iotest.OneByteReader(bytes.NewReader(b[6:])), Limit: MaxPayload}
				got, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(f, got, cmp.AllowUnexported(MemberList{})); d != "" {
					t.Fatalf("-sent +received:\n%s", d)
				}
				if _, err := r.Next(); err != io.EOF {
					t.Fatalf("after the frame: %v, want io.EOF", err)
				}
			})
		})
	}
}

// Reading any proper prefix of a frame returns io.EOF or a FrameError for missing bytes.
func TestTruncatedFrames(t *testing.T) {
	for _, f := range samples() {
		b, err := AppendFrame(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b) {
			for _, ahead := range []bool{false, true} {
				r := &FrameReader{R: bytes.NewReader(b[:n]), Limit: MaxPayload}
				if ahead {
					r.ReadAhead()
				}
				_, err := r.Next()
				fault, ok := errors.AsType[*FrameError](err)
				switch {
				case n == 0 && err != io.EOF:
					t.Errorf("%v: 0 bytes: got %v, want io.EOF", TypeOf(f), err)
				case n > 0 && (!ok || !errors.Is(fault, wire.ErrShort)):
					t.Errorf("%v: %d of %d bytes: %v", TypeOf(f), n, len(b), err)
				}
			}
		}
	}
}

// samples are frames in which no field is zero.
func samples() []Frame {
	e := Epoch{Term: 2, N: 3, Incarnation: 0x0123456789abcdef}
	m := [32]byte{0xaa, 31: 0xbb}
	return []Frame{
		&JoinFrame{
			UniqueID: 7, Rank: 3, Total: 4, Generation: 1, State: StateReady, Attempt: 9, Epoch: e, Capabilities: 1, Heartbeat: time.Second,
			LostAfter: 10 * time.Second, OptionsSHA256: sha256.Sum256([]byte("bits=18")), Port: 26544, AdvertiseHost: "10.0.0.3", Host: "h3",
			RunKey: "run", Options: "bits=18", Version: "1.0", OnLoss: Wait, ReplaceTimeout: time.Minute, SlowFactor: 2, Completed: e, Step: 8, Token: [16]byte{1, 15: 16},
			Elastic: time.Minute, Members: MembersWithout([]int{1, 9}),
		},
		&ReadyFrame{Epoch: e, Shard: Shard{Examples: 100, Bytes: 5000, CRC: 0xcafe, Took: time.Second}, Checkpoint: 6},
		&HeartbeatFrame{Seq: 5, Epoch: e, WaitsFor: 1, Collective: 17, Waits: "all-reduce #17"},
		&ReportFrame{Epoch: e, Progress: Progress{Pass: 2, Number: 8, Examples: 300, Loss: 0.25, StepTook: time.Second, Holdout: 0.5, Step: "gradient"}},
		&AskFrame{Epoch: e, Peer: 1, Collective: 17, Fault: 1, Detail: "no byte for 60 s"},
		&PositionFrame{Epoch: e, Completed: e, Step: 8, Work: true, WaitsFor: -1},
		&CompleteFrame{Epoch: e, Step: 9, Model: m, Owed: []string{"model", "predictions"}},
		&DeliveredFrame{Epoch: e, Attempt: 9, SHA256: m, File: "model"},
		&LeaveFrame{Epoch: e, Reason: "SIGTERM"},
		&FailFrame{Epoch: e, Reason: "part.3:17: no label", Detail: "\xff\x00"},
		&StatusFrame{},
		&CancelFrame{UniqueID: 7, RunKey: "run", Reason: "wrong data", Claim: m},
		&ProofFrame{Nonce: [32]byte{1}, Proof: m},
		&AuthOKFrame{Proof: m},
		&WelcomeFrame{Term: 2, Incarnation: e.Incarnation, MaxFrame: 65536, MaxRanks: 16384, Version: "1.0", Asks: AsksSecret, Nonce: m},
		&JoinedFrame{Attempt: 9, LostAfter: 10 * time.Second, Joined: 2, Seen: "10.0.0.3", Members: MembersWithout([]int{2})},
		&RefusedFrame{Code: OptionsDiffer, Model: m, Reason: "bits=20 here, bits=18 there"},
		&WaitingFrame{Joined: 2, Ready: 1, Total: 4, Report: "2 of 4 ranks have joined, missing ranks 1, 2"},
		&HeartbeatAckFrame{Seq: 5},
		&LogFrame{ranklog.Batch{Dropped: 3, Lines: []string{"level=INFO msg=ready", "level=ERROR msg=\"no label\""}}},
		&LogRequestFrame{UniqueID: 7, RunKey: "run", Rank: 3, Lines: 100},
		&LogsFrame{JSON: `[{"rank":3,"lines":["x"]}]`},
		&ClockFrame{Sent: 7}, &ClockAnswerFrame{Sent: 7, Time: 8, Clock: 9},
		&EpochStartFrame{
			Epoch: e, Token: [16]byte{1, 15: 16}, ResumeEpoch: e, ResumeStep: 8,
			Members: listOf(Member{Rank: 0, Capabilities: 1, Port: 26544, Host: "h0"}, Member{Rank: 1, Port: 26545, Host: "fe80::1", Seen: "10.0.0.2"}),
			Missing: []Missing{{Rank: 1, Source: 0, Payload: 2}},
		},
		&WireFrame{Epoch: e, Token: [16]byte{1, 15: 16}, Kids: 2, ParentPort: 26544, ParentHost: "10.0.0.1"},
		&EpochEndFrame{Epoch: e, Final: true, Cause: Cause{Kind: CauseGaveUp, Rank: 2, Host: "h2", Why: "part.3:17: no label", Detail: "\xff\x00"}},
		&EpochEndFrame{Epoch: e, Cause: Cause{Kind: CauseLost, Fault: events.FaultSilent, Rank: 2, Host: "h2", Why: "silent for 10s"}},
		&AskAckFrame{Epoch: e, Peer: 1},
		&FencedFrame{Epoch: e, Reason: "silent for 12s"},
		&StandByFrame{Holder: 8, Host: "h3b"},
		&DeliverFrame{Epoch: e, Files: []string{"model"}},
		&FinishedFrame{Epoch: e, Model: m},
		&JobsFrame{JSON: `{"jobs":[]}`},
		&AssignFrame{Rank: 3},
		&EventsFrame{Number: 1, Events: []events.Event{{Ago: time.Second, Kind: events.Collective, Open: true, Number: 17, Peer: -1, Verb: "all-reduce", Name: "gradient", Elements: 4, Bytes: 16}}},
		&TrafficFrame{Counts: traffic.Counts{
			Times: [traffic.Phases]time.Duration{1, 2, 3, 4}, Rounds: traffic.Rounds{Sent: 9, Behind: 2, Missed: 1},
			Calls:   []traffic.Calls{{Call: traffic.Barrier, Count: 3, Took: time.Second, Bytes: 12, Buckets: [traffic.Buckets]uint64{1, traffic.Buckets - 1: 2}}},
			Classes: []traffic.Class{{Via: traffic.Verbs, Sent: 5, Received: 6}},
			Edges:   []traffic.Edge{{Rank: 3, Via: traffic.Verbs, Sent: 5, Received: 6}, {Rank: -1, Local: true, Sent: 1}},
		}},
		&CollectFrame{Number: 1, Limit: MaxEvents, Verdict: 500 * time.Millisecond},
		&VerdictFrame{Number: 1, Rank: 3, Cause: "rank 3 skipped all-reduce 17"},
		&MembersFrame{MembersWithout([]int{0, 15})},
		&PullFrame{Epoch: e, Token: [16]byte{1, 15: 16}, ResumeEpoch: e, ResumeStep: 9, Payload: PayloadResults, Source: 2, Port: 26544, Host: "10.0.0.2"},
	}
}

func TestSamplesHaveEveryKind(t *testing.T) {
	seen := map[frameType]bool{}
	for _, f := range samples() {
		seen[TypeOf(f)] = true
	}
	for kind := range FrameKinds {
		if !seen[kind] {
			t.Errorf("no sample of %v", kind)
		}
	}
}

func TestMalformedFrames(t *testing.T) {
	head := func(length uint32, kind frameType, version byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, length), byte(kind), version, 0, 0)
	}
	beaten := func(seq ...byte) []byte { return append(head(uint32(4+len(seq)), typeHeartbeatAck, 1), seq...) }
	text := func(n uint32, s string) []byte {
		b := append(make([]byte, 16), binary.LittleEndian.AppendUint32(nil, n)...)
		b = append(b, s...)
		return append(head(uint32(4+len(b)), typeLeave, 1), b...)
	}
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"length 0", head(0, typeHeartbeat, 1), "length 0, at least 4"},
		{"length 3", head(3, typeHeartbeat, 1), "length 3, at least 4"},
		{"version 0", head(4, typeHeartbeat, 0), "malformed HEARTBEAT frame: version 0"},
		{"unknown", head(4, 50, 1), "malformed frame type 50 frame: version 8 of the protocol lacks it"},
		{"big", head(math.MaxUint32, typeEpochStart, 1), "malformed EPOCH_START frame: its payload has 4294967291 bytes, the limit is 16777216"},
		{"big for its kind", head(5000, typeHeartbeat, 1), "its payload has 4996 bytes, the limit is 4096"},
		{"big optional", head(5000, optionalFrames, 1), "its payload has 4996 bytes, the limit is 4096"},
		{"short field", beaten(1, 2, 3), "malformed HEARTBEAT_ACK frame: field seq: it ends inside a field"},
		{"long", beaten(1, 2, 3, 4, 5, 6, 7, 8, 9), "1 bytes too many"},
		{"text over its limit", text(MaxText+1, strings.Repeat("x", MaxText+1)), "field reason: 2049 bytes, the limit is 2048"},
		{"text over the end", text(5, "four"), "field reason: it ends inside a field"},
		{"text with a huge length", text(math.MaxUint32, "four"), "field reason: 4294967295 bytes, the limit is 2048"},
		{"no UTF-8", text(2, "\xff\xfe"), "field reason: it is not UTF-8"},
		{"list longer than the frame", append(append(head(4+84, typeEpochStart, 1), make([]byte, 56)...), "\x00\x00\x01\x00"+strings.Repeat("x", 24)...), "field members: it ends inside a field"},
		{"flag 2", append(append(head(4+45, TypePosition, 1), make([]byte, 40)...), 2, 0, 0, 0, 0), "field work: 2 is neither 0 nor 1"},
		{"no rank", append(append(head(4+45, TypePosition, 1), make([]byte, 41)...), 0, 0, 0, 0x80), "field waits_for: 2147483648 is no rank"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&FrameReader{R: bytes.NewReader(c.in), Limit: MaxPayload}).Next()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// A peer with a newer version may append fields, and send optional frames, which are skipped.
func TestNewerFrames(t *testing.T) {
	b, err := AppendFrame(nil, &HeartbeatAckFrame{Seq: 5})
	if err != nil {
		t.Fatal(err)
	}
	newer := append(bytes.Clone(b), 1, 2, 3)
	newer[0] += 3
	newer[5] = ProtocolVersion + 1
	optional := []byte{6, 0, 0, 0, 200, 9, 0, 0, 0xff, 0xff}
	r := FrameReader{R: bytes.NewReader(bytes.Join([][]byte{optional, newer, optional, b}, nil)), Limit: MaxPayload}
	for range 2 {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&HeartbeatAckFrame{Seq: 5}, f); d != "" {
			t.Error(d)
		}
	}
}

func TestFieldsOverTheirLimitsAreNotSent(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for _, f := range []Frame{
		&JoinFrame{Options: long}, &JoinFrame{RunKey: long}, &LeaveFrame{Reason: long},
		&CompleteFrame{Owed: make([]string, MaxFiles+1)}, &DeliveredFrame{File: long},
	} {
		if b, err := AppendFrame([]byte("x"), f); err == nil || string(b) != "x" {
			t.Errorf("%v: %d bytes, %v; want an error and dst unchanged", TypeOf(f), len(b), err)
		}
	}
}

func TestVWRefusesHello(t *testing.T) {
	hello := AppendHello(nil)
	if got, want := hex.EncodeToString(hello), "896776770d0a1a0a"+"0100000000000000"+"0100000000000000"; got != want {
		t.Errorf("hello is %s, want %s", got, want)
	}
	total, rank := binary.LittleEndian.Uint64(hello[8:]), binary.LittleEndian.Uint64(hello[16:])
	if rank < total {
		t.Errorf("vw's server would take rank %d of %d", rank, total)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"too long a text", 10, "too lon…"},
		{"äöüäöü", 8, "äö…"},
		{"\xff", 10, `"\xff"`},
	} {
		if got := Clip(c.in, c.limit); got != c.want || len(got) > c.limit {
			t.Errorf("clip(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// The field code has the code of a refusal, and in any other cause what the server has seen. Both are read by the kind,
// so a frame of an older server, with 0 in the field, has an unknown fault.
func TestCodeOfACause(t *testing.T) {
	for _, c := range []struct {
		sent Cause
		code byte // on the wire
	}{
		{Cause{Kind: CauseLost, Fault: events.FaultSilent, Rank: 3}, 2},
		{Cause{Kind: CauseLink, Fault: events.FaultCorrupt, Rank: 3}, 9},
		{Cause{Kind: CauseLost, Rank: 3}, 0},
		{Cause{Kind: CauseRefused, Code: ServerFault, Rank: -1}, 14},
	} {
		b, err := AppendFrame(nil, &EpochEndFrame{Cause: c.sent})
		if err != nil {
			t.Fatal(err)
		}
		if got := b[FrameHeader+18]; got != c.code {
			t.Errorf("%+v: got code %d on the wire, want %d", c.sent, got, c.code)
		}
		f, err := (&FrameReader{R: bytes.NewReader(b), Limit: MaxPayload}).Next()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&EpochEndFrame{Cause: c.sent}, f); d != "" {
			t.Errorf("-sent +received:\n%s", d)
		}
	}
}
