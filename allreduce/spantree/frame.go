// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A frame on the wire:
//
//	 0      4     5       6      8
//	┌──────┬─────┬───────┬──────┬─────────┐
//	│length│type │version│flags │ payload │
//	└──────┴─────┴───────┴──────┴─────────┘
//
// All numbers are little endian. length counts the bytes after itself, 4 or
// more; so a stream of frames never begins with the four zero bytes by which
// vw's own server refuses. docs/protocol.md has the payloads.
const (
	frameHeader = 8
	// protocolVersion is the version of a frame, raised when anything changes that
	// crosses a connection to the server or between ranks. A job has one version: the
	// first frames tell it, and who differs is refused.
	//
	//	1  the first
	//	2  START has the address at which the server saw each rank; between ranks the
	//	   header of a collective has its schedule and operation's name
	//	3  FAIL and OVER carry the fault itself, beside the words that tell it; between
	//	   ranks there are pipes
	//	4  proofs: WELCOME asks for one, PROOF and PROVED show it, and ranks show each
	//	   other one instead of the token; JOIN and CANCEL tell whose the job is
	//	5  a JOIN without a rank, that of a spare, and ASSIGN
	//	6  between ranks that share a secret, frames have tags in the place of checksums,
	//	   and what one takes from another is sealed
	//	7  a job may start without ranks that have not come: JOIN says so, JOINED and ROSTER
	//	   say which
	//	8  the frames of a handshake end in a checksum
	protocolVersion = 8

	// checksumSince is the first version in which the frames of a handshake have a checksum.
	checksumSince = 8
	checksumSize  = 4
)

// checked reports whether a frame's payload ends in a checksum. These are the frames before
// and at the admission to a job, which may come before a connection is sealed.
func (t frameType) checked() bool {
	switch t {
	case typeJoin, typeCancel, typeWelcome, typeJoined, typeRefused:
		return true
	}
	return false
}

// checksum is the CRC-32C of a frame's type, its version and the payload before the checksum.
func checksum(t frameType, version uint8, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{byte(t), version}, castagnoli), castagnoli, payload)
}

// The hello of the native protocol, three u64: magic, 1, 1. vw's server
// takes it for rank 1 of a job with 1 rank and refuses it.
const (
	helloSize = 24
	// helloMagic reads "\x89gvw\r\n\x1a\n" on the wire.
	helloMagic = 0x0a1a0a0d77766789
	helloTotal = 1
	helloRank  = 1
)

