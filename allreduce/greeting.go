// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	helloPatience = 10 * time.Second // for a connection to say who it is
	maxStrangers  = 512              // connections that have not said so yet: enough that a flood of them does not push out a rank between two packets
)

// greet says hello to a rank, hears its answer, and has both prove that they belong to
// the epoch. What follows goes over the connection that is returned.
func (w *wirer) greet(ctx context.Context, bare net.Conn, rank int) (net.Conn, link.Tags, error) {
	stop := context.AfterFunc(ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	bare.SetDeadline(time.Now().Add(helloPatience))
	c, err := w.creds.Client(ctx, bare, "")
	if err != nil {
		return nil, link.Tags{}, err
	}
	b, x, err := w.key.Greet(c, w.hello(rank), helloSize)
	if err != nil {
		return nil, link.Tags{}, auth.Explain(err)
	}
	h, err := decodeHello(b)
	if err == nil {
		err = h.check(w.wiring, w.rank, w.total)
	}
	switch {
	case err != nil:
		return nil, link.Tags{}, err
	case int(h.from) != rank:
		return nil, link.Tags{}, fmt.Errorf("rank %d answers at the address of rank %d", h.from, rank)
	case !stop():
		return nil, link.Tags{}, context.Cause(ctx)
	}
	return c, w.tags(x, auth.Client), c.SetDeadline(time.Time{})
}

func (w *wirer) hello(to int) []byte {
	return newHello(w.wiring.Epoch, w.rank, to, w.total, false)
}

// newHello says who this is, whom it looks for, and something that nobody has said
// before.
func newHello(e protocol.Epoch, from, to, total int, pull bool) []byte {
	h := hello{epoch: e, from: uint32(from), to: uint32(to), total: uint32(total), pull: pull}
	nonce := auth.Nonce()
	copy(h.nonce[:], nonce[:])
	return h.appendTo(nil)
}

// key is the key of the connections between the ranks of an epoch.
func (c Config) key(w *client.Wiring) auth.Key {
	return c.Credentials.Epoch(auth.Scope{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey,
		Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: w.Token,
	})
}

// check says whether the hello belongs to the epoch of w and is for this rank.
func (h hello) check(w *client.Wiring, rank, total int) error {
	switch {
	case h.epoch != w.Epoch:
		return fmt.Errorf("it is of another epoch: got epoch %v, want %v", h.epoch, w.Epoch)
	case int(h.to) != rank || int(h.total) != total:
		return fmt.Errorf("it looks for rank %d of %d, this is rank %d of %d", h.to, h.total, rank, total)
	}
	return nil
}

// after says that the hello is of a later epoch than e, as far as numbers tell.
func (h hello) after(e protocol.Epoch) bool {
	return h.epoch.Term > e.Term || h.epoch.Term == e.Term && h.epoch.N > e.N
}

// welcome answers who has said hello, in these bytes, and, if that is its part, makes an edge of the
// connection. proven ends the watch over it, once it is known whose it is.
func (w *wirer) welcome(c net.Conn, h hello, said []byte, proven func() bool) error {
	if err := h.check(w.wiring, w.rank, w.total); err != nil {
		return err
	}
	from := int(h.from)
	if !w.expects(from) {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	x, err := w.key.Answer(c, said, w.hello(from))
	if err != nil {
		return err
	}
	if !proven() {
		return errOver
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return w.install(from, link.Peer{Conn: c, Rank: from, Host: w.wiring.Peers[from], Tags: w.tags(x, auth.Server)})
}

// hello opens a connection between two ranks, in both directions.
//
//	offset  size  field
//	     0     8  "gvwdata", or "gvwpull" to take results or the state, and the
//	              version of the server's frames in which this changed last, 6
//	     8    16  drawn for this connection
//	    24     4  term of the epoch
//	    28     4  number of the epoch
//	    32     8  incarnation of the epoch
//	    40     4  rank of the sender
//	    44     4  rank of the receiver
//	    48     4  ranks in all
//	    52     4  CRC-32C of the bytes before it
type hello struct {
	nonce           [16]byte
	epoch           protocol.Epoch
	from, to, total uint32
	pull            bool
}

const (
	helloSize  = 56
	helloMagic = "gvwdata\x06"
	pullMagic  = "gvwpull\x06"
)

func (h hello) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	start := len(dst)
	magic := helloMagic
	if h.pull {
		magic = pullMagic
	}
	dst = append(dst, magic...)
	dst = append(dst, h.nonce[:]...)
	dst = le.AppendUint32(dst, h.epoch.Term)
	dst = le.AppendUint32(dst, h.epoch.N)
	dst = le.AppendUint64(dst, h.epoch.Incarnation)
	dst = le.AppendUint32(dst, h.from)
	dst = le.AppendUint32(dst, h.to)
	dst = le.AppendUint32(dst, h.total)
	return le.AppendUint32(dst, link.Checksum(dst[start:]))
}

func decodeHello(b []byte) (hello, error) {
	le := binary.LittleEndian
	switch {
	case len(b) != helloSize:
		return hello{}, fmt.Errorf("a hello has %d bytes, want %d", len(b), helloSize)
	case string(b[:7]) != helloMagic[:7] && string(b[:7]) != pullMagic[:7]:
		return hello{}, errors.New("no rank of a gvw job: its first bytes are not those of a hello")
	case b[7] != helloMagic[7]:
		return hello{}, fmt.Errorf("got version %d of the protocol between ranks, want %d: install the same release on all machines", b[7], helloMagic[7])
	case le.Uint32(b[52:]) != link.Checksum(b[:52]):
		return hello{}, errors.New("the checksum of the hello is wrong")
	}
	h := hello{
		epoch: protocol.Epoch{Term: le.Uint32(b[24:]), N: le.Uint32(b[28:]), Incarnation: le.Uint64(b[32:])},
		from:  le.Uint32(b[40:]), to: le.Uint32(b[44:]), total: le.Uint32(b[48:]),
		pull: string(b[:7]) == pullMagic[:7],
	}
	copy(h.nonce[:], b[8:])
	return h, nil
}
