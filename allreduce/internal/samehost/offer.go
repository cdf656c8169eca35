// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"encoding/binary"

	"github.com/gvw-project/gvw/internal/shm"
)

// offer is what the ranks of one host agree on by a maximum over 64-bit words. Every rank
// contributes to its own host's words only, and is 0 elsewhere. The words from offerPlace on are
// the location of the segment; only the host's first rank sets them.
type offer []uint64

const (
	offerRefused = iota // 1 if a rank refuses shared memory
	offerMachine        // hash of the machine's identity
	offerNot            // complement of offerMachine: both maxima match only if all ranks have one machine
	offerPlace          // process in the upper 32 bits, descriptor in the lower
	offerBytes          // length in bytes; 0: there is no segment
	offerArena          // length of the arena for Alloc, in bytes
	offerNonce          // two words, the content by which the segment is recognised
	offerWords   = offerNonce + 2
)

// offerOf returns the words of a host.
func offerOf(all []uint64, host int) offer { return all[host*offerWords:][:offerWords] }

// refuse means that this rank shares no memory.
func (o offer) refuse() { o[offerRefused] = 1 }

// setMachine names this rank's machine by a hash of its identity.
func (o offer) setMachine(hash uint64) { o[offerMachine], o[offerNot] = hash, ^hash }

// setLocation offers a segment.
func (o offer) setLocation(l shm.Location) {
	o[offerPlace] = uint64(uint32(l.PID))<<32 | uint64(uint32(l.FD))
	o[offerBytes], o[offerArena] = uint64(l.Bytes), uint64(l.Arena)
	o[offerNonce] = binary.LittleEndian.Uint64(l.Nonce[:])
	o[offerNonce+1] = binary.LittleEndian.Uint64(l.Nonce[8:])
}

// location returns the location of the segment.
func (o offer) location() (l shm.Location) {
	l.PID, l.FD = int32(o[offerPlace]>>32), int32(o[offerPlace])
	l.Bytes, l.Arena = int64(o[offerBytes]), int64(o[offerArena])
	binary.LittleEndian.PutUint64(l.Nonce[:], o[offerNonce])
	binary.LittleEndian.PutUint64(l.Nonce[8:], o[offerNonce+1])
	return l
}

// stands reports whether all ranks of the host have one machine, none refuses, and there is a
// segment.
func (o offer) stands() bool {
	return o[offerRefused] == 0 && o[offerMachine] == ^o[offerNot] && o[offerBytes] > 0
}
