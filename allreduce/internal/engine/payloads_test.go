// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func testCall() CallID {
	return CallID{
		Epoch: protocol.Epoch{Term: 3, N: 5, Incarnation: 0x1122334455667788}, Seq: 17, Verb: VerbAllReduce, Kind: kernels.Float32, Op: kernels.Sum,
		Part: 256 << 10, Length: 1 << 24, Root: -1, Name: "gradient",
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
	for name, change := range map[string]func(c *CallID){
		"epoch":       func(c *CallID) { c.Epoch.N++ },
		"incarnation": func(c *CallID) { c.Epoch.Incarnation++ },
		"seq":         func(c *CallID) { c.Seq++ },
		"verb":        func(c *CallID) { c.Verb = VerbBarrier },
		"kind":        func(c *CallID) { c.Kind = kernels.Float64 },
		"op":          func(c *CallID) { c.Op = kernels.Max },
		"part":        func(c *CallID) { c.Part++ },
		"length":      func(c *CallID) { c.Length++ },
		"root":        func(c *CallID) { c.Root++ },
		"name":        func(c *CallID) { c.Name = "gradienT" },
		"long name":   func(c *CallID) { c.Name = strings.Repeat("x", 60) },
	} {
		c := testCall()
		change(&c)
		if callDigest(c.appendTo(nil)) == digest {
			t.Errorf("%s: another call has the same digest", name)
		}
	}
	// The digest covers the part of the name that is not on the wire.
	a, b := testCall(), testCall()
	a.Name, b.Name = strings.Repeat("x", 60)+"a", strings.Repeat("x", 60)+"b"
	if callDigest(a.appendTo(nil)) == callDigest(b.appendTo(nil)) {
		t.Error("long names that differ have the same digest")
	}
}

func TestFailureOnTheWire(t *testing.T) {
	a, b := testCall(), testCall()
	b.Name = "curvature"
	for _, want := range []*Failure{
		{Code: FaultLost, By: 3, Rank: 7, Host: "h7:26550", Text: "its connection ended"},
		{Code: faultStalled, By: 3, Rank: 7, entered: true, idle: time.Minute, Host: "h7:26550"},
		{Code: faultMismatch, By: 3, Rank: 7, calls: [2]CallID{a, b}},
		{Code: FaultGaveUp, By: -1, Rank: 7, Text: strings.Repeat("x", 5000)},
	} {
		wire := want.appendTo(nil)
		if len(wire) > faultMax {
			t.Errorf("%d bytes, the limit is %d", len(wire), faultMax)
		}
		got, err := DecodeFailure(wire)
		if err != nil {
			t.Fatal(err)
		}
		want.Text = Clip(want.Text, faultText)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(Failure{}, CallID{})); d != "" {
			t.Error(d)
		}
	}
}

func TestErrorsNameTheEvent(t *testing.T) {
	w := Where{
		Rank: 3, Call: "all-reduce #17 (gradient, 64 MiB)", Elapsed: 12 * time.Second,
		Waiting: "rank 7 (h7:26550)", Received: 41 << 20,
	}
	a, b := testCall(), testCall()
	b.Name, b.Verb = "", VerbBarrier
	for _, c := range []struct {
		f    *Failure
		want string
	}{
		{
			&Failure{Code: FaultLost, By: 3, Rank: 7, Host: "h7:26550", Text: "its connection ended"},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: lost rank 7 (h7:26550): its connection ended",
		},
		{
			&Failure{Code: faultStalled, By: 3, Rank: 7, Host: "h7:26550", entered: true, idle: time.Minute},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: no byte moved for 60 s between rank 3 and rank 7 (h7:26550), " +
				"both in the collective (limit: Stall): is that process stopped, or the network between them broken?",
		},
		{
			&Failure{Code: faultStalled, By: 5, Rank: 7, Host: "h7:26550", idle: 5 * time.Minute},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: rank 5 waited 5m0s for rank 7 (h7:26550), which has not entered the collective (limit: MaxWait)",
		},
		{
			&Failure{Code: faultMismatch, By: 5, Rank: 7, calls: [2]CallID{a, b}},
			`rank 3: ranks disagree: rank 5 calls all-reduce #17 "gradient" of 16777216 float32, sum, chunk 256 KiB, epoch 3.5; ` +
				"rank 7 calls barrier #17, chunk 256 KiB, epoch 3.5. All ranks must make the same calls in the same order",
		},
		{
			&Failure{Code: FaultGaveUp, By: 7, Rank: 7, Host: "h7", Text: "no such file"},
			"rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: given up by rank 7 (h7): no such file",
		},
	} {
		if got := c.f.Public(w).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func FuzzDecodeFailure(f *testing.F) {
	c := testCall()
	f.Add((&Failure{Code: faultMismatch, By: 1, Rank: 2, Host: "h", Text: "t", calls: [2]CallID{c, c}}).appendTo(nil))
	f.Add((&Failure{Code: FaultLost, By: 1, Rank: 2, Host: "h", Text: "t"}).appendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := DecodeFailure(b)
		if err != nil {
			return
		}
		again, err := DecodeFailure(got.appendTo(nil))
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if got.Code != again.Code || got.By != again.By || got.Rank != again.Rank {
			t.Errorf("got %+v, then %+v", got, again)
		}
		_ = got.Public(Where{}).Error() // must not panic, whatever was decoded
	})
}

// FuzzDecodeNote decodes arbitrary payloads: an accepted one is encoded to the same values.
func FuzzDecodeNote(f *testing.F) {
	f.Add(progressFrame{seq: 1, Rank: 2, entered: true}.appendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := decodeProgress(b)
		if err != nil {
			return
		}
		if again, err := decodeProgress(n.appendTo(nil)); err != nil || again != n {
			t.Errorf("% x: got %+v, then %+v, %v", b, n, again, err)
		}
	})
}
