// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/wire"
)

// A frame on the wire:
//
//	 0      4     5       6      8
//	┌──────┬─────┬───────┬──────┬─────────┐
//	│length│type │version│flags │ payload │
//	└──────┴─────┴───────┴──────┴─────────┘
//
// All numbers are little endian. length is the number of the bytes that follow it, at least 4. A
// stream of frames therefore never begins with four zero bytes, by which vw's own server refuses a
// client. docs/protocol.md has the payloads.
const (
	FrameHeader = 8
	// ProtocolVersion is the version of all bytes that pass between a rank and the server, or
	// between ranks. It is raised when any of them changes. All participants of a job have the same
	// version: the first frames contain it, and a participant with another version is refused.
	//
	//	1  the first version
	//	2  EPOCH_START has the address at which the server saw each rank; between ranks the
	//	   header of a collective has its schedule and the name of its operation
	//	3  FAIL and EPOCH_END carry the failure itself, in addition to its description; between
	//	   ranks there are the messages of pipes
	//	4  proofs: WELCOME requests one, PROOF and AUTH_OK carry them, and ranks send proofs
	//	   instead of the token; JOIN and CANCEL name the job's owner
	//	5  a JOIN without a rank, from a spare, and ASSIGN
	//	6  frames between ranks that share a secret have tags instead of checksums, and
	//	   transfers of missing data are sealed
	//	7  elastic jobs: JOIN has the start time-out, JOINED and MEMBERS name excluded ranks
	//	8  the frames of a handshake end in a checksum
	ProtocolVersion = 8

	// ChecksumSince is the first version in which the frames of a handshake have a checksum.
	ChecksumSince = 8
	ChecksumSize  = 4
)

// Checked reports whether a frame's payload ends in a checksum. These are the frames up to the
// admission to a job, which may be sent before a connection is sealed.
func (t frameType) Checked() bool {
	switch t {
	case TypeJoin, typeCancel, typeWelcome, typeJoined, typeRefused:
		return true
	}
	return false
}

// Checksum returns the CRC-32C of a frame's type, its version and its payload without the checksum.
func Checksum(t frameType, version uint8, payload []byte) uint32 {
	return crc32c.Update(crc32c.Checksum([]byte{byte(t), version}), payload)
}

// The hello of the native protocol consists of three u64: magic, 1, 1. vw's own server reads it as
// rank 1 of a job with 1 rank, and refuses it.
const (
	HelloSize = 24
	// HelloMagic is "\x89gvw\r\n\x1a\n" on the wire. Like the magic of PNG files it detects
	// transfers that change line ends or the eighth bit.
	HelloMagic = 0x0a1a0a0d77766789
	HelloTotal = 1
	HelloRank  = 1
)

// AppendHello appends the first bytes that a client of the native protocol sends.
func AppendHello(dst []byte) []byte {
	for _, v := range [3]uint64{HelloMagic, HelloTotal, HelloRank} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// frameType is the fifth byte of a frame. A receiver refuses unknown types below optionalFrames,
// and skips unknown types from there on.
type frameType uint8

// fromServer is the bit of the types that the server sends; the others are sent by ranks.
const fromServer frameType = 64

// The types.
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

	// A server of the same version may lack the following types: it skips them.
	typeEvents      frameType = 130
	typeTraffic     frameType = 131
	typeClock       frameType = 132
	typeLog         frameType = 133
	typeLogRequest  frameType = 134
	typeCollect     frameType = 192
	typeVerdict     frameType = 193
	typeClockAnswer frameType = 194
	typeLogs        frameType = 195
)

// Frame is a message of the native protocol. Its fields are exported and may be set and read
// without restrictions; AppendFrame reports values that exceed the limits of the protocol.
type Frame interface {
	code(*wire.Coder)
}

// frameKind is a row of the table of frames.
type frameKind struct {
	name     string
	Limit    int // largest payload, in bytes
	newFrame func() Frame
}

