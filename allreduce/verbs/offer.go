// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/binary"
	"fmt"

	"github.com/gvw-project/gvw/internal/wire"
)

// An offer contains what the other end of a stream needs to connect to this one, little-endian:
//
//	offset  size  field
//	     0     4  number of the queue pair
//	     4     4  number of its first packet
//	     8     2  LID
//	    10     2  MTU
//	    12     4  size of a slot of the window in bytes
//	    16     8  address of the window
//	    24     4  1: the lowest byte of a slot's key is incremented, and wraps around, after
//	              each use; 0: keys do not change
//	    28     4  limit of messages in transit
//	    32     4  limit of a small message in bytes
//	    36     4  version, 2
//	    40    16  GID
//	    56    32  keys of the window's 8 slots
type offer struct {
	queue, psn uint32
	lid        uint16
	mtu        uint16
	slotSize   uint32
	address    uint64
	keysChange bool
	messages   uint32
	small      uint32
	gid        [16]byte
	keys       [windowSlots]uint32
}

// OfferSize is the length of an offer in bytes.
const OfferSize = 56 + 4*windowSlots

const offerVersion = 2

func (o *offer) appendTo(dst []byte) []byte {
	c := wire.Encode(dst)
	o.code(&c)
	return c.Bytes()
}

func (o *offer) code(c *wire.Coder) {
	version, keysChange := uint32(offerVersion), uint32(0)
	if o.keysChange {
		keysChange = 1
	}
	c.U32("queue", &o.queue)
	c.U32("psn", &o.psn)
	c.U16("lid", &o.lid)
	c.U16("mtu", &o.mtu)
	c.U32("slot size", &o.slotSize)
	c.U64("address", &o.address)
	c.U32("key increment", &keysChange)
	c.U32("messages", &o.messages)
	c.U32("small", &o.small)
	c.U32("version", &version)
	c.Raw("gid", o.gid[:])
	for i := range o.keys {
		c.U32("key", &o.keys[i])
	}
	if c.Decoding() {
		o.keysChange = keysChange == 1
	}
}

func decodeOffer(b []byte) (o offer, err error) {
	le := binary.LittleEndian
	if len(b) >= 40 && le.Uint32(b[36:]) != offerVersion {
		return o, fmt.Errorf("verbs: got version %d of the protocol over verbs, want %d: install the same release on all machines", le.Uint32(b[36:]), offerVersion)
	}
	if len(b) != OfferSize {
		return o, fmt.Errorf("verbs: offer of %d bytes: want %d", len(b), OfferSize)
	}
	c := wire.Decode(b)
	if o.code(&c); c.End() != nil {
		return o, fmt.Errorf("verbs: offer: %w", c.Err())
	}
	switch {
	case o.mtu < 256 || o.mtu > 4096 || o.mtu&(o.mtu-1) != 0:
		return o, fmt.Errorf("verbs: offer with an MTU of %d bytes: want a power of two from 256 to 4096", o.mtu)
	case o.slotSize < 1<<10 || o.slotSize > 1<<30:
		return o, fmt.Errorf("verbs: offer with slots of %d bytes: want 1 KiB to 1 GiB", o.slotSize)
	case le.Uint32(b[24:]) > 1:
		return o, fmt.Errorf("verbs: offer with key increment %d: want 0 or 1", le.Uint32(b[24:]))
	case o.messages < 4 || o.messages > 1<<15:
		return o, fmt.Errorf("verbs: offer of %d messages: want 4 to 32768", o.messages)
	case o.small < creditSize || o.small > 1<<20:
		return o, fmt.Errorf("verbs: offer with small messages of %d bytes: want %d to 1 MiB", o.small, creditSize)
	case o.queue >= 1<<24 || o.psn >= 1<<24:
		return o, fmt.Errorf("verbs: offer with queue pair %d and packet %d: want 24 bits", o.queue, o.psn)
	}
	return o, nil
}
