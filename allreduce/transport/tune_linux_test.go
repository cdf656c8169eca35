// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// On one machine Tune sets the send buffer to nearBuffer, which Linux reports doubled.
func TestTune(t *testing.T) {
	l, err := TCP.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := TCP.Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	Tune(c)
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got int
	if cerr := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
	if got != 2*sameHostBuffer {
		t.Errorf("got a send buffer of %d bytes, want %d", got, 2*sameHostBuffer)
	}
}

// sameHost distinguishes two ends on one machine from two machines.
func TestSameHost(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	for _, c := range []struct {
		here, there net.Addr
		want        bool
	}{
		{tcp("127.0.0.1"), tcp("127.0.0.1"), true},
		{tcp("10.0.0.1"), tcp("::ffff:10.0.0.1"), true},
		{tcp("::1"), tcp("::1"), true},
		{tcp("10.0.0.1"), tcp("10.0.0.2"), false},
		{&net.UnixAddr{Name: "a"}, &net.UnixAddr{Name: "a"}, false},
	} {
		if got := sameHost(ends{here: c.here, there: c.there}); got != c.want {
			t.Errorf("sameHost(%v, %v): got %v, want %v", c.here, c.there, got, c.want)
		}
	}
}

type ends struct {
	net.Conn
	here, there net.Addr
}

func (e ends) LocalAddr() net.Addr  { return e.here }
func (e ends) RemoteAddr() net.Addr { return e.there }