const (
	usualFrame = 64 // holds HEARTBEAT_ACK with its header
	smallFrame = 4 << 10
	MaxPayload = 16 << 20 // only from the server: the members of a job, the list of jobs
)

// FrameKinds is the table of frames, the only place that relates a type's number, name, limit and
// Go type.
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
	typeEvents:       {"EVENTS", eventsLimit, newOf[EventsFrame]},
	typeTraffic:      {"TRAFFIC", smallFrame, newOf[TrafficFrame]},
	typeClock:        {"CLOCK", smallFrame, newOf[ClockFrame]},
	typeCollect:      {"COLLECT", smallFrame, newOf[CollectFrame]},
	typeVerdict:      {"VERDICT", smallFrame, newOf[VerdictFrame]},
	typeClockAnswer:  {"CLOCK_ANSWER", smallFrame, newOf[ClockAnswerFrame]},
	typeLog:          {"LOG", smallFrame, newOf[LogFrame]},
	typeLogRequest:   {"LOG_REQUEST", smallFrame, newOf[LogRequestFrame]},
	typeLogs:         {"LOGS", MaxPayload, newOf[LogsFrame]},
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

// AppendFrame appends the encoding of f. It fails if a field or the payload exceeds its limit; dst
// is then returned unchanged.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	t := TypeOf(f)
	if dst == nil {
		dst = make([]byte, 0, usualFrame)
	}
	start := len(dst)
	c := wire.Encode(append(dst, 0, 0, 0, 0, byte(t), ProtocolVersion, 0, 0))
	f.code(&c)
	b, err := c.Bytes(), c.Err()
	if err == nil && t.Checked() {
		b = binary.LittleEndian.AppendUint32(b, Checksum(t, ProtocolVersion, b[start+FrameHeader:]))
	}
	n := len(b) - start - FrameHeader
	if err == nil && n > FrameKinds[t].Limit {
		err = fmt.Errorf("its payload has %d bytes, the limit is %d", n, FrameKinds[t].Limit)
	}
	if err != nil {
		return dst, fmt.Errorf("spantree: cannot write a %v frame: %w", t, err)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(n+FrameHeader-4))
	return b, nil
}

// FrameError reports bytes that are no valid frame.
type FrameError struct {
	Type frameType // 0: the bytes end before the type, or have none
	Err  error
}

func (e *FrameError) Error() string {
	if e.Type == 0 {
		return fmt.Sprintf("no frame of the native protocol: %v", e.Err)
	}
	return fmt.Sprintf("malformed %v frame: %v", e.Type, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }

// decodeHeader decodes the first 8 bytes of a frame. It returns the size of the payload, which is
// within both limits: that of the type, and the caller's.
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

// decodePayload decodes a frame of a known type. A payload of a newer version may have more fields
// at its end, which are skipped. keeps means that the payload belongs to the frame.
func decodePayload(t frameType, version uint8, payload []byte, keeps bool) (Frame, error) {
	if t.Checked() && version >= ChecksumSince {
		n := len(payload) - ChecksumSize
		if n < 0 {
			return nil, &FrameError{Type: t, Err: wire.ErrShort}
		}
		if got, want := Checksum(t, version, payload[:n]), binary.LittleEndian.Uint32(payload[n:]); got != want {
			return nil, &FrameError{Type: t, Err: fmt.Errorf("its checksum is %#x, want %#x: bytes were changed on the way", want, got)}
		}
		payload = payload[:n]
	}
	f := FrameKinds[t].newFrame()
	c := wire.Decode(payload)
	if keeps {
		c = wire.DecodeKept(payload)
	}
	f.code(&c)
	err := c.Err()
	if version <= ProtocolVersion {
		err = c.End()
	}
	if err != nil {
		return nil, &FrameError{Type: t, Err: err}
	}
	return f, nil
}

// FrameReader reads frames with payloads of at most Limit bytes. It skips unknown optional frames.
// It is not safe for concurrent use.
type FrameReader struct {
	R     io.Reader
	Limit int
	buf   []byte // payload buffer, reused while small; decoded frames hold copies
	Size  int    // of the last frame's payload, in bytes

	Budget memoryBound // from which long frames take memory; nil: unlimited

	Server     uint64 // incarnation of the server that sends the frames, as in WELCOME
	MaxFrame   int    // largest payload that this server accepts, in bytes, as in WELCOME
	Version    uint8  // of the last frame
	header     [FrameHeader]byte
	headerRead bool // header contains that of the next frame

	readsAhead bool
	ahead      []byte // the part of window that is not used yet
	window     [windowSize]byte
}

// windowSize is the number of bytes that are read ahead: a usual HEARTBEAT. Thousands of idle
// connections have this memory.
const windowSize = 112

// memoryBound limits the memory that clients may occupy. Take reports whether n bytes were granted
// such that at least spare bytes remain; Give returns n bytes.
type memoryBound interface {
	Take(n, spare int64) bool
	Give(n int64)
}

// Wait waits for the header of the next frame, which Next then uses. Unlike Next it needs little
// stack, so that an idle connection is cheap.
func (r *FrameReader) Wait() error {
	if err := r.readFull(r.header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = &FrameError{Err: wire.ErrShort}
		}
		return err
	}
	r.headerRead = true
	return nil
}

