// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/wire"
)

// Verb is the kind of a collective. Its numbers are part of the protocol: they are compared between
// ranks, so that ranks that call different collectives fail at once.
type Verb uint8

const (
	VerbAllReduce     Verb = 1
	VerbBroadcast     Verb = 2
	VerbSizes         Verb = 3 // the sizes of records, before VerbRecords
	VerbRecords       Verb = 4
	VerbBarrier       Verb = 5
	VerbReduce        Verb = 6
	VerbReduceScatter Verb = 7
	VerbAllGather     Verb = 8
	VerbGather        Verb = 9
	VerbScatter       Verb = 10
	VerbSendRecv      Verb = 11
	VerbSendRecvArgs  Verb = 12 // the senders and receivers of a VerbSendRecv, before it
)

var verbNames = [...]string{
	VerbAllReduce: "all-reduce", VerbBroadcast: "broadcast", VerbSizes: "all-gather", VerbRecords: "all-gather",
	VerbBarrier: "barrier", VerbReduce: "reduce", VerbReduceScatter: "reduce-scatter", VerbAllGather: "all-gather",
	VerbGather: "gather", VerbScatter: "scatter", VerbSendRecv: "send-receive", VerbSendRecvArgs: "send-receive",
}

func (v Verb) String() string {
	if v == 0 || int(v) >= len(verbNames) {
		return fmt.Sprintf("collective %d", uint8(v))
	}
	return verbNames[v]
}

// reduces reports whether the ranks must agree on an operation.
func (v Verb) reduces() bool {
	return v == VerbAllReduce || v == VerbReduce || v == VerbReduceScatter
}

// silent reports whether a collective has no vector, or one that differs between ranks. Its length is
// then left out of messages.
func (v Verb) silent() bool { return v == VerbBarrier || v == VerbSendRecv || v == VerbSendRecvArgs }

// CallID identifies the collective that a rank has entered, with everything on which ranks must
// agree. Ranks send it to each other before the first byte of the collective, so that
// two ranks that disagree get an error at once, and no rank adds up unrelated vectors.
type CallID struct {
	Epoch    protocol.Epoch
	Seq      uint64 // number of the collective within the epoch, from 1
	Verb     Verb
	Kind     kernels.Kind
	Op       kernels.Op
	Schedule schedule.Name // of an all-reduce; else 0
	Part     uint32        // bytes that travel at once
	Length   uint64        // elements
	Root     int32         // -1: there is none
	Name     string
	Own      string // the name of an operation of the program's own; else ""
}

// A CallID on the wire, little-endian:
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
	CallFixed  = 56
	callName   = 80
	callMax    = CallFixed + callName + kernels.MaxOwnName
)

// appendTo appends the wire form of c.
func (c *CallID) appendTo(dst []byte) []byte {
	short := c.Name[:min(len(c.Name), callName)]
	nameSize, ownSize := uint8(len(short)), uint8(len(c.Own))
	w := wire.Encode(dst)
	c.code(&w, &nameSize, &ownSize)
	head := w.Bytes()[len(dst):]
	digest := Fnv(Fnv(FnvOffset, head[:callNumber]), head[callNumber+8:])
	digest = Fnv(Fnv(digest, c.Name), c.Own) ^ c.Seq*fnvPrime
	w.U64("digest", &digest)
	return append(append(w.Bytes(), short...), c.Own...)
}

// code codes the fields before the digest.
func (c *CallID) code(w *wire.Coder, nameSize, ownSize *uint8) {
	op := uint8(min(c.Op, kernels.FirstOwn))
	c.Epoch.Code(w, "epoch")
	w.U64("number", &c.Seq)
	w.U8("verb", (*uint8)(&c.Verb))
	w.U8("kind", (*uint8)(&c.Kind))
	w.U8("operation", &op)
	w.U8("schedule", (*uint8)(&c.Schedule))
	w.U32("part", &c.Part)
	w.U64("elements", &c.Length)
	w.I32("root", &c.Root)
	w.U8("name", nameSize)
	w.U8("operation's name", ownSize)
	w.Skip(2)
	if w.Decoding() {
		c.Op = kernels.Op(op)
	}
}