func appendHello(dst []byte) []byte {
	for _, v := range [3]uint64{helloMagic, helloTotal, helloRank} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// frameType is the fifth byte of a frame. A receiver refuses what it does
// not know below optionalFrames and ignores it from there on.
type frameType uint8

// Frames from a rank have numbers below 64, those from the server from 64 on.
const (
	typeJoin     frameType = 1
	typeReady    frameType = 2
	typeBeat     frameType = 3
	typeReport   frameType = 4
	typeAsk      frameType = 5
	typeAt       frameType = 6
	typeComplete frameType = 7
	typeDone     frameType = 8
	typeLeave    frameType = 9
	typeFail     frameType = 10
	typeStatus   frameType = 11
	typeCancel   frameType = 12
	typeProof    frameType = 13

	typeWelcome  frameType = 64
	typeJoined   frameType = 65
	typeRefused  frameType = 66
	typeWaiting  frameType = 67
	typeBeaten   frameType = 68
	typeStart    frameType = 69
	typeWire     frameType = 70
	typeOver     frameType = 71
	typeDeciding frameType = 72
	typeFenced   frameType = 73
	typeStandBy  frameType = 74
	typeDeliver  frameType = 75
	typeBye      frameType = 76
	typeJobs     frameType = 77
	typePull     frameType = 78
	typeProved   frameType = 79
	typeAssign   frameType = 80
	typeRoster   frameType = 81

	optionalFrames frameType = 128
)

// frame is a message of the native protocol.
type frame interface {
	code(*coder)
}

// frameKind says what there is to know about a type.
type frameKind struct {
	name  string
	limit int // bytes of payload
	fresh func() frame
}

const (
	smallFrame = 4 << 10
	bigFrame   = 16 << 20 // from the server alone: the members of a job, the listing of jobs
)

var frameKinds = map[frameType]frameKind{
	typeJoin:     {"JOIN", 32 << 10, func() frame { return new(joinFrame) }},
	typeReady:    {"READY", smallFrame, func() frame { return new(readyFrame) }},
	typeBeat:     {"BEAT", smallFrame, func() frame { return new(beatFrame) }},
	typeReport:   {"REPORT", smallFrame, func() frame { return new(reportFrame) }},
	typeAsk:      {"ASK", smallFrame, func() frame { return new(askFrame) }},
	typeAt:       {"AT", smallFrame, func() frame { return new(atFrame) }},
	typeComplete: {"COMPLETE", 32 << 10, func() frame { return new(completeFrame) }},
	typeDone:     {"DONE", smallFrame, func() frame { return new(doneFrame) }},
	typeLeave:    {"LEAVE", smallFrame, func() frame { return new(leaveFrame) }},
	typeFail:     {"FAIL", smallFrame, func() frame { return new(failFrame) }},
	typeStatus:   {"STATUS", smallFrame, func() frame { return new(statusFrame) }},
	typeCancel:   {"CANCEL", smallFrame, func() frame { return new(cancelFrame) }},
	typeProof:    {"PROOF", smallFrame, func() frame { return new(proofFrame) }},
	typeWelcome:  {"WELCOME", smallFrame, func() frame { return new(welcomeFrame) }},
	typeJoined:   {"JOINED", 2 * smallFrame, func() frame { return new(joinedFrame) }},
	typeRefused:  {"REFUSED", smallFrame, func() frame { return new(refusedFrame) }},
	typeWaiting:  {"WAITING", smallFrame, func() frame { return new(waitingFrame) }},
	typeBeaten:   {"BEATEN", smallFrame, func() frame { return new(beatenFrame) }},
	typeStart:    {"START", bigFrame, func() frame { return new(startFrame) }},
	typeWire:     {"WIRE", smallFrame, func() frame { return new(wireFrame) }},
	typeOver:     {"OVER", smallFrame, func() frame { return new(overFrame) }},
	typeDeciding: {"DECIDING", smallFrame, func() frame { return new(decidingFrame) }},
	typeFenced:   {"FENCED", smallFrame, func() frame { return new(fencedFrame) }},
	typeStandBy:  {"STANDBY", smallFrame, func() frame { return new(standByFrame) }},
	typeDeliver:  {"DELIVER", 32 << 10, func() frame { return new(deliverFrame) }},
	typeBye:      {"BYE", smallFrame, func() frame { return new(byeFrame) }},
	typeJobs:     {"JOBS", bigFrame, func() frame { return new(jobsFrame) }},
	typePull:     {"PULL", smallFrame, func() frame { return new(pullFrame) }},
	typeProved:   {"PROVED", smallFrame, func() frame { return new(provedFrame) }},
	typeAssign:   {"ASSIGN", smallFrame, func() frame { return new(assignFrame) }},
	typeRoster:   {"ROSTER", 2 * smallFrame, func() frame { return new(rosterFrame) }},
}

func (t frameType) String() string {
	if k, ok := frameKinds[t]; ok {
		return k.name
	}
	return fmt.Sprintf("frame type %d", uint8(t))
}

// typeOf is the type whose payload f is.
func typeOf(f frame) frameType {
	switch f.(type) {
	case *joinFrame:
		return typeJoin
	case *readyFrame:
		return typeReady
	case *beatFrame:
		return typeBeat
	case *reportFrame:
		return typeReport
	case *askFrame:
		return typeAsk
	case *atFrame:
		return typeAt
	case *completeFrame:
		return typeComplete
	case *doneFrame:
		return typeDone
	case *leaveFrame:
		return typeLeave
	case *failFrame:
		return typeFail
	case *statusFrame:
		return typeStatus
	case *cancelFrame:
		return typeCancel
	case *proofFrame:
		return typeProof
	case *welcomeFrame:
		return typeWelcome
	case *joinedFrame:
		return typeJoined
	case *refusedFrame:
		return typeRefused
	case *waitingFrame:
		return typeWaiting
	case *beatenFrame:
		return typeBeaten
	case *startFrame:
		return typeStart
	case *wireFrame:
		return typeWire
	case *overFrame:
		return typeOver
	case *decidingFrame:
		return typeDeciding
	case *fencedFrame:
		return typeFenced
	case *standByFrame:
		return typeStandBy
	case *deliverFrame:
		return typeDeliver
	case *byeFrame:
		return typeBye
	case *jobsFrame:
		return typeJobs
	case *pullFrame:
		return typePull
	case *provedFrame:
		return typeProved
	case *assignFrame:
		return typeAssign
	case *rosterFrame:
		return typeRoster
	}
	panic(fmt.Sprintf("BUG: spantree: %T is no frame", f))
}

// appendFrame appends f as it goes over the wire. It fails if a field is over
// its limit.
func appendFrame(dst []byte, f frame) ([]byte, error) {
	t := typeOf(f)
	start := len(dst)
	c := coder{mode: put, buf: append(dst, 0, 0, 0, 0, byte(t), protocolVersion, 0, 0)}
	f.code(&c)
	if c.err == nil && t.checked() {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, checksum(t, protocolVersion, c.buf[start+frameHeader:]))
	}
	n := len(c.buf) - start - frameHeader
	if c.err == nil && n > frameKinds[t].limit {
		c.err = fmt.Errorf("its payload has %d bytes, the limit is %d", n, frameKinds[t].limit)
	}
	if c.err != nil {
		return dst, fmt.Errorf("spantree: cannot write a %v frame: %w", t, c.err)
	}
	binary.LittleEndian.PutUint32(c.buf[start:], uint32(n+frameHeader-4))
	return c.buf, nil
}

