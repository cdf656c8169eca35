// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
)

// intruder is a network with an attacker in the middle of the connections that this side opens
// to other ranks. The attacker knows the protocol, and reads and changes the frames.
type intruder struct {
	transport.Network
	server string // that is spared
	head   int    // bytes of a frame before those that follow

	// meddle returns the bytes that are sent instead of a frame; conn counts the connections.
	meddle func(conn int, f wireFrame) [][]byte
	// spoil changes what comes over a connection on which this rank takes what it lacks.
	spoil func(conn int, b []byte)

	mu    sync.Mutex
	conns int
	wrote []wireFrame // data frames of the first connection
	heard []wireFrame // and of the other direction
}

// wireFrame is a frame with its header.
type wireFrame []byte

func (f wireFrame) kind() byte { return f[0] }

// fit makes the checksum right.
func (f wireFrame) fit() wireFrame {
	binary.LittleEndian.PutUint32(f[8:], crc32c.Checksum(f[link.FrameSize:]))
	return f
}

// flipped has a bit changed.
func (f wireFrame) flipped(at int) wireFrame {
	f = bytes.Clone(f)
	f[at] ^= 4
	return f
}

func (i *intruder) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := i.Network.Dial(ctx, addr)
	if err != nil || addr == i.server {
		return c, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	greeting := helloSize + auth.ProofSize
	i.conns++
	return &watched{Conn: c, i: i, number: i.conns - 1, out: flow{greeting: greeting}, in: flow{greeting: greeting}}, nil
}

// flow is one direction of a connection, taken apart.
type flow struct {
	greeting int // bytes of it to come
	buf      []byte
}

// greet takes what b has of the greeting.
func (f *flow) greet(b []byte) (greeting, rest []byte) {
	n := min(f.greeting, len(b))
	f.greeting -= n
	return b[:n], b[n:]
}

// frames are those that are there as a whole.
func (f *flow) frames(b []byte, head int) (all []wireFrame) {
	f.buf = append(f.buf, b...)
	for len(f.buf) >= head {
		size := head + int(binary.LittleEndian.Uint32(f.buf[4:]))
		if len(f.buf) < size {
			break
		}
		all = append(all, bytes.Clone(f.buf[:size]))
		f.buf = f.buf[size:]
	}
	return all
}

// watched is a connection with the intruder in its middle.
type watched struct {
	net.Conn
	i       *intruder
	number  int
	out, in flow
	pull    bool // over which this rank takes what it lacks
}

func (w *watched) Write(b []byte) (int, error) {
	i := w.i
	i.mu.Lock()
	w.pull = w.pull || bytes.HasPrefix(b, []byte(pullMagic))
	out := b
	if !w.pull {
		greeting, rest := w.out.greet(b)
		out = bytes.Clone(greeting)
		for _, f := range w.out.frames(rest, i.head) {
			if w.number == 0 && f.kind() == link.FrameData {
				i.wrote = append(i.wrote, f)
			}
			for _, sent := range i.meddle(w.number, f) {
				out = append(out, sent...)
			}
		}
	}
	i.mu.Unlock()
	if _, err := w.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	i := w.i
	i.mu.Lock()
	defer i.mu.Unlock()
	_, rest := w.in.greet(b[:n])
	switch {
	case w.pull && len(rest) > 0:
		i.spoil(w.number, rest)
	case !w.pull && w.number == 0:
		for _, f := range w.in.frames(rest, i.head) {
			if f.kind() == link.FrameData {
				i.heard = append(i.heard, f)
			}
		}
	}
	return n, err
}

// listens is the intruder that changes nothing.
func listens(_ int, f wireFrame) [][]byte { return [][]byte{f} }
