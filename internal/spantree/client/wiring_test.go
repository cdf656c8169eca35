// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A wiring can be made of any EPOCH_START. Its members are ranks of the job in ascending order, each
// with an address. The missing data of this rank has a source in the job, and this rank owes data
// only to other ranks.
func TestWiringOfAnyEpochStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 6).Draw(t, "total")
		rank := rapid.IntRange(0, total-1).Draw(t, "rank")
		anyRank := rapid.IntRange(-1, total+1)
		f := &protocol.EpochStartFrame{
			Missing: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) protocol.Missing {
				return protocol.Missing{Rank: anyRank.Draw(t, "needs"), Source: anyRank.Draw(t, "source"), Payload: protocol.PayloadState}
			}), 0, 4).Draw(t, "missing"),
		}
		var members []int
		want := make([]string, total)
		for r := range total + 2 { // the decoder does not know the total
			if !rapid.Bool().Draw(t, "member") {
				continue
			}
			m := protocol.Member{
				Rank: r, Host: rapid.SampledFrom([]string{"h", "::1", "a-long-name-of-a-host.example"}).Draw(t, "host"),
				Port: rapid.SampledFrom([]uint16{7, 65535}).Draw(t, "port"), Seen: rapid.SampledFrom([]string{"", "10.0.0.2"}).Draw(t, "seen"),
			}
			if f.Members.Append(m); r < total {
				members, want[r] = append(members, r), protocol.HostPort(m.Host, m.Port)
			}
		}
		w := wiringOf(f, total, rank)
		if !slices.Equal(w.Members, members) || !slices.Equal(w.Addresses(total), want) {
			t.Errorf("members %v at %q, want %v at %q", w.Members, w.Addresses(total), members, want)
		}
		for r := range total {
			if member := slices.Contains(members, r); w.Address(r) != want[r] || member != (w.Seen(r) != "") {
				t.Errorf("rank %d is at %q, seen at %q, want %q", r, w.Address(r), w.Seen(r), want[r])
			}
		}
		if m := w.Missing; m != nil && (m.Rank != rank || m.Source < 0 || m.Source >= total || m.Address != want[m.Source]) {
			t.Errorf("rank %d misses %+v", rank, *m)
		}
		for _, o := range w.Owed {
			if o.Source != rank || o.Rank == rank {
				t.Errorf("rank %d owes %+v", rank, o)
			}
		}
	})
}

// TestWiringTakesFewAllocations: a start of many ranks is decoded and converted by each of them.
func TestWiringTakesFewAllocations(t *testing.T) {
	const total = 1000
	f := &protocol.EpochStartFrame{}
	for rank := range total {
		f.Members.Append(protocol.Member{Rank: rank, Host: "10.1.2.3", Port: uint16(30_000 + rank)})
	}
	if n := testing.AllocsPerRun(10, func() { wiringOf(f, total, 1) }); n > 2 {
		t.Errorf("%v allocations for %d ranks, want those of a few slices", n, total)
	}
}

// recordedConn is a connection to a server that has sent these bytes and closed it.
type recordedConn struct {
	net.Conn
	io.Reader
	sent bytes.Buffer
}

func (c *recordedConn) Read(b []byte) (int, error)  { return c.Reader.Read(b) }
func (c *recordedConn) Write(b []byte) (int, error) { return c.sent.Write(b) }

// FuzzHandshake checks that a client survives any answer to its hello. It sends only the hello, and
// accepts only a WELCOME of its own version, after which it reads frames.
func FuzzHandshake(f *testing.F) {
	for _, frame := range []protocol.Frame{
		&protocol.WelcomeFrame{Term: 1, Incarnation: 2, MaxFrame: 65536, MaxRanks: 10, Version: "v"},
		&protocol.WelcomeFrame{Asks: protocol.AsksSecret},
		&protocol.RefusedFrame{Code: protocol.ServerFull, Reason: "full"},
		&protocol.JoinedFrame{Attempt: 1},
	} {
		b, err := protocol.AppendFrame(nil, frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, answer []byte) {
		c := &recordedConn{Reader: bytes.NewReader(answer)}
		conn, frames, err := endpoint{server: "gateway:1"}.handshake(c)
		if !bytes.Equal(c.sent.Bytes(), protocol.AppendHello(nil)) {
			t.Errorf("the client has sent % x", c.sent.Bytes())
		}
		if vw := len(answer) >= 4 && [4]byte(answer) == [4]byte{}; vw != errors.Is(err, errVWServer) {
			t.Errorf("% x: %v", answer, err)
		}
		if err != nil {
			return
		}
		first, err := (&protocol.FrameReader{R: bytes.NewReader(answer), Limit: protocol.MaxPayload}).Next()
		w, is := first.(*protocol.WelcomeFrame)
		if err != nil || !is || conn != c || frames.Server != w.Incarnation || w.Asks != 0 {
			t.Errorf("% x is accepted: %v, %v", answer, first, err)
		}
	})
}

// BenchmarkStart: a rank reads EPOCH_START of 4,000 ranks.
func BenchmarkStart(b *testing.B) {
	const total = 4000
	f := &protocol.EpochStartFrame{}
	for rank := range total {
		f.Members.Append(protocol.Member{Rank: rank, Host: "10.1.2.3", Port: uint16(30_000 + rank)})
	}
	encoded, err := protocol.AppendFrame(nil, f)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := (&protocol.FrameReader{R: bytes.NewReader(encoded), Limit: protocol.MaxPayload}).Next()
		if err != nil {
			b.Fatal(err)
		}
		wiringOf(f.(*protocol.EpochStartFrame), total, 1)
	}
}