// A FrameError says what is wrong with bytes that should be a frame.
type FrameError struct {
	Type frameType // 0: it did not come so far
	Err  error
}

func (e *FrameError) Error() string {
	if e.Type == 0 {
		return fmt.Sprintf("no frame of the native protocol: %v", e.Err)
	}
	return fmt.Sprintf("malformed %v frame: %v", e.Type, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }

// decodeHeader returns type, version and size of the payload of the frame
// that begins with these 8 bytes.
func decodeHeader(h [frameHeader]byte, limit int) (t frameType, version uint8, size int, err error) {
	length := binary.LittleEndian.Uint32(h[:])
	t, version = frameType(h[4]), h[5]
	kind, known := frameKinds[t]
	switch {
	case length < frameHeader-4:
		return 0, 0, 0, &FrameError{Err: fmt.Errorf("length %d, at least %d is needed", length, frameHeader-4)}
	case version == 0:
		return 0, 0, 0, &FrameError{Type: t, Err: errors.New("version 0")}
	case !known && t < optionalFrames:
		return 0, 0, 0, &FrameError{Type: t, Err: fmt.Errorf("version %d of the protocol lacks it", protocolVersion)}
	}
	if known {
		limit = min(limit, kind.limit)
	} else {
		limit = min(limit, smallFrame)
	}
	if length-(frameHeader-4) > uint32(limit) {
		return 0, 0, 0, &FrameError{Type: t, Err: fmt.Errorf("its payload has %d bytes, the limit is %d", length-(frameHeader-4), limit)}
	}
	return t, version, int(length) - (frameHeader - 4), nil
}

// decodePayload decodes a frame of a known type.
func decodePayload(t frameType, version uint8, payload []byte) (frame, error) {
	if t.checked() && version >= checksumSince {
		n := len(payload) - checksumSize
		if n < 0 {
			return nil, &FrameError{Type: t, Err: errShort}
		}
		if got, want := checksum(t, version, payload[:n]), binary.LittleEndian.Uint32(payload[n:]); got != want {
			return nil, &FrameError{Type: t, Err: fmt.Errorf("its checksum is %#x, want %#x: bytes were changed on the way", want, got)}
		}
		payload = payload[:n]
	}
	f := frameKinds[t].fresh()
	c := coder{mode: take, buf: payload}
	f.code(&c)
	if c.err == nil && len(c.buf) > 0 && version <= protocolVersion {
		c.err = fmt.Errorf("%d bytes too many", len(c.buf))
	}
	if c.err != nil {
		return nil, &FrameError{Type: t, Err: c.err}
	}
	return f, nil
}

// frameReader reads frames of at most limit bytes of payload. It skips the
// optional ones that it does not know.
type frameReader struct {
	r     io.Reader
	limit int
	buf   []byte // reused, if it is small: frames hold copies
	size  int    // of the last frame

	budget memoryBound // what long frames are counted against; nil: they are not

	server  uint64 // whose frames they are: the incarnation that WELCOME has told
	version uint8  // of the last frame
	header  [frameHeader]byte
	waited  bool // header is that of the frame under way
}

// memoryBound is a bound of the memory that clients may take.
type memoryBound interface {
	take(n, spare int64) bool
	give(n int64)
}

// wait waits for a frame's header, which next then takes; it needs little stack.
func (r *frameReader) wait() error {
	if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = &FrameError{Err: errShort}
		}
		return err
	}
	r.waited = true
	return nil
}

// next returns the next frame; io.EOF at the end of the stream, a *FrameError
// for bytes that are none.
func (r *frameReader) next() (frame, error) {
	for {
		if !r.waited {
			if err := r.wait(); err != nil {
				return nil, err
			}
		}
		r.waited = false
		t, version, size, err := decodeHeader(r.header, r.limit)
		if err != nil {
			return nil, err
		}
		if err := r.fill(size); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = &FrameError{Type: t, Err: errShort}
			}
			return nil, err
		}
		if _, known := frameKinds[t]; !known {
			continue
		}
		r.version = version
		f, err := decodePayload(t, version, r.buf)
		if size > smallFrame {
			r.buf = nil // big frames are rare: do not keep room for them
		}
		return f, err
	}
}

// fill reads the payload of a frame.
func (r *frameReader) fill(size int) error {
	if cap(r.buf) > smallFrame && size <= smallFrame {
		r.buf = nil // thousands of clients wait for hours
	}
	if size > smallFrame && r.budget != nil {
		if !r.budget.take(int64(size), 0) {
			return errMemory
		}
		defer r.budget.give(int64(size))
	}
	if cap(r.buf) < size {
		r.buf = make([]byte, size)
	}
	r.buf, r.size = r.buf[:size], size
	_, err := io.ReadFull(r.r, r.buf)
	return err
}
