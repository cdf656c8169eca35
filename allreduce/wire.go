// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// What crosses a connection between two ranks of a native job, little-endian.
// Who dials sends a hello; the other answers with its own and a proof (32 bytes)
// that it has the token of the epoch, and the job's secret if there is one; who has
// dialled sends such a proof, too (auth.Key.Greet). Then
// each direction is a sequence of frames:
//
//	offset  size  field
//	     0     1  type: 1 call, 2 data, 3 note, 4 fault, 5 offer, 6 turn, 7 lift
//	     1     1  flags: bit 0: the checksum is there, bit 1: the tag
//	     2     2  0
//	     4     4  bytes that follow
//	     8     4  CRC-32C of the bytes that follow; without bit 0: 0
//	    12     4  0
//
// Where ranks share a secret, and there is no TLS and no Config.NoTags, a tag is in the
// place of the last two fields, under a key of this connection and direction (auth.Tags):
//
//	8    16  tag of the bytes that follow; as their kind, of type and flags
//
// call   a callID (call.go): the sender has entered this collective, and the
//
//	data frames that follow belong to it
//
// data   one part of the vector, as package schedule cuts it
// note   the sender is alive and waits; see note
// fault  the sender gives up, and why; see failure. Nothing follows
// offer  where the sender has made a pipe: process and descriptor, 4 bytes each, 8 of its
//
//	size, 16 of what it begins with
//
// turn   4 bytes. The first is 1: all that follows goes through the pipe, and what the
//
//	connection carries from here on is calls, of any bytes. 0: the offer is refused
//
// lift   the way to another transport; see lift.go
//
// A job with vw workers has none of this: there a connection carries the bytes
// of the vectors and nothing else.
const (
	frameSize = 16

	frameCall  = 1
	frameData  = 2
	frameNote  = 3
	frameFault = 4
	frameOffer = 5
	frameTurn  = 6
	frameLift  = 7

	flagSum = 1
	flagTag = 2

	leadSize     = 8 // up to checksum or tag
	tagFrameSize = leadSize + auth.TagSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// frame is a frame's header.
type frame struct {
	kind, flags byte
	length      uint32
	sum         uint32
}

// append appends the header.
func (f frame) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(f.appendLead(dst), f.sum)
	return append(dst, 0, 0, 0, 0)
}

// appendLead appends the header up to checksum or tag.
func (f frame) appendLead(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, f.kind, f.flags, 0, 0), f.length)
}

// decodeFrame reads a frame's header, which has a tag or not, and checks its bounds. Data
// frames are checked against the part that is expected.
func decodeFrame(b []byte, tagged bool) (frame, error) {
	le := binary.LittleEndian
	f := frame{kind: b[0], flags: b[1], length: le.Uint32(b[4:])}
	zero := le.Uint16(b[2:]) == 0
	known := f.flags == flagTag
	if !tagged {
		f.sum = le.Uint32(b[8:])
		zero = zero && le.Uint32(b[12:]) == 0
		known = f.flags == flagSum || f.flags == 0 && f.sum == 0
	}
	if !zero || !known {
		return f, fmt.Errorf("the header of a frame makes no sense: % x", b[:leadSize])
	}
	limit := uint32(0)
	switch f.kind {
	case frameCall:
		limit = callMax
	case frameData:
		limit = maxChunk
	case frameNote:
		limit = noteSize
	case frameFault:
		limit = faultMax
	case frameOffer:
		limit = offerSize
	case frameTurn:
		limit = turnSize
	case frameLift:
		limit = liftMax
	default:
		return f, fmt.Errorf("a frame of unknown type %d", f.kind)
	}
	if f.length > limit {
		return f, fmt.Errorf("a frame of type %d has %d bytes, the limit is %d", f.kind, f.length, limit)
	}
	return f, nil
}

// appendFrame appends a whole frame.
func appendFrame(dst []byte, kind byte, payload []byte) []byte {
	f := frame{kind: kind, flags: flagSum, length: uint32(len(payload)), sum: checksum(payload)}
	return append(f.append(dst), payload...)
}

// note tells a neighbour that the sender is in the collective and waits. It is
// sent only to neighbours that have entered it too.
//
//	offset  size  field
//	     0     8  number of the collective
//	     8     4  the rank that the sender waits for, -1: none
//	    12     1  1: that rank has entered the collective
//	    13     3  0
type note struct {
	seq     uint64
	rank    int32
	entered bool
}

const noteSize = 16

func (n note) appendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, n.seq)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n.rank))
	if n.entered {
		return append(dst, 1, 0, 0, 0)
	}
	return append(dst, 0, 0, 0, 0)
}