// Next returns the next frame. It returns io.EOF at the end of the stream, and a *FrameError for
// invalid bytes.
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
		payload, err := r.payload(size)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = &FrameError{Type: t, Err: wire.ErrShort}
			}
			return nil, err
		}
		if _, known := FrameKinds[t]; !known {
			continue
		}
		r.Version = version
		large := size > smallFrame
		if large {
			r.buf = nil // large frames are rare, and may keep their bytes
		}
		return decodePayload(t, version, payload, large)
	}
}

// payload reads the payload of a frame, which is valid until the next read. It takes memory from
// the budget while a long one is read.
func (r *FrameReader) payload(size int) ([]byte, error) {
	if r.Size = size; r.readsAhead && size <= len(r.window) {
		return r.next(size)
	}
	if cap(r.buf) > smallFrame && size <= smallFrame {
		r.buf = nil // thousands of clients wait for hours
	}
	if size > smallFrame && r.Budget != nil {
		if !r.Budget.Take(int64(size), 0) {
			return nil, ErrMemory
		}
		defer r.Budget.Give(int64(size))
	}
	if cap(r.buf) < size {
		r.buf = make([]byte, size)
	}
	r.buf = r.buf[:size]
	return r.buf, r.readFull(r.buf)
}

// ReadAhead lets one read return more than one frame. From now on only the FrameReader may read
// from R, and R must not change. It is called between two frames.
func (r *FrameReader) ReadAhead() { r.readsAhead, r.buf = true, nil }

// readFull fills b as io.ReadFull does.
func (r *FrameReader) readFull(b []byte) error {
	if r.readsAhead && len(b) <= len(r.window) {
		part, err := r.next(len(b))
		copy(b, part)
		return err
	}
	n := copy(b, r.ahead)
	r.ahead = r.ahead[n:]
	_, err := io.ReadFull(r.R, b[n:])
	if err == io.EOF && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// next returns the next n bytes, at most windowSize, which are valid until the next read. If they
// have not been read ahead, it reads as many bytes as fit.
func (r *FrameReader) next(n int) ([]byte, error) {
	if len(r.ahead) < n {
		have := copy(r.window[:], r.ahead)
		got, err := io.ReadAtLeast(r.R, r.window[have:], n-have)
		r.ahead = r.window[:have+got]
		if err != nil {
			if err == io.EOF && have > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	part := r.ahead[:n]
	r.ahead = r.ahead[n:]
	return part, nil
}
