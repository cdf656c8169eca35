// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/binary"
	"fmt"
)

// An offer tells the other end of a stream how to reach this one, little-endian:
//
//	offset  size  field
//	     0     4  number of the queue pair
//	     4     4  number of its first packet
//	     8     2  LID
//	    10     2  MTU
//	    12     4  bytes of a pane of the window
//	    16     8  address of the window
//	    24     4  1: the key of a pane has one more in its lowest byte, which wraps, each time
//	              it is used; 0: it stays
//	    28     4  messages that may be on their way
//	    32     4  bytes of a small message, at most
//	    36     4  version, 2
//	    40    16  GID
//	    56    32  keys of the window's 8 panes
type offer struct {
	queue, psn uint32
	lid        uint16
	mtu        uint16
	pane       uint32
	address    uint64
	turns      bool
	slots      uint32
	small      uint32
	gid        [16]byte
	keys       [panes]uint32
}

// OfferSize is the length of an offer.
const OfferSize = 56 + 4*panes

const offerVersion = 2

func (o *offer) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, o.queue)
	dst = le.AppendUint32(dst, o.psn)
	dst = le.AppendUint16(dst, o.lid)
	dst = le.AppendUint16(dst, o.mtu)
	dst = le.AppendUint32(dst, o.pane)
	dst = le.AppendUint64(dst, o.address)
	turns := uint32(0)
	if o.turns {
		turns = 1
	}
	dst = le.AppendUint32(dst, turns)
	dst = le.AppendUint32(dst, o.slots)
	dst = le.AppendUint32(dst, o.small)
	dst = le.AppendUint32(dst, offerVersion)
	dst = append(dst, o.gid[:]...)
	for _, key := range o.keys {
		dst = le.AppendUint32(dst, key)
	}
	return dst
}

func decodeOffer(b []byte) (o offer, err error) {
	le := binary.LittleEndian
	if len(b) >= 40 && le.Uint32(b[36:]) != offerVersion {
		return o, fmt.Errorf("verbs: got version %d of the protocol over verbs, want %d: install the same release on all machines", le.Uint32(b[36:]), offerVersion)
	}
	if len(b) != OfferSize {
		return o, fmt.Errorf("verbs: an offer has %d bytes, want %d", len(b), OfferSize)
	}
	o = offer{
		queue: le.Uint32(b), psn: le.Uint32(b[4:]), lid: le.Uint16(b[8:]), mtu: le.Uint16(b[10:]),
		pane: le.Uint32(b[12:]), address: le.Uint64(b[16:]), turns: le.Uint32(b[24:]) == 1,
		slots: le.Uint32(b[28:]), small: le.Uint32(b[32:]),
	}
	copy(o.gid[:], b[40:])
	for i := range o.keys {
		o.keys[i] = le.Uint32(b[56+4*i:])
	}
	switch {
	case o.mtu < 256 || o.mtu > 4096 || o.mtu&(o.mtu-1) != 0:
		return o, fmt.Errorf("verbs: an offer with an MTU of %d bytes, want a power of two from 256 to 4096", o.mtu)
	case o.pane < 1<<10 || o.pane > 1<<30:
		return o, fmt.Errorf("verbs: an offer with panes of %d bytes, want 1 KiB to 1 GiB", o.pane)
	case le.Uint32(b[24:]) > 1:
		return o, fmt.Errorf("verbs: an offer whose keys change by %d, want 0 or 1", le.Uint32(b[24:]))
	case o.slots < 4 || o.slots > 1<<15:
		return o, fmt.Errorf("verbs: an offer of %d messages, want 4 to 32768", o.slots)
	case o.small < creditSize || o.small > 1<<20:
		return o, fmt.Errorf("verbs: an offer with small messages of %d bytes, want %d to 1 MiB", o.small, creditSize)
	case o.queue >= 1<<24 || o.psn >= 1<<24:
		return o, fmt.Errorf("verbs: an offer with queue pair %d and packet %d, want 24 bits", o.queue, o.psn)
	}
	return o, nil
}
