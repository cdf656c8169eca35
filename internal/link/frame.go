// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/crc32c"
)

// The rank that dials sends a hello. The other rank answers with its own hello and a proof (32 bytes)
// that it has the token of the epoch, and the job's secret if there is one. Then the dialling
// rank sends such a proof, too (auth.Key.Initiate and Respond).
//
// After this handshake, each direction of a link is a sequence of frames, little-endian:
//
//	offset  size  field
//	     0     1  type: 1 call, 2 data, 3 progress, 4 fault, 5 ring offer,
//	               6 ring switch, 7 upgrade to verbs
//	     1     1  flags: bit 0: the checksum is present, bit 1: the tag is present
//	     2     2  0
//	     4     4  length of the payload in bytes
//	     8     4  CRC-32C of the payload; without bit 0: 0
//	    12     4  0
//
// Where ranks share a secret, and there is no TLS and no Config.NoTags, a tag replaces the last
// two fields. Its key belongs to this connection and direction (auth.Tags):
//
//	8    16  tag of the payload, and of type and flags as its kind
//
// The payloads are:
//
//   - call: the header of a collective that the sender has entered. The data frames that
//     follow belong to it. The owner of the link defines its bytes.
//   - data: one chunk of the vector, as package schedule cuts it.
//   - progress: the sender is alive and waits. The owner defines its bytes.
//   - fault: the sender gives up, and why. The owner defines its bytes. No frame follows.
//   - ring offer, ring switch: the upgrade to a shared-memory ring (upgrade.go).
//   - upgrade: the upgrade to a verbs stream (upgrade.go).
//
// A job with vw workers has no frames: there a connection carries the bytes of the vectors
// and nothing else (package vwstream).
const (
	// FrameSize is the size of a frame's header with a checksum.
	FrameSize = 16
	// LeadSize is the size of the part of a header before checksum or tag.
	LeadSize = 8
	// TagFrameSize is the size of a frame's header with a tag.
	TagFrameSize = LeadSize + auth.TagSize

	// The types of frames.
	FrameCall       = 1
	FrameData       = 2
	FrameProgress   = 3
	FrameFault      = 4
	FrameRingOffer  = 5
	FrameRingSwitch = 6
	FrameUpgrade    = 7

	// FlagSum is the flag of a frame with a checksum.
	FlagSum = 1
	// FlagTag is the flag of a frame with a tag.
	FlagTag = 2

	// MaxChunk is the limit of the payload of a data frame, in bytes. The limits of the other
	// types follow.
	MaxChunk      = 16 << 20
	MaxCall       = 168
	MaxProgress   = 16
	MaxFault      = 4756
	MaxRingOffer  = 32
	MaxRingSwitch = 4
	MaxUpgrade    = 128
)

// limits are the limits of the payloads by the type of the frame.
var limits = [...]uint32{
	FrameCall: MaxCall, FrameData: MaxChunk, FrameProgress: MaxProgress, FrameFault: MaxFault,
	FrameRingOffer: MaxRingOffer, FrameRingSwitch: MaxRingSwitch, FrameUpgrade: MaxUpgrade,
}

// Frame is a frame's header.
type Frame struct {
	Kind, Flags byte
	Length      uint32 // of the payload, in bytes
	Sum         uint32 // CRC-32C of the payload; 0 without FlagSum
}

// Append appends the header with its checksum field.
func (f Frame) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(f.AppendLead(dst), f.Sum)
	return append(dst, 0, 0, 0, 0)
}

// AppendLead appends the part of the header before checksum or tag.
func (f Frame) AppendLead(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, f.Kind, f.Flags, 0, 0), f.Length)
}

// DecodeFrame reads the header of a frame, with a tag or without one, and checks its fields and the
// limit of its type. The owner compares the length of a data frame with the chunk that it expects.
func DecodeFrame(b []byte, tagged bool) (Frame, error) {
	le := binary.LittleEndian
	f := Frame{Kind: b[0], Flags: b[1], Length: le.Uint32(b[4:])}
	zero := le.Uint16(b[2:]) == 0
	known := f.Flags == FlagTag
	if !tagged {
		f.Sum = le.Uint32(b[8:])
		zero = zero && le.Uint32(b[12:]) == 0
		known = f.Flags == FlagSum || f.Flags == 0 && f.Sum == 0
	}
	if !zero || !known {
		return f, fmt.Errorf("the header of a frame makes no sense: % x", b[:LeadSize])
	}
	if f.Kind < FrameCall || int(f.Kind) >= len(limits) {
		return f, fmt.Errorf("a frame of unknown type %d", f.Kind)
	}
	if limit := limits[f.Kind]; f.Length > limit {
		return f, fmt.Errorf("a frame of type %d has %d bytes, the limit is %d", f.Kind, f.Length, limit)
	}
	return f, nil
}

// AppendFrame appends a whole frame with a checksum.
func AppendFrame(dst []byte, kind byte, payload []byte) []byte {
	f := Frame{Kind: kind, Flags: FlagSum, Length: uint32(len(payload)), Sum: crc32c.Checksum(payload)}
	return append(f.Append(dst), payload...)
}
