// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
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
	FrameHeader = 8
	// ProtocolVersion is the version of a frame, raised when anything changes that
	// crosses a connection to the server or between ranks. A job has one version: the
	// first frames tell it, and who differs is refused.
	//
	//	1  the first
	//	2  EPOCH_START has the address at which the server saw each rank; between ranks the
	//	   header of a collective has its schedule and operation's name
	//	3  FAIL and EPOCH_END carry the fault itself, beside the words that tell it; between
	//	   ranks there are pipes
	//	4  proofs: WELCOME asks for one, PROOF and AUTH_OK show it, and ranks show each
	//	   other one instead of the token; JOIN and CANCEL tell whose the job is
	//	5  a JOIN without a rank, that of a spare, and ASSIGN
	//	6  between ranks that share a secret, frames have tags in the place of checksums,
	//	   and what one takes from another is sealed
	//	7  a job may start without ranks that have not come: JOIN says so, JOINED and MEMBERS
	//	   say which
	//	8  the frames of a handshake end in a checksum
	ProtocolVersion = 8

	// ChecksumSince is the first version in which the frames of a handshake have a checksum.
	ChecksumSince = 8
	ChecksumSize  = 4
)

// Checked reports whether a frame's payload ends in a checksum. These are the frames before
// and at the admission to a job, which may come before a connection is sealed.
func (t frameType) Checked() bool {
	switch t {
	case TypeJoin, typeCancel, typeWelcome, typeJoined, typeRefused:
		return true
	}
	return false
}

// Checksum is the CRC-32C of a frame's type, its version and the payload before the checksum.
func Checksum(t frameType, version uint8, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{byte(t), version}, Castagnoli), Castagnoli, payload)
}

// The hello of the native protocol, three u64: magic, 1, 1. vw's server
// takes it for rank 1 of a job with 1 rank and refuses it.
const (
	HelloSize = 24
	// HelloMagic reads "\x89gvw\r\n\x1a\n" on the wire.
	HelloMagic = 0x0a1a0a0d77766789
	HelloTotal = 1
	HelloRank  = 1
)

