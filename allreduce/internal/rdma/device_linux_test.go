// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
)

func newFabric() *verbstest.Fabric {
	return verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
}

func open(t *testing.T, d *Device, f *verbstest.Fabric) {
	t.Helper()
	if err := d.Open(Port{Library: f, Addr: "10.77.0.1:26550"}); err != nil {
		t.Fatal(err)
	}
}

func TestFindNamesThePort(t *testing.T) {
	f := newFabric()
	for _, c := range []struct {
		name, addr, err string
	}{
		{"", "10.77.0.1:1", ""},
		{"auto", "10.77.0.1:1", ""},
		{"fake0", "10.0.0.9:1", ""},
		{"fake0:1", "", ""},
		{"10.77.0.1", "host:1", ""},
		{"fake1", "10.77.0.1:1", "fake1"},
		{"fake0:2", "10.77.0.1:1", "fake0:2"},
	} {
		place, err := Port{Library: f, Name: c.name, Addr: c.addr}.Find()
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: got %v", c, err)
		case c.err == "" && (err != nil || !strings.HasPrefix(place.String(), "fake0 port 1 ")):
			t.Errorf("%+v: got %v, %v", c, place, err)
		}
	}
}

func TestClosedDevice(t *testing.T) {
	var d Device
	if _, err := d.NewStream(); err != errNotOpen {
		t.Errorf("NewStream: got %v", err)
	}
	direct, copied, err := d.Close()
	if direct != 0 || copied != 0 || err != nil || d.String() != "" {
		t.Errorf("Close: got %d, %d, %v; device %q", direct, copied, err, d.String())
	}
	bare := verbstest.New(1)
	if err := d.Open(Port{Library: bare}); err == nil || d.String() != "" {
		t.Errorf("Open without a device: got %v", err)
	}
}

// TestUnusableDevice: a device that refuses memory cannot make a stream, so Open fails and
// leaves nothing open.
func TestUnusableDevice(t *testing.T) {
	f := newFabric()
	f.Refuse(1)
	var d Device
	err := d.Open(Port{Library: f, Addr: "10.77.0.1:1"})
	if _, refused := errors.AsType[*verbs.RegisterError](err); !refused || d.String() != "" {
		t.Errorf("got %v, device %q", err, d.String())
	}
	if left := f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// TestRefusedRegion: memory that the device refuses is an error of Open, and the device is open.
func TestRefusedRegion(t *testing.T) {
	f := newFabric()
	f.Refuse(1 << 20)
	var d Device
	for _, n := range []int{1 << 20, 100, 2 << 20} {
		if err := d.Register(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	err := d.Open(Port{Library: f, Addr: "10.77.0.1:1"})
	if _, refused := errors.AsType[*RegistrationError](err); !refused || strings.Count(err.Error(), "cannot register") != 2 {
		t.Errorf("got %v, want two refusals", err)
	}
	if _, refused := errors.AsType[*verbs.RegisterError](err); !refused {
		t.Errorf("%v does not wrap the errors of the device", err)
	}
	if d.String() == "" {
		t.Error("the device is closed")
	}
	if err := d.Register(make([]byte, 1<<20)); err == nil {
		t.Error("Register of refused memory: no error")
	}
	if b, err := d.Alloc(1 << 20); err == nil || b != nil {
		t.Errorf("Alloc of refused memory: got %d bytes, %v", len(b), err)
	}
	closeAll(t, &d, f)
}

func closeAll(t interface{ Errorf(string, ...any) }, d *Device, f *verbstest.Fabric) {
	if _, _, err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	d.Release()
	if left := f.Left(); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// TestEpochsKeepTheMemory: for every sequence of epochs and registrations, the registered memory of
// the device is that of a set, and nothing is left after Close and Release.
func TestEpochsKeepTheMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFabric()
		var d Device
		opened := false
		memory := make([][]byte, 4)
		for i := range memory {
			memory[i] = make([]byte, 64+i)
		}
		want := map[int]bool{}
		own := 0
		rt.Repeat(map[string]func(*rapid.T){
			"open": func(rt *rapid.T) {
				if opened {
					rt.Skip()
				}
				if err := d.Open(Port{Library: f, Addr: "10.77.0.1:1"}); err != nil {
					rt.Fatal(err)
				}
				opened = true
			},
			"close": func(rt *rapid.T) {
				if _, _, err := d.Close(); err != nil {
					rt.Fatal(err)
				}
				opened = false
			},
			"register": func(rt *rapid.T) {
				i := rapid.IntRange(0, 3).Draw(rt, "memory")
				if want[i] {
					rt.Skip()
				}
				if err := d.Register(memory[i]); err != nil {
					rt.Fatal(err)
				}
				want[i] = true
			},
			"unregister": func(rt *rapid.T) {
				i := rapid.IntRange(0, 3).Draw(rt, "memory")
				if err := d.Unregister(memory[i][:1]); err != nil {
					rt.Fatal(err)
				}
				delete(want, i)
			},
			"alloc": func(rt *rapid.T) {
				b, err := d.Alloc(100)
				if err != nil || len(b) != 100 {
					rt.Fatalf("got %d bytes, %v", len(b), err)
				}
				own++
				if err := d.Unregister(b); err != nil { // it is the device's own
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				left := ""
				if n := len(want) + own; opened {
					left = describe(n)
				}
				if diff := cmp.Diff(left, f.Left()); diff != "" {
					rt.Fatalf("open (-want +got):\n%s", diff)
				}
			},
		})
		closeAll(rt, &d, f)
	})
}

// describe is the text of a fabric with one open context and n regions.
func describe(n int) string {
	f := newFabric()
	d := Device{}
	defer d.Release()
	if err := d.Open(Port{Library: f, Addr: "10.77.0.1:1"}); err != nil {
		return err.Error()
	}
	memory := make([][]byte, n)
	for i := range memory {
		memory[i] = make([]byte, 1)
		if err := d.Register(memory[i]); err != nil {
			return err.Error()
		}
	}
	defer d.Close()
	return f.Left()
}

// TestStreamsOfAnEpoch: a device has streams while it is open, and counts their bytes.
func TestStreamsOfAnEpoch(t *testing.T) {
	f := newFabric()
	var d Device
	open(t, &d, f)
	if got := d.String(); !strings.HasPrefix(got, "fake0 port 1 ") {
		t.Errorf("got %q", got)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	closeAll(t, &d, f)
}
