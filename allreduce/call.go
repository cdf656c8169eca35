// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// verb is what a collective does. Its numbers are part of the protocol.
type verb uint8

const (
	verbAllReduce     verb = 1
	verbBroadcast     verb = 2
	verbSizes         verb = 3 // the sizes of records, before verbRecords
	verbRecords       verb = 4
	verbBarrier       verb = 5
	verbReduce        verb = 6
	verbReduceScatter verb = 7
	verbAllGather     verb = 8
	verbGather        verb = 9
	verbScatter       verb = 10
	verbSendRecv      verb = 11
	verbPairs         verb = 12 // who sends what to whom, before verbSendRecv
)

var verbNames = [...]string{
	verbAllReduce: "all-reduce", verbBroadcast: "broadcast", verbSizes: "all-gather", verbRecords: "all-gather",
	verbBarrier: "barrier", verbReduce: "reduce", verbReduceScatter: "reduce-scatter", verbAllGather: "all-gather",
	verbGather: "gather", verbScatter: "scatter", verbSendRecv: "send-receive", verbPairs: "send-receive",
}

func (v verb) String() string {
	if v == 0 || int(v) >= len(verbNames) {
		return fmt.Sprintf("collective %d", uint8(v))
	}
	return verbNames[v]
}

// reduces says that the ranks must agree on an operation.
func (v verb) reduces() bool {
	return v == verbAllReduce || v == verbReduce || v == verbReduceScatter
}

// silent says that the vector is none, or each rank's own affair.
func (v verb) silent() bool { return v == verbBarrier || v == verbSendRecv || v == verbPairs }

// callID says which collective a rank has entered. Ranks send it to each other
// before the first byte of the collective, so that two that disagree get an
// error at once.
type callID struct {
	epoch    protocol.Epoch
	seq      uint64 // number of the collective within the epoch, from 1
	verb     verb
	kind     Kind
	op       Op
	schedule schedule.Name // of an all-reduce; else 0
	part     uint32        // bytes that travel at once
	length   uint64        // elements
	root     int32         // -1: there is none
	name     string
	own      string // the name of an operation of the program's own; else ""
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
//	    27     1  schedule of an all-reduce, as package schedule numbers them
//	    28     4  part size in bytes
//	    32     8  elements
//	    40     4  root, -1: none
//	    44     1  bytes of the name that follow, at most 80
//	    45     1  bytes of the operation's name that follow it, at most 32
//	    46     2  0
//	    48     8  digest: FNV-1a of the bytes before it but the number, the whole
//	              name and the operation's name, and the number times
//	              1099511628211, joined by exclusive or
//	    56     …  the name's first bytes, for messages, and the operation's name
//
// An operation of the program's own is 64 here, whatever number it has on a rank.
const (
	callNumber = 16
	callFixed  = 56
	callName   = 80
	callMax    = callFixed + callName + maxOwnName
)

// appendTo appends the wire form of c.
func (c *callID) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = le.AppendUint32(dst, c.epoch.Term)
	dst = le.AppendUint32(dst, c.epoch.N)
	dst = le.AppendUint64(dst, c.epoch.Incarnation)
	dst = le.AppendUint64(dst, c.seq)
	dst = append(dst, byte(c.verb), byte(c.kind), byte(min(c.op, firstOwn)), byte(c.schedule))
	dst = le.AppendUint32(dst, c.part)
	dst = le.AppendUint64(dst, c.length)
	dst = le.AppendUint32(dst, uint32(c.root))
	short := c.name[:min(len(c.name), callName)]
	dst = append(dst, byte(len(short)), byte(len(c.own)), 0, 0)
	digest := fnv(fnv(fnvOffset, dst[start:start+callNumber]), dst[start+callNumber+8:])
	digest = fnv(fnv(digest, c.name), c.own)
	dst = le.AppendUint64(dst, digest^c.seq*fnvPrime)
	dst = append(dst, short...)
	return append(dst, c.own...)
}

