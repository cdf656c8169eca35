// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The payloads of call, progress and fault frames (package link), little-endian. A CallID is the payload
// of a call frame.
const (
	_ = uint(link.MaxCall - callMax) // the limits of package link are these sizes
	_ = uint(callMax - link.MaxCall)
	_ = uint(link.MaxFault - faultMax)
	_ = uint(faultMax - link.MaxFault)
)

// progressFrame is the payload of a progress frame: the sender is in the collective and waits. It is
// sent only to neighbours that have entered the collective, too.
//
//	offset  size  field
//	     0     8  number of the collective
//	     8     4  the rank that the sender waits for, -1: none
//	    12     1  1: that rank has entered the collective
//	    13     3  0
type progressFrame struct {
	seq     uint64
	Rank    int32
	entered bool
}

func (n progressFrame) appendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, n.seq)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n.Rank))
	if n.entered {
		return append(dst, 1, 0, 0, 0)
	}
	return append(dst, 0, 0, 0, 0)
}

func decodeProgress(b []byte) (progressFrame, error) {
	if len(b) != link.MaxProgress {
		return progressFrame{}, fmt.Errorf("a progress frame has %d bytes, want %d", len(b), link.MaxProgress)
	}
	le := binary.LittleEndian
	return progressFrame{seq: le.Uint64(b), Rank: int32(le.Uint32(b[8:])), entered: b[12] == 1}, nil
}

// faultCode is the kind of a failure. Its numbers are part of the protocol.
type faultCode uint8

const (
	FaultLost     faultCode = 1 // a rank's connection ended
	faultStalled  faultCode = 2 // no byte moved for too long, or a rank never entered
	faultMismatch faultCode = 3 // two ranks made different calls
	FaultGaveUp   faultCode = 4 // a rank said that it cannot go on

	FaultOver faultCode = 254 // the epoch is over, and another one follows; never sent
	FaultLeft faultCode = 255 // a vw worker has left as it may; never sent
)

// Failure is the reason for which a job fails. It is the payload of a fault frame:
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
type Failure struct {
	Code    faultCode
	entered bool
	By      int
	Rank    int
	idle    time.Duration
	Host    string
	Text    string
	calls   [2]CallID

	Err error              // on the rank that found it; not sent
	Ask protocol.EdgeFault // the fault of an edge, 0: none; not sent
	Far int                // with EdgeCorrupts: the rank at the other end; not sent
}

const (
	faultFixed = 24
	faultHost  = 300
	faultText  = 4096
	faultMax   = faultFixed + faultHost + faultText + 2*callMax
)

func (f *Failure) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	host, text := Clip(f.Host, faultHost), Clip(f.Text, faultText)
	var calls [2][]byte
	if f.Code == faultMismatch {
		for i := range calls {
			calls[i] = f.calls[i].appendTo(nil)
		}
	}
	entered := byte(0)
	if f.entered {
		entered = 1
	}
	dst = append(dst, byte(f.Code), entered, 0, 0)
	dst = le.AppendUint32(dst, uint32(f.By))
	dst = le.AppendUint32(dst, uint32(f.Rank))
	dst = le.AppendUint32(dst, uint32(min(f.idle.Milliseconds(), 1<<32-1)))
	for _, n := range []int{len(host), len(text), len(calls[0]), len(calls[1])} {
		dst = le.AppendUint16(dst, uint16(n))
	}
	dst = append(dst, host...)
	dst = append(dst, text...)
	dst = append(dst, calls[0]...)
	return append(dst, calls[1]...)
}

// Clip returns the first n bytes of s.
func Clip(s string, n int) string { return s[:min(len(s), n)] }

// DecodeFailure decodes a failure that another rank has sent.
func DecodeFailure(b []byte) (*Failure, error) {
	le := binary.LittleEndian
	if len(b) < faultFixed {
		return nil, fmt.Errorf("a fault has %d bytes, want at least %d", len(b), faultFixed)
	}
	f := &Failure{
		Code: faultCode(b[0]), entered: b[1] == 1,
		By: int(int32(le.Uint32(b[4:]))), Rank: int(int32(le.Uint32(b[8:]))),
		idle: time.Duration(le.Uint32(b[12:])) * time.Millisecond,
	}
	if f.Code < FaultLost || f.Code > FaultGaveUp {
		return nil, fmt.Errorf("a fault of unknown code %d", f.Code)
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
	f.Host = strings.ToValidUTF8(string(fields[0]), "?")
	f.Text = strings.ToValidUTF8(string(fields[1]), "?")
	if f.Code != faultMismatch {
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
