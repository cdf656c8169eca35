// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/wire"
)

// The payloads of call, progress and fault frames (package link), little-endian. A CallID is the payload
// of a call frame.
const (
	_ = uint(link.MaxCall - callMax) // the limits of package link are these sizes
	_ = uint(callMax - link.MaxCall)
	_ = uint(shm.MaxHeader - callMax) // a call fits into shared memory
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
	c := wire.Encode(dst)
	n.code(&c)
	return c.Bytes()
}

func (n *progressFrame) code(c *wire.Coder) {
	c.U64("collective", &n.seq)
	c.I32("rank", &n.Rank)
	codeEntered(c, &n.entered)
	c.Skip(3)
}

// codeEntered codes a bool as one byte. Only 1 is true.
func codeEntered(c *wire.Coder, entered *bool) {
	var b uint8
	if *entered {
		b = 1
	}
	if c.U8("entered", &b); c.Decoding() {
		*entered = b == 1
	}
}

func decodeProgress(b []byte) (n progressFrame, err error) {
	c := wire.Decode(b)
	if n.code(&c); c.End() != nil {
		return progressFrame{}, fmt.Errorf("a progress frame of %d bytes, want %d: %w", len(b), link.MaxProgress, c.Err())
	}
	return n, nil
}

// faultCode is the kind of a failure. Its numbers are part of the protocol.
type faultCode uint8

const (
	FaultLost     faultCode = 1 // a rank's connection ended
	faultStalled  faultCode = 2 // no byte moved for too long, or a rank never entered
	faultMismatch faultCode = 3 // two ranks made different calls
	FaultGaveUp   faultCode = 4 // a rank gave up

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

	// Cause is the cause that the server has found in the events of all ranks; "": unknown; not sent.
	Cause string
}

const (
	faultFixed = 24
	faultHost  = 300
	faultText  = 4096
	faultMax   = faultFixed + faultHost + faultText + 2*callMax
)

func (f *Failure) appendTo(dst []byte) []byte {
	texts := [...][]byte{[]byte(Clip(f.Host, faultHost)), []byte(Clip(f.Text, faultText)), nil, nil}
	if f.Code == faultMismatch {
		for i := range f.calls {
			texts[2+i] = f.calls[i].appendTo(nil)
		}
	}
	c := wire.Encode(dst)
	f.code(&c, &texts)
	return c.Bytes()
}

// code codes a fault with its host, text and calls.
func (f *Failure) code(c *wire.Coder, texts *[4][]byte) {
	by, rank := int32(f.By), int32(f.Rank)
	c.U8("code", (*uint8)(&f.Code))
	codeEntered(c, &f.entered)
	c.Skip(2)
	c.I32("by", &by)
	c.I32("rank", &rank)
	c.Millis("idle", &f.idle)
	if c.Decoding() {
		f.By, f.Rank = int(by), int(rank)
	}
	names := [...]string{"host", "text", "first call", "second call"}
	var sizes [len(names)]uint16
	for i, name := range names {
		sizes[i] = uint16(len(texts[i]))
		c.U16(name, &sizes[i])
	}
	for i, name := range names {
		c.View(name, int(sizes[i]), &texts[i])
	}
}

// Clip returns the first n bytes of s.
func Clip(s string, n int) string { return s[:min(len(s), n)] }

// DecodeFailure decodes a failure that another rank has sent.
func DecodeFailure(b []byte) (*Failure, error) {
	f := &Failure{}
	var texts [4][]byte
	c := wire.Decode(b)
	if f.code(&c, &texts); c.End() != nil {
		return nil, fmt.Errorf("a fault of %d bytes: %w", len(b), c.Err())
	}
	if f.Code < FaultLost || f.Code > FaultGaveUp {
		return nil, fmt.Errorf("a fault of unknown code %d", f.Code)
	}
	f.Host = strings.ToValidUTF8(string(texts[0]), "?")
	f.Text = strings.ToValidUTF8(string(texts[1]), "?")
	if f.Code != faultMismatch {
		return f, nil
	}
	for i := range f.calls {
		if err := checkCall(texts[2+i]); err != nil {
			return nil, err
		}
		f.calls[i] = decodeCall(texts[2+i])
	}
	return f, nil
}