// AppendHello appends the first bytes of a client of the native protocol.
func AppendHello(dst []byte) []byte {
	for _, v := range [3]uint64{HelloMagic, HelloTotal, HelloRank} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// frameType is the fifth byte of a frame. A receiver refuses what it does
// not know below optionalFrames and ignores it from there on.
type frameType uint8

// Frames from a rank have numbers below 64, those from the server from 64 on.
const (
	TypeJoin      frameType = 1
	TypeReady     frameType = 2
	typeHeartbeat frameType = 3
	typeReport    frameType = 4
	typeAsk       frameType = 5
	TypePosition  frameType = 6
	TypeComplete  frameType = 7
	typeDelivered frameType = 8
	typeLeave     frameType = 9
	typeFail      frameType = 10
	TypeStatus    frameType = 11
	typeCancel    frameType = 12
	typeProof     frameType = 13

	typeWelcome      frameType = 64
	typeJoined       frameType = 65
	typeRefused      frameType = 66
	typeWaiting      frameType = 67
	typeHeartbeatAck frameType = 68
	typeEpochStart   frameType = 69
	typeWire         frameType = 70
	typeEpochEnd     frameType = 71
	typeAskAck       frameType = 72
	typeFenced       frameType = 73
	typeStandBy      frameType = 74
	typeDeliver      frameType = 75
	typeFinished     frameType = 76
	typeJobs         frameType = 77
	typePull         frameType = 78
	typeAuthOK       frameType = 79
	typeAssign       frameType = 80
	typeMembers      frameType = 81

	optionalFrames frameType = 128
)

// Frame is a message of the native protocol.
type Frame interface {
	code(*coder)
}

// frameKind says what there is to know about a type.
type frameKind struct {
	name     string
	Limit    int // bytes of payload
	newFrame func() Frame
}

const (
	smallFrame = 4 << 10
	MaxPayload = 16 << 20 // from the server alone: the members of a job, the listing of jobs
)

// FrameKinds is the table of frames: the only place that relates a number, a name, a limit and a Go type.
var FrameKinds = map[frameType]frameKind{
	TypeJoin:         {"JOIN", 32 << 10, newOf[JoinFrame]},
	TypeReady:        {"READY", smallFrame, newOf[ReadyFrame]},
	typeHeartbeat:    {"HEARTBEAT", smallFrame, newOf[HeartbeatFrame]},
	typeReport:       {"REPORT", smallFrame, newOf[ReportFrame]},
	typeAsk:          {"ASK", smallFrame, newOf[AskFrame]},
	TypePosition:     {"POSITION", smallFrame, newOf[PositionFrame]},
	TypeComplete:     {"COMPLETE", 32 << 10, newOf[CompleteFrame]},
	typeDelivered:    {"DELIVERED", smallFrame, newOf[DeliveredFrame]},
	typeLeave:        {"LEAVE", smallFrame, newOf[LeaveFrame]},
	typeFail:         {"FAIL", smallFrame, newOf[FailFrame]},
	TypeStatus:       {"STATUS", smallFrame, newOf[StatusFrame]},
	typeCancel:       {"CANCEL", smallFrame, newOf[CancelFrame]},
	typeProof:        {"PROOF", smallFrame, newOf[ProofFrame]},
	typeWelcome:      {"WELCOME", smallFrame, newOf[WelcomeFrame]},
	typeJoined:       {"JOINED", 2 * smallFrame, newOf[JoinedFrame]},
	typeRefused:      {"REFUSED", smallFrame, newOf[RefusedFrame]},
	typeWaiting:      {"WAITING", smallFrame, newOf[WaitingFrame]},
	typeHeartbeatAck: {"HEARTBEAT_ACK", smallFrame, newOf[HeartbeatAckFrame]},
	typeEpochStart:   {"EPOCH_START", MaxPayload, newOf[EpochStartFrame]},
	typeWire:         {"WIRE", smallFrame, newOf[WireFrame]},
	typeEpochEnd:     {"EPOCH_END", smallFrame, newOf[EpochEndFrame]},
	typeAskAck:       {"ASK_ACK", smallFrame, newOf[AskAckFrame]},
	typeFenced:       {"FENCED", smallFrame, newOf[FencedFrame]},
	typeStandBy:      {"STANDBY", smallFrame, newOf[StandByFrame]},
	typeDeliver:      {"DELIVER", 32 << 10, newOf[DeliverFrame]},
	typeFinished:     {"FINISHED", smallFrame, newOf[FinishedFrame]},
	typeJobs:         {"JOBS", MaxPayload, newOf[JobsFrame]},
	typePull:         {"PULL", smallFrame, newOf[PullFrame]},
	typeAuthOK:       {"AUTH_OK", smallFrame, newOf[AuthOKFrame]},
	typeAssign:       {"ASSIGN", smallFrame, newOf[AssignFrame]},
	typeMembers:      {"MEMBERS", 2 * smallFrame, newOf[MembersFrame]},
}

// newOf returns an empty frame of a Go type.
func newOf[F any, P interface {
	*F
	Frame
}]() Frame {
	return P(new(F))
}

func (t frameType) String() string {
	if k, ok := FrameKinds[t]; ok {
		return k.name
	}
	return fmt.Sprintf("frame type %d", uint8(t))
}

// frameTypes are the numbers of the frames' Go types, derived from FrameKinds.
var frameTypes = func() map[reflect.Type]frameType {
	types := map[reflect.Type]frameType{}
	for t, kind := range FrameKinds {
		types[reflect.TypeOf(kind.newFrame())] = t
	}
	return types
}()

// TypeOf returns the type of a frame. It panics if f is no frame of this package.
func TypeOf(f Frame) frameType {
	t, ok := frameTypes[reflect.TypeOf(f)]
	if !ok {
		panic(fmt.Sprintf("BUG: spantree: %T is no frame", f))
	}
	return t
}

// AppendFrame appends f as it goes over the wire. It fails if a field is over
// its limit.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	t := TypeOf(f)
	start := len(dst)
	c := coder{mode: encoding, buf: append(dst, 0, 0, 0, 0, byte(t), ProtocolVersion, 0, 0)}
	f.code(&c)
	if c.err == nil && t.Checked() {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, Checksum(t, ProtocolVersion, c.buf[start+FrameHeader:]))
	}
	n := len(c.buf) - start - FrameHeader
	if c.err == nil && n > FrameKinds[t].Limit {
		c.err = fmt.Errorf("its payload has %d bytes, the limit is %d", n, FrameKinds[t].Limit)
	}
	if c.err != nil {
		return dst, fmt.Errorf("spantree: cannot write a %v frame: %w", t, c.err)
	}
	binary.LittleEndian.PutUint32(c.buf[start:], uint32(n+FrameHeader-4))
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
func decodeHeader(h [FrameHeader]byte, limit int) (t frameType, version uint8, size int, err error) {
	length := binary.LittleEndian.Uint32(h[:])
	t, version = frameType(h[4]), h[5]
	kind, known := FrameKinds[t]
	switch {
	case length < FrameHeader-4:
		return 0, 0, 0, &FrameError{Err: fmt.Errorf("length %d, at least %d is needed", length, FrameHeader-4)}
	case version == 0:
		return 0, 0, 0, &FrameError{Type: t, Err: errors.New("version 0")}
	case !known && t < optionalFrames:
		return 0, 0, 0, &FrameError{Type: t, Err: fmt.Errorf("version %d of the protocol lacks it", ProtocolVersion)}
	}
	if known {
		limit = min(limit, kind.Limit)
	} else {
		limit = min(limit, smallFrame)
	}
	if length-(FrameHeader-4) > uint32(limit) {
		return 0, 0, 0, &FrameError{Type: t, Err: fmt.Errorf("its payload has %d bytes, the limit is %d", length-(FrameHeader-4), limit)}
	}
	return t, version, int(length) - (FrameHeader - 4), nil
}

