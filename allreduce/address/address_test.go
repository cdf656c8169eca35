// SPDX-License-Identifier: Apache-2.0

package address

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce/transport"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		":0":                       ":0",
		"h7:26544":                 "h7:26544",
		"10.0.0.3:26544-26600":     "10.0.0.3:26544-26600",
		"10.1.2.3/8:0":             "10.0.0.0/8:0",
		"[fd00::1/64]:26544-26544": "[fd00::/64]:26544",
		"[::1]:1":                  "[::1]:1",
		"localhost:65535":          "localhost:65535",
	} {
		a, err := Parse(in)
		if err != nil || a.String() != want {
			t.Errorf("%q: got %v, %v, want %s", in, a, err, want)
		}
	}
	for in, want := range map[string]string{
		"h7":           "is not host:port",
		"h7:x":         "is not a port or a range",
		"h7:70000":     "is not a port or a range",
		"h7:9-1":       "ends before it begins",
		"h7:0-9":       "is not a port or a range",
		"h7:1-2-3":     "is not a port or a range",
		"10.0.0/8:1":   "is not a network such as",
		"10.0.0.0/x:1": "is not a network such as",
		"a b:1":        "is not an address, a name",
	} {
		if a, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %q", in, a, err, want)
		}
	}
}

// FuzzParse checks that String returns text that Parse parses to the same Address.
func FuzzParse(f *testing.F) {
	for _, s := range []string{":0", "10.0.0.0/8:26544-26600", "[fd00::/8]:1", "h:1", "[fe80::1%eth0]:5", "[[::1]]:7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		if b, err := Parse(a.String()); err != nil || a != b {
			t.Errorf("%q is %+v, written %q, read %+v, %v", s, a, a.String(), b, err)
		}
	})
}

func machine() ([]Local, error) {
	return []Local{
		{netip.MustParseAddr("127.0.0.1"), "lo"},
		{netip.MustParseAddr("10.0.0.3"), "eth0"},
		{netip.MustParseAddr("10.9.0.3"), "eth1"},
		{netip.MustParseAddr("fe80::1"), "eth1"},
		{netip.MustParseAddr("fd00::3"), "eth1"},
	}, nil
}

func TestANetworkStandsForTheFirstAddressInIt(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.0/8":  "10.0.0.3",
		"10.9.0.0/16": "10.9.0.3",
		"fd00::/8":    "fd00::3",
		"::/0":        "fd00::3", // not the link-local one
		"h3":          "h3",
		"":            "",
	} {
		a, err := ParseHost(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Resolve(machine); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"192.168.0.0/16": "no address of this machine is in 192.168.0.0/16: it has 127.0.0.1 (lo), 10.0.0.3 (eth0)",
		"fe80::/10":      "unreachable from other machines",
	} {
		a, _ := ParseHost(in)
		if got, err := a.Resolve(machine); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	broken := errors.New("no netlink")
	a, _ := ParseHost("10.0.0.0/8")
	if _, err := a.Resolve(func() ([]Local, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestThisMachineHasALoopback(t *testing.T) {
	all, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Addr.IsLoopback() && l.Interface != "" {
			return
		}
	}
	t.Errorf("got %v", all)
}

func TestPortsAreTriedInOrder(t *testing.T) {
	var low uint16
	for low == 0 || low > 65535-20 { // one of the last ports: try another
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close() // held until then, so that the system picks another port
		low = uint16(first.Addr().(*net.TCPAddr).Port)
	}
	a := Address{Network: netip.MustParsePrefix("127.0.0.0/8"), Low: low, High: low + 20}
	last := int(low)
	for range 2 {
		l, err := a.Listen(context.Background(), transport.TCP, Machine)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if port := l.Addr().(*net.TCPAddr).Port; port <= last || port > int(a.High) {
			t.Errorf("got port %d after %d, of %v", port, last, a)
		} else {
			last = port
		}
	}
}

// taken is a network without a free port.
type taken struct{ transport.Network }

var errTaken = errors.New("address already in use")

func (taken) Listen(context.Context, string) (net.Listener, error) { return nil, errTaken }

func TestAnExhaustedRangeIsNamed(t *testing.T) {
	a, err := Parse(":26544-26546")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Listen(context.Background(), taken{}, Machine)
	if !errors.Is(err, errTaken) || !strings.Contains(err.Error(), "none of the 3 ports 26544-26546 is free") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errClosing)
	if _, err = a.Listen(ctx, taken{}, Machine); !errors.Is(err, errClosing) {
		t.Errorf("got %v", err)
	}
}

var errClosing = errors.New("enough")

func TestAdvice(t *testing.T) {
	from := View{Rank: 1, Advertised: "10.0.0.4:5", Observed: "10.0.0.4"}
	for _, c := range []struct {
		v      View
		astray bool
		want   []string
	}{
		{View{3, "127.0.0.1:7", "10.0.0.3"}, true, []string{"rank 3 advertises 127.0.0.1:7, which each machine resolves to itself", "observes it at 10.0.0.3", "advertise 10.0.0.3"}},
		{View{3, "[::]:7", "10.0.0.3"}, true, []string{"each machine resolves to itself"}},
		{View{3, "127.0.0.1:7", "127.0.0.1"}, true, []string{"runs on the server's own machine", "advertise an address of that machine"}},
		{View{3, "127.0.0.1:7", "10.0.0.4"}, false, []string{"advertise 10.0.0.4"}}, // the same machine
		{View{3, "10.9.0.3:7", "10.0.0.3"}, false, []string{"rank 1 can reach that interface", "advertise 10.0.0.3"}},
		{View{3, "h3:7", "10.0.0.3"}, false, []string{"h3:7, a name", "resolves the name"}},
		{View{3, "10.0.0.3:7", "10.0.0.3"}, false, []string{"firewall", "allreduce.Config.Listen"}},
		{View{3, "10.0.0.100:7", "127.0.0.1"}, false, []string{"server's own machine", "can reach that address", "firewall"}},
		{View{3, "10.0.0.3:7", ""}, false, []string{"rank 3 advertises 10.0.0.3:7"}},
	} {
		got := c.v.Advice(from)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: got %q, want %q", c.v, got, want)
			}
		}
		if c.v.Unreachable(from) != c.astray {
			t.Errorf("%+v: astray is %v", c.v, !c.astray)
		}
	}
}