// renumber changes the number in an encoded CallID. Programs repeat the same call, and this
// costs less than encoding it again: the digest joins the number by exclusive or, so that it
// can be exchanged.
func renumber(wire []byte, seq uint64) {
	le := binary.LittleEndian
	le.PutUint64(wire[48:], callDigest(wire)^callSeq(wire)*fnvPrime^seq*fnvPrime)
	le.PutUint64(wire[callNumber:], seq)
}

// Fnv continues an FNV-1a digest with b. It starts from FnvOffset.
func Fnv[T string | []byte](digest uint64, b T) uint64 {
	for i := range len(b) {
		digest = (digest ^ uint64(b[i])) * fnvPrime
	}
	return digest
}

const (
	FnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// checkCall checks the length of the wire form of a CallID, and its number. Ranks compare
// the digest of a call, and decode the call only to describe a difference.
func checkCall(wire []byte) error {
	if len(wire) < CallFixed || wire[44] > callName || wire[45] > kernels.MaxOwnName || len(wire) != CallFixed+int(wire[44])+int(wire[45]) {
		return fmt.Errorf("the header of a collective has %d bytes, want %d, a name of at most %d and an operation's of at most %d", len(wire), CallFixed, callName, kernels.MaxOwnName)
	}
	if callSeq(wire) == 0 { // the number of an engine that has had no collective yet
		return errors.New("the header of a collective has the number 0, want 1 or more")
	}
	return nil
}

func callSeq(wire []byte) uint64    { return binary.LittleEndian.Uint64(wire[callNumber:]) }
func callDigest(wire []byte) uint64 { return binary.LittleEndian.Uint64(wire[48:]) }

// decodeCall reads a CallID that checkCall has passed. The name is the part of it that
// crossed the wire.
func decodeCall(b []byte) (c CallID) {
	var nameSize, ownSize uint8
	w := wire.Decode(b)
	c.code(&w, &nameSize, &ownSize)
	name, own := b[CallFixed:CallFixed+int(nameSize)], b[CallFixed+int(nameSize):]
	c.Name, c.Own = strings.ToValidUTF8(string(name), "?"), strings.ToValidUTF8(string(own), "?")
	return c
}

// size returns the length of the vector in bytes.
func (c *CallID) size() int64 { return int64(c.Length) * int64(c.Kind.Size()) }

// String names a collective in messages: all-reduce #17 (gradient, 64 MiB).
func (c *CallID) String() string {
	if c.Verb.silent() && c.Name == "" {
		return fmt.Sprintf("%v #%d", c.Verb, c.Seq)
	}
	switch {
	case c.Verb.silent():
		return fmt.Sprintf("%v #%d (%s)", c.Verb, c.Seq, c.Name)
	case c.Name == "":
		return fmt.Sprintf("%v #%d (%s)", c.Verb, c.Seq, ByteCount(c.size()))
	}
	return fmt.Sprintf("%v #%d (%s, %s)", c.Verb, c.Seq, c.Name, ByteCount(c.size()))
}

// detail describes c with everything on which another rank may disagree.
func (c *CallID) detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v #%d", c.Verb, c.Seq)
	switch {
	case c.Name == "":
	case c.Verb == VerbSendRecv:
		fmt.Fprintf(&b, " (%s)", c.Name)
	default:
		fmt.Fprintf(&b, " %q", c.Name)
	}
	if !c.Verb.silent() {
		fmt.Fprintf(&b, " of %d %v", c.Length, c.Kind)
	}
	switch {
	case c.Own != "":
		fmt.Fprintf(&b, ", %s", c.Own)
	case c.Verb.reduces():
		fmt.Fprintf(&b, ", %v", c.Op)
	}
	if c.Root >= 0 {
		fmt.Fprintf(&b, ", %s rank %d", rootWord(c.Verb), c.Root)
	}
	if c.Schedule != 0 {
		fmt.Fprintf(&b, ", schedule %v", c.Schedule)
	}
	fmt.Fprintf(&b, ", chunk %s, epoch %v", ByteCount(int64(c.Part)), c.Epoch)
	return b.String()
}

// rootWord returns the preposition for the root: data moves to it, or from it.
func rootWord(v Verb) string {
	if v == VerbReduce || v == VerbGather {
		return "to"
	}
	return "from"
}

// ByteCount formats a number of bytes for messages: 4 B, 64 KiB, 1.5 MiB.
func ByteCount(n int64) string {
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