// renumber makes wire that of the same collective with another number: a program
// makes the same call again and again.
func renumber(wire []byte, seq uint64) {
	le := binary.LittleEndian
	le.PutUint64(wire[48:], callDigest(wire)^callSeq(wire)*fnvPrime^seq*fnvPrime)
	le.PutUint64(wire[callNumber:], seq)
}

// fnv goes on with a digest.
func fnv[T string | []byte](digest uint64, b T) uint64 {
	for i := range len(b) {
		digest = (digest ^ uint64(b[i])) * fnvPrime
	}
	return digest
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// checkCall checks the length of the wire form of a callID. What it says is compared
// by its digest, and decoded only to tell how it differs.
func checkCall(wire []byte) error {
	if len(wire) < callFixed || wire[44] > callName || wire[45] > maxOwnName || len(wire) != callFixed+int(wire[44])+int(wire[45]) {
		return fmt.Errorf("the header of a collective has %d bytes, want %d, a name of at most %d and an operation's of at most %d", len(wire), callFixed, callName, maxOwnName)
	}
	return nil
}

func callSeq(wire []byte) uint64    { return binary.LittleEndian.Uint64(wire[callNumber:]) }
func callDigest(wire []byte) uint64 { return binary.LittleEndian.Uint64(wire[48:]) }

// decodeCall reads a callID that checkCall has passed. The name is the part of it that
// crossed the wire.
func decodeCall(b []byte) callID {
	le := binary.LittleEndian
	name, own := b[callFixed:callFixed+int(b[44])], b[callFixed+int(b[44]):]
	return callID{
		epoch:    protocol.Epoch{Term: le.Uint32(b), N: le.Uint32(b[4:]), Incarnation: le.Uint64(b[8:])},
		seq:      le.Uint64(b[16:]),
		verb:     verb(b[24]),
		kind:     Kind(b[25]),
		op:       Op(b[26]),
		part:     le.Uint32(b[28:]),
		length:   le.Uint64(b[32:]),
		root:     int32(le.Uint32(b[40:])),
		name:     strings.ToValidUTF8(string(name), "?"),
		own:      strings.ToValidUTF8(string(own), "?"),
		schedule: schedule.Name(b[27]),
	}
}

// size is the vector's length in bytes.
func (c *callID) size() int64 { return int64(c.length) * int64(c.kind.Size()) }

// String is how messages call a collective: all-reduce #17 (gradient, 64 MiB).
func (c *callID) String() string {
	if c.verb.silent() && c.name == "" {
		return fmt.Sprintf("%v #%d", c.verb, c.seq)
	}
	switch {
	case c.verb.silent():
		return fmt.Sprintf("%v #%d (%s)", c.verb, c.seq, c.name)
	case c.name == "":
		return fmt.Sprintf("%v #%d (%s)", c.verb, c.seq, byteCount(c.size()))
	}
	return fmt.Sprintf("%v #%d (%s, %s)", c.verb, c.seq, c.name, byteCount(c.size()))
}

// detail is c with everything that another rank may disagree about.
func (c *callID) detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v #%d", c.verb, c.seq)
	switch {
	case c.name == "":
	case c.verb == verbSendRecv:
		fmt.Fprintf(&b, " (%s)", c.name)
	default:
		fmt.Fprintf(&b, " %q", c.name)
	}
	if !c.verb.silent() {
		fmt.Fprintf(&b, " of %d %v", c.length, c.kind)
	}
	switch {
	case c.own != "":
		fmt.Fprintf(&b, ", %s", c.own)
	case c.verb.reduces():
		fmt.Fprintf(&b, ", %v", c.op)
	}
	if c.root >= 0 {
		fmt.Fprintf(&b, ", %s rank %d", rootWord(c.verb), c.root)
	}
	if c.schedule != 0 {
		fmt.Fprintf(&b, ", schedule %v", c.schedule)
	}
	fmt.Fprintf(&b, ", chunk %s, epoch %v", byteCount(int64(c.part)), c.epoch)
	return b.String()
}

// rootWord says where the root of a collective stands.
func rootWord(v verb) string {
	if v == verbReduce || v == verbGather {
		return "to"
	}
	return "from"
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
