// SPDX-License-Identifier: Apache-2.0

package verbs_test

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
)

// On a device with memory windows the other end cannot overwrite a message that has arrived:
// its slot is not writable with the previous or the next key.
func TestAMessageCannotBeOverwritten(t *testing.T) {
	const n = 5000
	for _, c := range []struct {
		name      string
		noWindows bool
		key       func(first uint32) uint32
		want      verbs.Status
	}{
		{"its key", false, func(first uint32) uint32 { return first }, verbs.RemoteAccess},
		{"its next key", false, func(first uint32) uint32 { return first + 1 }, verbs.RemoteAccess},
		{"a device without memory windows", true, func(first uint32) uint32 { return first }, verbs.Success},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
			if c.noWindows {
				f.NoWindows()
			}
			mad := newMad(t, f)
			first := mad.keys[0]
			mad.write(first, n)
			buf := make([]byte, n-1) // the last byte is not read: the slot stays unwritable
			mad.until("arrival of the message", func() bool { k, _ := mad.victim.Read(buf); return k == len(buf) })
			mad.until("invalidation of the key", mad.victim.Flushed)
			if s := mad.completion(); s != verbs.Success {
				t.Fatal("the message: ", s)
			}
			mad.write(c.key(first), n)
			if s := mad.completion(); s != c.want {
				t.Errorf("the second message: got %v, want %v", s, c.want)
			}
		})
	}
}

// mad is an end that writes without regard to credits.
type mad struct {
	t       *testing.T
	queue   verbs.Queue
	mem     []byte
	key     uint32
	victim  *verbs.Stream
	address uint64
	keys    [8]uint32 // of the victim's slots
}

func newMad(t *testing.T, f *verbstest.Fabric) *mad {
	devices, _ := f.Devices()
	place, err := verbs.Choose(devices, "", devices[0].Ports[0].GIDs[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	d, err := verbs.NewDomain(f, place)
	if err != nil {
		t.Fatal(err)
	}
	m := &mad{t: t, mem: make([]byte, 1<<16)}
	if m.victim, err = d.NewStream(); err != nil {
		t.Fatal(err)
	}
	ctx, err := f.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	region, err := ctx.Register(m.mem, verbs.AccessLocal)
	if err != nil {
		t.Fatal(err)
	}
	m.key, _ = region.Keys()
	if m.queue, err = ctx.Queue(verbs.QueueConfig{Sends: 10, Receives: 10}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.queue.Close(), region.Close(), ctx.Close(), m.victim.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		if left := f.Left(); left != "" {
			t.Errorf("left open: %s", left)
		}
	})
	le, offer := binary.LittleEndian, m.victim.Offer()
	m.address = le.Uint64(offer[16:])
	for i := range m.keys {
		m.keys[i] = le.Uint32(offer[56+4*i:])
	}
	if err := m.queue.Connect(verbs.Peer{Queue: le.Uint32(offer)}, 0); err != nil {
		t.Fatal(err)
	}
	le.PutUint32(offer, m.queue.Number()) // its own offer is like the victim's
	if err := m.victim.Accept(offer); err != nil {
		t.Fatal(err)
	}
	return m
}

// write writes a message into the first slot.
func (m *mad) write(key uint32, n int) {
	m.t.Helper()
	if err := m.queue.Send(verbs.Work{Op: verbs.OpWriteNote, Mem: m.mem[:n], Key: m.key, Imm: uint32(n), Remote: m.address, RemoteKey: key}); err != nil {
		m.t.Fatal(err)
	}
}

// completion waits for the oldest request and returns its status.
func (m *mad) completion() (s verbs.Status) {
	m.t.Helper()
	var c [1]verbs.Completion
	m.until("a completion", func() bool { n, _ := m.queue.Poll(c[:]); return n == 1 })
	return c[0].Status
}

func (m *mad) until(what string, f func() bool) {
	m.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !f(); {
		if time.Now().After(end) {
			m.t.Fatalf("%s: not within 2 minutes", what)
		}
	}
}
