// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A FrameReader that reads ahead returns the same frames as one that does not, whatever parts the
// bytes arrive in and wherever it begins to read ahead.
func TestReadAheadReturnsTheSameFrames(t *testing.T) {
	all := samples()
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var sent []Frame
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			f := rapid.SampledFrom(all).Draw(t, "frame")
			b, err := AppendFrame(stream, f)
			if err != nil {
				t.Fatal(err)
			}
			stream, sent = b, append(sent, f)
		}
		from := rapid.IntRange(0, len(sent)).Draw(t, "from")
		parts := rapid.SliceOfN(rapid.IntRange(1, 300), 1, 20).Draw(t, "parts")
		var in io.Reader = &inParts{bytes.NewReader(stream), parts}
		if rapid.Bool().Draw(t, "end comes with the last bytes") {
			in = iotest.DataErrReader(in)
		}
		r := FrameReader{R: in, Limit: MaxPayload}
		for i, want := range sent {
			if i == from {
				r.ReadAhead()
			}
			if rapid.Bool().Draw(t, "wait") {
				if err := r.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := r.Next()
			if err != nil {
				t.Fatalf("frame %d of %d: %v", i, len(sent), err)
			}
			if d := cmp.Diff(want, got, cmp.AllowUnexported(MemberList{})); d != "" {
				t.Fatalf("frame %d: -sent +received:\n%s", i, d)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("after the frames: %v, want io.EOF", err)
		}
	})
}

// inParts returns the bytes of r in parts of these sizes, over and over.
type inParts struct {
	r     io.Reader
	parts []int
}

func (p *inParts) Read(b []byte) (int, error) {
	n := min(len(b), p.parts[0])
	p.parts = append(p.parts[1:], p.parts[0])
	return p.r.Read(b[:n])
}

// A heartbeat whose bytes have all arrived takes one read, and no memory but that of the frame.
func TestOneReadForAHeartbeat(t *testing.T) {
	b, err := AppendFrame(nil, &HeartbeatFrame{Seq: 1, WaitsFor: 3, Collective: 9, Waits: "rank 3 has not sent its part yet"})
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	r := FrameReader{R: readerFunc(func(p []byte) (int, error) {
		reads++
		return copy(p, b), nil
	}), Limit: MaxPayload}
	r.ReadAhead()
	const frames = 10
	for range frames {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if reads != frames {
		t.Errorf("%d reads for %d heartbeats, want one for each", reads, frames)
	}
	if cap(r.buf) > 0 {
		t.Errorf("the reader holds %d bytes for heartbeats", cap(r.buf))
	}
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