// decodePayload decodes a frame of a known type.
func decodePayload(t frameType, version uint8, payload []byte) (Frame, error) {
	if t.Checked() && version >= ChecksumSince {
		n := len(payload) - ChecksumSize
		if n < 0 {
			return nil, &FrameError{Type: t, Err: errShort}
		}
		if got, want := Checksum(t, version, payload[:n]), binary.LittleEndian.Uint32(payload[n:]); got != want {
			return nil, &FrameError{Type: t, Err: fmt.Errorf("its checksum is %#x, want %#x: bytes were changed on the way", want, got)}
		}
		payload = payload[:n]
	}
	f := FrameKinds[t].newFrame()
	c := coder{mode: decoding, buf: payload}
	f.code(&c)
	if c.err == nil && len(c.buf) > 0 && version <= ProtocolVersion {
		c.err = fmt.Errorf("%d bytes too many", len(c.buf))
	}
	if c.err != nil {
		return nil, &FrameError{Type: t, Err: c.err}
	}
	return f, nil
}

// FrameReader reads frames of at most limit bytes of payload. It skips the
// optional ones that it does not know.
type FrameReader struct {
	R     io.Reader
	Limit int
	buf   []byte // reused, if it is small: frames hold copies
	Size  int    // of the last frame

	Budget memoryBound // what long frames are counted against; nil: they are not

	Server     uint64 // whose frames they are: the incarnation that WELCOME has told
	Version    uint8  // of the last frame
	header     [FrameHeader]byte
	headerRead bool // header is that of the frame under way
}

// memoryBound is a bound of the memory that clients may take.
type memoryBound interface {
	Take(n, spare int64) bool
	Give(n int64)
}

// Wait waits for a frame's header, which next then takes; it needs little stack.
func (r *FrameReader) Wait() error {
	if _, err := io.ReadFull(r.R, r.header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = &FrameError{Err: errShort}
		}
		return err
	}
	r.headerRead = true
	return nil
}

// Next returns the next frame; io.EOF at the end of the stream, a *FrameError
// for bytes that are none.
func (r *FrameReader) Next() (Frame, error) {
	for {
		if !r.headerRead {
			if err := r.Wait(); err != nil {
				return nil, err
			}
		}
		r.headerRead = false
		t, version, size, err := decodeHeader(r.header, r.Limit)
		if err != nil {
			return nil, err
		}
		if err := r.fill(size); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = &FrameError{Type: t, Err: errShort}
			}
			return nil, err
		}
		if _, known := FrameKinds[t]; !known {
			continue
		}
		r.Version = version
		f, err := decodePayload(t, version, r.buf)
		if size > smallFrame {
			r.buf = nil // big frames are rare: do not keep room for them
		}
		return f, err
	}
}

// fill reads the payload of a frame.
func (r *FrameReader) fill(size int) error {
	if cap(r.buf) > smallFrame && size <= smallFrame {
		r.buf = nil // thousands of clients wait for hours
	}
	if size > smallFrame && r.Budget != nil {
		if !r.Budget.Take(int64(size), 0) {
			return ErrMemory
		}
		defer r.Budget.Give(int64(size))
	}
	if cap(r.buf) < size {
		r.buf = make([]byte, size)
	}
	r.buf, r.Size = r.buf[:size], size
	_, err := io.ReadFull(r.R, r.buf)
	return err
}
