// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
	"github.com/gvw-project/gvw/malt/internal/pace"
)

// words is an Inbox in memory of the process. It calls tear before each access to a flag.
type words struct {
	mem  []uint64
	tear func()
}

func (w *words) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&w.mem[0])), 8*len(w.mem))
}

func (w *words) Flag(at int) *atomic.Uint64 {
	if tear := w.tear; tear != nil {
		w.tear = nil // the writer accesses flags, too
		tear()
		w.tear = tear
	}
	return (*atomic.Uint64)(unsafe.Pointer(&w.mem[at/8]))
}

func (w *words) Opened()      {}
func (w *words) Close() error { return nil }

// anywhere makes words.
type anywhere struct{ made *words }

func (m *anywhere) Make(size int) (Inbox, []byte, error) {
	m.made = &words{mem: make([]uint64, (size+7)/8)}
	return m.made, []byte("here"), nil
}

func (*anywhere) Name() string                   { return "words" }
func (*anywhere) Hello() ([]byte, error)         { return []byte("hello"), nil }
func (*anywhere) Meet([]byte, func(error)) error { return nil }
func (*anywhere) Open(int, int, int, []byte) (Outbox, error) {
	return nil, errors.New("only the test writes")
}
func (*anywhere) Stop() {}

// mail returns an object with the mailbox of position 1, and the writer of that.
func mail(t testing.TB, depth, size int) (*object, *box, *mailbox.Writer, *words) {
	t.Helper()
	g, err := graph.New("all", 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pace.New(pace.Config{Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	o := &object{Spec: Spec{ID: 3, Name: "o", Size: size, Graph: g, Depth: depth}, pace: p}
	m := &anywhere{}
	b, call, err := newBox(m, o.Spec)
	if err != nil {
		t.Fatal(err)
	}
	of, err := decodeOffer(call)
	if err != nil || of.object != 3 || string(of.location) != "here" {
		t.Fatalf("got offer %+v, %v", of, err)
	}
	w, err := mailbox.NewWriter(mailbox.Local{Memory: m.made}, of.layout, of.key)
	if err != nil {
		t.Fatal(err)
	}
	return o, b, w, m.made
}

// fillWords returns an update of n words that are all the same.
func fillWords(n int, x uint64) []byte {
	b := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
	return b
}

// TestWholeUpdatesAreNeverTorn reads while a writer tears on purpose: it works in the middle of a read, stops
// after some bytes, and changes bytes without a new header.
func TestWholeUpdatesAreNeverTorn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 5
		o, b, w, mem := mail(t, rapid.IntRange(1, 3).Draw(rt, "depth"), 8*n)
		number, halves := uint64(0), 0 // halves of the update that are written; 0: none has begun
		step := func() {
			update := fillWords(n, number+1)
			switch halves {
			case 0:
				if err := w.Begin(len(update)); err != nil {
					rt.Fatal(err)
				}
			case 1:
				w.Write(update[:n])
			case 2:
				w.Write(update[n:])
			case 3:
				number++
				if err := w.End(mailHead(Head{Iteration: number, Scale: 1}), crc32c.Checksum(update)); err != nil {
					rt.Fatal(err)
				}
			}
			halves = (halves + 1) % 4
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 200).Draw(rt, "steps")
		mem.tear = func() {
			if len(steps) == 0 {
				return
			}
			for range steps[0] {
				step()
			}
			if steps[0] == 9 { // no header shows that
				mem.Bytes()[rapid.IntRange(0, len(mem.Bytes())-1).Draw(rt, "byte")]++
			}
			steps = steps[1:]
		}
		last := uint64(0)
		for len(steps) > 0 {
			o.taken, b.used = o.taken[:0], 0
			b.read(o, 1, 7, true)
			for _, a := range o.taken {
				if cmp.Diff(fillWords(n, a.Iteration), a.Data) != "" || a.Iteration <= last || a.Shared() || a.From != 7 || a.Scale != 1 {
					rt.Fatalf("got update %+v after number %d", a, last)
				}
				last = a.Iteration
			}
		}
	})
}

// TestDamageIsDroppedAndCounted changes a byte of an update.
func TestDamageIsDroppedAndCounted(t *testing.T) {
	for _, whole := range []bool{false, true} {
		o, b, w, mem := mail(t, 4, 80)
		for i := range uint64(3) {
			update := fillWords(10, i)
			if err := errors.Join(w.Begin(len(update)), func() error { w.Write(update); return w.End(mailHead(Head{Round: i}), crc32c.Checksum(update)) }()); err != nil {
				t.Fatal(err)
			}
		}
		stride := len(mem.Bytes()) / 4
		mem.Bytes()[stride+100]++
		b.read(o, 1, 7, whole)
		if len(o.taken) != 2 || o.taken[0].Round != 0 || o.taken[1].Round != 2 {
			t.Errorf("whole %v: got %+v, want rounds 0 and 2", whole, o.taken)
		}
		if d := cmp.Diff(Stats{Received: 3, Damaged: 1}, b.stats()); d != "" {
			t.Errorf("whole %v (-want +got):\n%s", whole, d)
		}
		for _, a := range o.taken {
			if a.Shared() == whole {
				t.Errorf("whole %v: Shared is %v", whole, a.Shared())
			}
		}
	}
}
