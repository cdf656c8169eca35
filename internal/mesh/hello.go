// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/wire"
)

// hello is the first message of a connection between two ranks, in both directions.
//
//	offset  size  field
//	     0     8  "gvwdata" for the messages of collectives, "gvwpull" for results or the
//	              state, and the version of the server's frames in which this changed last, 6
//	     8    16  nonce, random for each connection
//	    24     4  term of the epoch
//	    28     4  number of the epoch
//	    32     8  incarnation of the epoch
//	    40     4  rank of the sender
//	    44     4  rank of the receiver
//	    48     4  number of ranks with which the job began
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

// newHello returns the bytes of a hello with a new nonce.
func newHello(e protocol.Epoch, from, to, total int, pull bool) []byte {
	h := hello{epoch: e, from: uint32(from), to: uint32(to), total: uint32(total), pull: pull}
	nonce := auth.Nonce()
	copy(h.nonce[:], nonce[:])
	return h.appendTo(nil)
}

// check reports an error unless h belongs to the epoch of w and is for this rank.
func (h hello) check(w *client.Wiring, rank, total int) error {
	switch {
	case h.epoch != w.Epoch:
		return fmt.Errorf("it is of another epoch: got epoch %v, want %v", h.epoch, w.Epoch)
	case int(h.to) != rank || int(h.total) != total:
		return fmt.Errorf("it looks for rank %d of %d, this is rank %d of %d", h.to, h.total, rank, total)
	}
	return nil
}

// after reports whether h is of a later epoch than e. The incarnation has no order.
func (h hello) after(e protocol.Epoch) bool {
	return h.epoch.Term > e.Term || h.epoch.Term == e.Term && h.epoch.N > e.N
}

// appendTo appends the bytes of h.
func (h hello) appendTo(dst []byte) []byte {
	magic := helloMagic
	if h.pull {
		magic = pullMagic
	}
	c := wire.Encode(append(dst, magic...))
	h.code(&c)
	sum := crc32c.Checksum(c.Bytes()[len(dst):])
	c.U32("crc32c", &sum)
	return c.Bytes()
}

// code codes the fields between the first 8 bytes and the checksum.
func (h *hello) code(c *wire.Coder) {
	c.Raw("nonce", h.nonce[:])
	h.epoch.Code(c, "epoch")
	c.U32("from", &h.from)
	c.U32("to", &h.to)
	c.U32("total", &h.total)
}

// decodeHello decodes and checks the bytes of a hello.
func decodeHello(b []byte) (hello, error) {
	switch {
	case len(b) != helloSize:
		return hello{}, fmt.Errorf("a hello has %d bytes, want %d", len(b), helloSize)
	case string(b[:7]) != helloMagic[:7] && string(b[:7]) != pullMagic[:7]:
		return hello{}, errors.New("no rank of a gvw job: its first bytes are not those of a hello")
	case b[7] != helloMagic[7]:
		return hello{}, fmt.Errorf("got version %d of the protocol between ranks, want %d: install the same release on all machines", b[7], helloMagic[7])
	case binary.LittleEndian.Uint32(b[52:]) != crc32c.Checksum(b[:52]):
		return hello{}, errors.New("the checksum of the hello is wrong")
	}
	h := hello{pull: string(b[:7]) == pullMagic[:7]}
	c := wire.Decode(b[8:52])
	h.code(&c)
	return h, c.End()
}
