// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce/spantree"
)

// verb is what a collective does. Its numbers are part of the protocol.
type verb uint8

const (
	verbAllReduce verb = 1
	verbBroadcast verb = 2
	verbSizes     verb = 3 // the sizes of records, before verbGather
	verbGather    verb = 4
	verbBarrier   verb = 5
)

func (v verb) String() string {
	switch v {
	case verbAllReduce:
		return "all-reduce"
	case verbBroadcast:
		return "broadcast"
	case verbSizes, verbGather:
		return "all-gather"
	case verbBarrier:
		return "barrier"
	}
	return fmt.Sprintf("collective %d", uint8(v))
}

// callID says which collective a rank has entered. Ranks send it to each other
// before the first byte of the collective, so that two that disagree get an
// error at once.
type callID struct {
	epoch  spantree.Epoch
	seq    uint64 // number of the collective within the epoch, from 1
	verb   verb
	kind   Kind
	op     Op
	part   uint32 // bytes that travel at once
	length uint64 // elements
	root   int32  // of a broadcast; else -1
	name   string
}

// A callID on the wire, little-endian:
//
//	offset  size  field
//	     0     4  term of the epoch
//	     4     4  number of the epoch
//	     8     8  incarnation of the epoch
//	    16     8  number of the collective
//	    24     1  verb
//	    25     1  kind of element
//	    26     1  operation
//	    27     1  schedule: 1 the tree of this file's ranks
//	    28     4  part size in bytes
//	    32     8  elements
//	    40     4  root, -1: none
//	    44     1  bytes of the name that follow, at most 40
//	    45     3  0
//	    48     8  digest: FNV-1a of the bytes before it and the whole name
//	    56     …  the name's first bytes, for messages
const (
	callFixed    = 56
	callName     = 40
	callMax      = callFixed + callName
	treeSchedule = 1
)

// appendTo appends the wire form of c.
func (c *callID) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = le.AppendUint32(dst, c.epoch.Term)
	dst = le.AppendUint32(dst, c.epoch.N)
	dst = le.AppendUint64(dst, c.epoch.Incarnation)
	dst = le.AppendUint64(dst, c.seq)
	dst = append(dst, byte(c.verb), byte(c.kind), byte(c.op), treeSchedule)
	dst = le.AppendUint32(dst, c.part)
	dst = le.AppendUint64(dst, c.length)
	dst = le.AppendUint32(dst, uint32(c.root))
	short := c.name[:min(len(c.name), callName)]
	dst = append(dst, byte(len(short)), 0, 0, 0)
	digest := uint64(fnvOffset)
	for _, b := range dst[start:] {
		digest = (digest ^ uint64(b)) * fnvPrime
	}
	for i := range len(c.name) {
		digest = (digest ^ uint64(c.name[i])) * fnvPrime
	}
	dst = le.AppendUint64(dst, digest)
	return append(dst, short...)
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// checkCall checks the length of the wire form of a callID. What it says is compared
// by its digest, and decoded only to tell how it differs.
func checkCall(wire []byte) error {
	if len(wire) < callFixed || len(wire) > callMax || len(wire) != callFixed+int(wire[44]) {
		return fmt.Errorf("the header of a collective has %d bytes, want %d and a name of at most %d", len(wire), callFixed, callName)
	}
	return nil
}

func callSeq(wire []byte) uint64    { return binary.LittleEndian.Uint64(wire[16:]) }
func callDigest(wire []byte) uint64 { return binary.LittleEndian.Uint64(wire[48:]) }

// decodeCall reads a callID that checkCall has passed. The name is the part of it that
// crossed the wire.
func decodeCall(b []byte) callID {
	le := binary.LittleEndian
	return callID{
		epoch:  spantree.Epoch{Term: le.Uint32(b), N: le.Uint32(b[4:]), Incarnation: le.Uint64(b[8:])},
		seq:    le.Uint64(b[16:]),
		verb:   verb(b[24]),
		kind:   Kind(b[25]),
		op:     Op(b[26]),
		part:   le.Uint32(b[28:]),
		length: le.Uint64(b[32:]),
		root:   int32(le.Uint32(b[40:])),
		name:   strings.ToValidUTF8(string(b[callFixed:]), "?"),
	}
}

// size is the vector's length in bytes.
func (c *callID) size() int64 { return int64(c.length) * int64(c.kind.Size()) }

// String is how messages call a collective: all-reduce #17 (gradient, 64 MiB).
func (c *callID) String() string {
	if c.verb == verbBarrier {
		return fmt.Sprintf("%v #%d", c.verb, c.seq)
	}
	if c.name == "" {
		return fmt.Sprintf("%v #%d (%s)", c.verb, c.seq, byteCount(c.size()))
	}
	return fmt.Sprintf("%v #%d (%s, %s)", c.verb, c.seq, c.name, byteCount(c.size()))
}

// detail is c with everything that another rank may disagree about.
func (c *callID) detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v #%d", c.verb, c.seq)
	if c.name != "" {
		fmt.Fprintf(&b, " %q", c.name)
	}
	if c.verb != verbBarrier {
		fmt.Fprintf(&b, " of %d %v", c.length, c.kind)
	}
	if c.verb == verbAllReduce {
		fmt.Fprintf(&b, ", %v", c.op)
	}
	if c.root >= 0 {
		fmt.Fprintf(&b, " from rank %d", c.root)
	}
	fmt.Fprintf(&b, ", chunk %s, epoch %v", byteCount(int64(c.part)), c.epoch)
	return b.String()
}

// byteCount is n as people read it: 4 B, 64 KiB, 1.5 MiB.
func byteCount(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, exp := float64(n)/unit, 0
	for v >= unit && exp < 3 {
		v /= unit
		exp++
	}
	text := fmt.Sprintf("%.1f", v)
	return strings.TrimSuffix(text, ".0") + " " + [...]string{"KiB", "MiB", "GiB", "TiB"}[exp]
}