func decodeNote(b []byte) (note, error) {
	if len(b) != noteSize {
		return note{}, fmt.Errorf("a note has %d bytes, want %d", len(b), noteSize)
	}
	le := binary.LittleEndian
	return note{seq: le.Uint64(b), rank: int32(le.Uint32(b[8:])), entered: b[12] == 1}, nil
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
	return le.AppendUint32(dst, checksum(dst[start:]))
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
	case le.Uint32(b[52:]) != checksum(b[:52]):
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

// faultCode is the kind of a failure. Its numbers are part of the protocol.
type faultCode uint8

const (
	faultLost     faultCode = 1 // a rank's connection ended
	faultStalled  faultCode = 2 // no byte moved for too long, or a rank never entered
	faultMismatch faultCode = 3 // two ranks made different calls
	faultGaveUp   faultCode = 4 // a rank said that it cannot go on

	faultOver faultCode = 254 // the epoch is over, and another one follows; never sent
	faultLeft faultCode = 255 // a vw worker has left as it may; never sent
)

// failure is why a job fails, as ranks tell each other.
//
//	offset  size  field
//	     0     1  code
//	     1     1  1: the rank that is waited for has entered the collective
//	     2     2  0
//	     4     4  rank that found the failure
//	     8     4  rank that it names
//	    12     4  how long nothing moved, in milliseconds
//	    16     2  bytes of the host
//	    18     2  bytes of the text
//	    20     2  bytes of the first call
//	    22     2  bytes of the second call
//	    24     …  host, text, and for a mismatch the two callIDs: that of the rank
//	              that found it and that of the rank that it names
type failure struct {
	code    faultCode
	entered bool
	by      int
	rank    int
	idle    time.Duration
	host    string
	text    string
	calls   [2]callID

	err error              // on the rank that found it; not sent
	ask protocol.EdgeFault // it is the fault of an edge, 0: not; not sent
	far int                // with EdgeGarbles: the rank at the other end
}

const (
	faultFixed = 24
	faultHost  = 300
	faultText  = 4096
	faultMax   = faultFixed + faultHost + faultText + 2*callMax
)

func (f *failure) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	host, text := clip(f.host, faultHost), clip(f.text, faultText)
	var calls [2][]byte
	if f.code == faultMismatch {
		for i := range calls {
			calls[i] = f.calls[i].appendTo(nil)
		}
	}
	entered := byte(0)
	if f.entered {
		entered = 1
	}
	dst = append(dst, byte(f.code), entered, 0, 0)
	dst = le.AppendUint32(dst, uint32(f.by))
	dst = le.AppendUint32(dst, uint32(f.rank))
	dst = le.AppendUint32(dst, uint32(min(f.idle.Milliseconds(), 1<<32-1)))
	for _, n := range []int{len(host), len(text), len(calls[0]), len(calls[1])} {
		dst = le.AppendUint16(dst, uint16(n))
	}
	dst = append(dst, host...)
	dst = append(dst, text...)
	dst = append(dst, calls[0]...)
	return append(dst, calls[1]...)
}

func clip(s string, n int) string { return s[:min(len(s), n)] }

func decodeFailure(b []byte) (*failure, error) {
	le := binary.LittleEndian
	if len(b) < faultFixed {
		return nil, fmt.Errorf("a fault has %d bytes, want at least %d", len(b), faultFixed)
	}
	f := &failure{
		code: faultCode(b[0]), entered: b[1] == 1,
		by: int(int32(le.Uint32(b[4:]))), rank: int(int32(le.Uint32(b[8:]))),
		idle: time.Duration(le.Uint32(b[12:])) * time.Millisecond,
	}
	if f.code < faultLost || f.code > faultGaveUp {
		return nil, fmt.Errorf("a fault of unknown code %d", f.code)
	}
	var fields [4][]byte
	rest := b[faultFixed:]
	for i := range fields {
		n := int(le.Uint16(b[16+2*i:]))
		if n > len(rest) {
			return nil, fmt.Errorf("field %d of a fault has %d bytes, %d are left", i, n, len(rest))
		}
		fields[i], rest = rest[:n], rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes after the end of a fault", len(rest))
	}
	f.host = strings.ToValidUTF8(string(fields[0]), "?")
	f.text = strings.ToValidUTF8(string(fields[1]), "?")
	if f.code != faultMismatch {
		return f, nil
	}
	for i := range f.calls {
		if err := checkCall(fields[2+i]); err != nil {
			return nil, err
		}
		f.calls[i] = decodeCall(fields[2+i])
	}
	return f, nil
}
