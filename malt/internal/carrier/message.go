// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/gvw-project/gvw/internal/link"
)

// The kinds of calls and notes.
const (
	callUpdate   = 1
	callDescribe = 2

	noteAck   = 1
	noteLeft  = 2
	noteUp    = 3
	noteDown  = 4
	noteSent  = 5
	noteProbe = 6
)

const (
	updateSize   = 64
	describeSize = 16
	// MaxDescription is the largest description of an object, in bytes.
	MaxDescription = link.MaxCall - describeSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Head describes an update.
type Head struct {
	Round     uint64  // of the epoch: 0 for the first update after a membership began
	Iteration uint64  // the sender's count of updates of the object, over all epochs
	Sent      int64   // nanoseconds since 1970, by the sender's clock
	Scale     float64 // a factor of all values
}

type updateHead struct {
	Head
	object uint32
	size   uint64
	sum    uint32
}

func (h updateHead) append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, callUpdate)
	dst = le.AppendUint64(dst, uint64(h.object))
	dst = le.AppendUint64(dst, h.Round)
	dst = le.AppendUint64(dst, h.Iteration)
	dst = le.AppendUint64(dst, uint64(h.Sent))
	dst = le.AppendUint64(dst, h.size)
	dst = le.AppendUint64(dst, uint64(h.sum))
	return le.AppendUint64(dst, math.Float64bits(h.Scale))
}

func decodeUpdate(b []byte) (h updateHead, err error) {
	le := binary.LittleEndian
	if len(b) != updateSize || le.Uint64(b) != callUpdate || le.Uint64(b[8:])>>32 != 0 || le.Uint64(b[48:])>>32 != 0 {
		return h, fmt.Errorf("the head of an update makes no sense: % x", b)
	}
	h.object, h.size, h.sum = uint32(le.Uint64(b[8:])), le.Uint64(b[40:]), uint32(le.Uint64(b[48:]))
	h.Head = Head{Round: le.Uint64(b[16:]), Iteration: le.Uint64(b[24:]), Sent: int64(le.Uint64(b[32:])), Scale: math.Float64frombits(le.Uint64(b[56:]))}
	return h, nil
}

func appendDescribe(dst []byte, object uint32, description []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, callDescribe)
	dst = le.AppendUint32(dst, object)
	dst = le.AppendUint32(dst, uint32(len(description)))
	return append(dst, description...)
}

func decodeDescribe(b []byte) (object uint32, description []byte, err error) {
	le := binary.LittleEndian
	if len(b) < describeSize || le.Uint64(b) != callDescribe || int(le.Uint32(b[12:])) != len(b)-describeSize {
		return 0, nil, fmt.Errorf("the description of an object makes no sense: % x", b)
	}
	return le.Uint32(b[8:]), b[describeSize:], nil
}

// note is a short message without data.
type note struct {
	kind   uint32
	object uint32
	number uint64
}

func (n note) append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, n.kind)
	dst = le.AppendUint32(dst, n.object)
	return le.AppendUint64(dst, n.number)
}

func decodeNote(b []byte) (n note, err error) {
	le := binary.LittleEndian
	if len(b) != link.MaxProgress {
		return n, fmt.Errorf("a note has %d bytes, want %d", len(b), link.MaxProgress)
	}
	n = note{kind: le.Uint32(b), object: le.Uint32(b[4:]), number: le.Uint64(b[8:])}
	if n.kind < noteAck || n.kind > noteProbe {
		return n, fmt.Errorf("a note of unknown kind %d", n.kind)
	}
	return n, nil
}
