// SPDX-License-Identifier: Apache-2.0

package rdmawrite

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// end is a rank.
type end struct {
	dev  *Device
	mem  *Memory
	news chan error
}

// pair returns two ranks that are connected.
func pair(t *testing.T, f *verbstest.Fabric) (a, b *end) {
	t.Helper()
	ends := [2]*end{}
	var hellos [2][]byte
	for i := range ends {
		devices, err := f.Devices()
		if err != nil {
			t.Fatal(err)
		}
		place, err := verbs.Choose(devices, verbs.Auto, devices[0].Ports[0].GIDs[0].Addr)
		if err != nil {
			t.Fatal(err)
		}
		dev, err := Open(f, place)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = &end{dev: dev, mem: dev.Memory(), news: make(chan error, 100)}
		if hellos[i], err = ends[i].mem.Hello(); err != nil {
			t.Fatal(err)
		}
		if n := len(hellos[i]); n != helloSize || n > carrier.MaxHello {
			t.Errorf("a hello has %d bytes", n)
		}
	}
	for i, e := range ends {
		if err := e.mem.Meet(hellos[1-i], func(err error) { e.news <- err }); err != nil {
			t.Fatal(err)
		}
	}
	return ends[0], ends[1]
}

// close ends a rank.
func (e *end) close(t *testing.T) {
	t.Helper()
	e.mem.Stop()
	if err := e.dev.Close(); err != nil {
		t.Error(err)
	}
}

// write writes an update.
func write(t *testing.T, w *mailbox.Writer, update []byte) {
	t.Helper()
	if err := w.Begin(len(update)); err != nil {
		t.Fatal(err)
	}
	w.Write(update)
	if err := w.End(mailbox.Head{}, crc32c.Checksum(update)); err != nil {
		t.Fatal(err)
	}
}

// box returns both ends of a mailbox of a, which b writes.
func box(t *testing.T, a, b *end, l mailbox.Layout) (carrier.Inbox, carrier.Outbox, *mailbox.Reader, *mailbox.Writer) {
	t.Helper()
	in, offer, err := a.mem.Make(l.Size())
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.mem.Open(l.Size(), l.Stride(), 2, offer)
	if err != nil {
		t.Fatal(err)
	}
	r, rerr := mailbox.NewReader(in, l, 7)
	w, werr := mailbox.NewWriter(out, l, 7)
	if err := errors.Join(rerr, werr); err != nil {
		t.Fatal(err)
	}
	return in, out, r, w
}

func fabric() *verbstest.Fabric { return verbstest.New(1, verbstest.Device("fake0", "10.77.0.1")) }

// TestUpdatesArrive writes updates of growing size. The largest takes more messages than may be pending.
func TestUpdatesArrive(t *testing.T) {
	f := fabric()
	a, b := pair(t, f)
	l := mailbox.Layout{Depth: 2, Payload: 40 << 20}
	in, out, r, w := box(t, a, b, l)
	for _, n := range []int{1, 5000, 3 << 20, l.Payload, 3} {
		update := bytes.Repeat([]byte{byte(n) | 1}, n)
		write(t, w, update)
		for !out.Arrived() {
			if err := <-b.news; err != nil {
				t.Fatal(err)
			}
		}
		got := r.Updates(nil)
		if len(got) != 1 || !r.Intact(got[0]) || !bytes.Equal(got[0].Payload, update) {
			t.Fatalf("got %d updates, want the one of %d bytes", len(got), n)
		}
	}
	for range 2 {
		write(t, w, []byte("x"))
	}
	for !out.Room() {
		<-b.news
	}
	a.close(t)
	b.close(t)
	if err := errors.Join(in.Close(), out.Close()); err != nil {
		t.Error(err)
	}
	if left := f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// TestLateWritesFail writes to the memory of an epoch that has ended: the device refuses the write.
func TestLateWritesFail(t *testing.T) {
	a, b := pair(t, fabric())
	in, out, r, w := box(t, a, b, mailbox.Layout{Depth: 2, Payload: 100})
	defer in.Close()
	defer out.Close()
	a.mem.Stop()
	write(t, w, []byte("late"))
	select {
	case err := <-b.news:
		if failed := (*verbs.Error)(nil); !errors.As(err, &failed) {
			t.Errorf("got %v, want a failed write", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the write has neither arrived nor failed")
	}
	if got := r.Updates(nil); len(got) != 0 {
		t.Errorf("got %v, which was written after the end", got)
	}
	write(t, w, []byte("later")) // no error: the failure was reported
	if out.Arrived() {
		t.Error("a failed write counts as arrived")
	}
	b.close(t)
}

// TestLimitOfMemory makes inboxes up to the limit of the device, and one beyond it.
func TestLimitOfMemory(t *testing.T) {
	f := fabric()
	a, b := pair(t, f)
	a.dev.Limit(3000)
	first, _, err := a.mem.Make(2000)
	if err != nil {
		t.Fatal(err)
	}
	beyond := (*LimitError)(nil)
	if _, _, err := a.mem.Make(1001); !errors.As(err, &beyond) || *beyond != (LimitError{1001, 2000, 3000}) {
		t.Errorf("got %v, want a LimitError", err)
	}
	second, _, err := a.mem.Make(1000)
	if err != nil {
		t.Error(err)
	}
	a.close(t)
	b.close(t)
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if left := f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// scarce is a device that registers count regions without access for other machines, and no more.
type scarce struct {
	verbs.Context
	count int
}

func (s *scarce) Register(mem []byte, access verbs.Access) (verbs.Region, error) {
	if access == verbs.AccessLocal {
		if s.count--; s.count < 0 {
			return nil, unix.ENOMEM
		}
	}
	return s.Context.Register(mem, access)
}

// TestOpenRegistersAllBuffers opens a mailbox whose sender can register only one of two buffers. Open fails, while updates
// can still go over the link, and keeps nothing registered.
func TestOpenRegistersAllBuffers(t *testing.T) {
	f := fabric()
	a, b := pair(t, f)
	l := mailbox.Layout{Depth: 2, Payload: 100}
	in, offer, err := a.mem.Make(l.Size())
	if err != nil {
		t.Fatal(err)
	}
	b.dev.ctx = &scarce{b.dev.ctx, 1}
	refused := (*verbs.RegisterError)(nil)
	if _, err := b.mem.Open(l.Size(), l.Stride(), 2, offer); !errors.As(err, &refused) {
		t.Errorf("got %v, want a RegisterError", err)
	}
	if n := len(b.mem.regions); n != 0 {
		t.Errorf("%d regions are left, want 0", n)
	}
	a.close(t)
	b.close(t)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if left := f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

func TestRefusals(t *testing.T) {
	f := fabric()
	a, b := pair(t, f)
	if err := a.mem.Meet([]byte("sixteen bytes of"), nil); err == nil {
		t.Error("the hello of another way was accepted")
	}
	if _, err := b.mem.Open(100, 100, 1, []byte("short")); err == nil {
		t.Error("a short offer was accepted")
	}
	f.Refuse(1)
	refused := (*verbs.RegisterError)(nil)
	if _, _, err := a.mem.Make(100); !errors.As(err, &refused) {
		t.Errorf("got %v, want a RegisterError", err)
	}
	f.Refuse(0)
	a.close(t)
	b.close(t)
	if _, _, err := a.mem.Make(100); !errors.Is(err, errStopped) {
		t.Errorf("got %v, want %v", err, errStopped)
	}
}
