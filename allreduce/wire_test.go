// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var testEpoch = protocol.Epoch{Term: 3, N: 5, Incarnation: 0x1122334455667788}

func testCall() callID {
	return callID{
		epoch: testEpoch, seq: 17, verb: verbAllReduce, kind: Float32, op: Sum,
		part: 256 << 10, length: 1 << 24, root: -1, name: "gradient",
	}
}

func TestCallOnTheWire(t *testing.T) {
	want := testCall()
	wire := want.appendTo(nil)
	if err := checkCall(wire); err != nil {
		t.Fatal(err)
	}
	if got := decodeCall(wire); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := want.String(), "all-reduce #17 (gradient, 64 MiB)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	digest := callDigest(wire)
	for name, change := range map[string]func(c *callID){
		"epoch":       func(c *callID) { c.epoch.N++ },
		"incarnation": func(c *callID) { c.epoch.Incarnation++ },
		"seq":         func(c *callID) { c.seq++ },
		"verb":        func(c *callID) { c.verb = verbBarrier },
		"kind":        func(c *callID) { c.kind = Float64 },
		"op":          func(c *callID) { c.op = Max },
		"part":        func(c *callID) { c.part++ },
		"length":      func(c *callID) { c.length++ },
		"root":        func(c *callID) { c.root++ },
		"name":        func(c *callID) { c.name = "gradienT" },
		"long name":   func(c *callID) { c.name = strings.Repeat("x", 60) },
	} {
		c := testCall()
		change(&c)
		if callDigest(c.appendTo(nil)) == digest {
			t.Errorf("%s: another call has the same digest", name)
		}
	}
	// What is beyond the name's bytes on the wire counts too.
	a, b := testCall(), testCall()
	a.name, b.name = strings.Repeat("x", 60)+"a", strings.Repeat("x", 60)+"b"
	if callDigest(a.appendTo(nil)) == callDigest(b.appendTo(nil)) {
		t.Error("long names that differ have the same digest")
	}
}

func TestFailureOnTheWire(t *testing.T) {
	a, b := testCall(), testCall()
	b.name = "curvature"
	for _, want := range []*failure{
		{code: faultLost, by: 3, rank: 7, host: "h7:26550", text: "its connection ended"},
		{code: faultStalled, by: 3, rank: 7, entered: true, idle: time.Minute, host: "h7:26550"},
		{code: faultMismatch, by: 3, rank: 7, calls: [2]callID{a, b}},
		{code: faultGaveUp, by: -1, rank: 7, text: strings.Repeat("x", 5000)},
	} {
		wire := want.appendTo(nil)
		if len(wire) > faultMax {
			t.Errorf("%d bytes, the limit is %d", len(wire), faultMax)
		}
		got, err := decodeFailure(wire)
		if err != nil {
			t.Fatal(err)
		}
		want.text = clip(want.text, faultText)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(failure{}, callID{})); d != "" {
			t.Error(d)
		}
	}
}

func TestErrorsSayWhatHappened(t *testing.T) {
	w := Where{
		Rank: 3, Call: "all-reduce #17 (gradient, 64 MiB)", Elapsed: 12 * time.Second,
		Waiting: "rank 7 (h7:26550)", Received: 41 << 20,
	}
	a, b := testCall(), testCall()
	b.name, b.verb = "", verbBarrier
	for _, c := range []struct {
		f    *failure
		want string
	}{
		{
			&failure{code: faultLost, by: 3, rank: 7, host: "h7:26550", text: "its connection ended"},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: lost rank 7 (h7:26550): its connection ended",
		},
		{
			&failure{code: faultStalled, by: 3, rank: 7, host: "h7:26550", entered: true, idle: time.Minute},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: no byte moved for 60 s between rank 3 and rank 7 (h7:26550), " +
				"both in the collective (limit: Stall): is that process stopped, or the network between them broken?",
		},
		{
			&failure{code: faultStalled, by: 5, rank: 7, host: "h7:26550", idle: 5 * time.Minute},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: rank 5 waited 5m0s for rank 7 (h7:26550), which has not entered the collective (limit: MaxWait)",
		},
		{
			&failure{code: faultMismatch, by: 5, rank: 7, calls: [2]callID{a, b}},
			`rank 3: ranks disagree: rank 5 calls all-reduce #17 "gradient" of 16777216 float32, sum, chunk 256 KiB, epoch 3.5; ` +
				"rank 7 calls barrier #17, chunk 256 KiB, epoch 3.5. All ranks must make the same calls in the same order",
		},
		{
			&failure{code: faultGaveUp, by: 7, rank: 7, host: "h7", text: "no such file"},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: given up by rank 7 (h7): no such file",
		},
	} {
		if got := c.f.public(w).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func FuzzDecodeFailure(f *testing.F) {
	c := testCall()
	f.Add((&failure{code: faultMismatch, by: 1, rank: 2, host: "h", text: "t", calls: [2]callID{c, c}}).appendTo(nil))
	f.Add((&failure{code: faultLost, by: 1, rank: 2, host: "h", text: "t"}).appendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeFailure(b)
		if err != nil {
			return
		}
		again, err := decodeFailure(got.appendTo(nil))
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if got.code != again.code || got.by != again.by || got.rank != again.rank {
			t.Errorf("got %+v, then %+v", got, again)
		}
		_ = got.public(Where{}).Error() // must not panic, whatever was decoded
	})
}

func FuzzDecodeHello(f *testing.F) {
	f.Add(hello{nonce: [16]byte{1}, epoch: testEpoch, from: 1, to: 2, total: 3}.appendTo(nil))
	f.Add([]byte(helloMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err == nil && !bytes.Equal(h.appendTo(nil), b) {
			t.Errorf("%x: decoded as %+v, which is another hello", b, h)
		}
	})
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add(appendFrame(nil, frameNote, note{seq: 1, rank: 2, entered: true}.appendTo(nil)))
	f.Add(appendFrame(nil, frameCall, (&callID{}).appendTo(nil)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frameSize {
			return
		}
		fr, err := decodeFrame(b, false)
		if _, tagged := decodeFrame(b, true); err == nil && tagged == nil {
			t.Errorf("% x: a frame with a checksum, and with a tag", b)
		}
		if err != nil {
			return
		}
		payload := b[frameSize:]
		if again := fr.append(nil); !bytes.Equal(again, b[:frameSize]) {
			t.Errorf("% x became % x", b[:frameSize], again)
		}
		if uint64(fr.length) < uint64(len(payload)) {
			payload = payload[:fr.length]
		}
		switch fr.kind {
		case frameNote:
			_, _ = decodeNote(payload)
		case frameCall:
			if checkCall(payload) == nil {
				c := decodeCall(payload)
				_ = c.detail()
			}
		}
	})
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Server: ":26543", Rank: 5, Total: 4, Chunk: 12, Stall: -1, MaxWait: -1}.Validate()
	for _, want := range []string{"Server", "Rank", "Chunk", "Stall", "MaxWait"} {
		if err == nil || !strings.Contains(err.Error(), "allreduce: "+want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
	if err := (Config{Server: "gateway:26543", Total: 1}).Validate(); err != nil {
		t.Errorf("the least configuration: %v", err)
	}
}

// A rank of another release says so in its first bytes.
func TestHelloOfAnotherVersion(t *testing.T) {
	b := hello{nonce: [16]byte{1}, from: 1, to: 0, total: 2}.appendTo(nil)
	b[7]--
	_, err := decodeHello(b)
	if want := fmt.Sprintf("got version %d of the protocol between ranks, want %d", b[7], b[7]+1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
