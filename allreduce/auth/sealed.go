// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"sync"
)

// A sealed connection carries a sequence of records in each direction:
//
//	offset  size  field
//	     0     4  length of the payload, little endian, 1 to 65536
//	     4    16  code
//	    20     …  payload
//
// The code is the first half of an HMAC-SHA-256 under the key of the direction. It
// covers the record's number, counted from 0 (8 bytes), its length (4) and its payload.
const (
	sealHead   = 20
	sealCode   = 16
	sealRecord = 64 << 10
	// sealKept is the size in bytes of the buffer that an idle connection keeps. A server
	// has thousands of connections that are idle for hours.
	sealKept = 1 << 10
)

// ErrSeal ends a sealed connection whose bytes differ from those that the other side
// has written.
var ErrSeal = errors.New("the seal is broken: bytes were changed or omitted in transit, or are of another conversation")

// Seal returns a connection on which both sides detect every change. The other side must
// call Seal, too. The returned connection takes over reading and writing of c.
func (x Exchange) Seal(c net.Conn, as Role) net.Conn {
	return &sealed{Conn: c, in: x.sealer(as.Other()), out: x.sealer(as)}
}

func (x Exchange) sealer(by Role) sealer {
	key := derive(x.key[:], "seal of the "+string(by))
	return sealer{mac: hmac.New(sha256.New, key[:])}
}

// sealer computes the codes of one direction.
type sealer struct {
	mac    hash.Hash
	number uint64 // of the next record
	buf    [sha256.Size]byte
}

// code returns the code of the next record.
func (s *sealer) code(payload []byte) []byte {
	s.mac.Reset()
	binary.LittleEndian.PutUint64(s.buf[:], s.number)
	binary.LittleEndian.PutUint32(s.buf[8:], uint32(len(payload)))
	s.number++
	s.mac.Write(s.buf[:12])
	s.mac.Write(payload)
	return s.mac.Sum(s.buf[:0])[:sealCode]
}

// sealed is a connection that reads and writes sealed records.
type sealed struct {
	net.Conn

	reading sync.Mutex // guards the fields up to broken
	in      sealer
	head    [sealHead]byte
	got     int    // bytes of head that have been read
	left    []byte // unread bytes of the current record, which has been checked
	room    []byte // the payload of the current record
	filled  int    // bytes of room that have been read
	broken  error  // the error of all later reads; nil: none

	writing sync.Mutex // guards the fields below
	out     sealer
	buf     []byte // a record to write
}

// Read returns bytes of records that have been checked. After a deadline within a record,
// the next Read continues there.
func (s *sealed) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for len(s.left) == 0 {
		if s.broken != nil {
			return 0, s.broken
		}
		if len(b) == 0 {
			return 0, nil
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.left)
	if s.left = s.left[n:]; len(s.left) == 0 && cap(s.room) > sealKept {
		s.room, s.left = nil, nil
	}
	return n, nil
}

// next reads and checks the next record.
func (s *sealed) next() error {
	for s.got < sealHead {
		n, err := s.Conn.Read(s.head[s.got:])
		if s.got += n; s.got < sealHead && err != nil {
			return s.ended(err, s.got > 0)
		}
	}
	size := binary.LittleEndian.Uint32(s.head[:])
	if size == 0 || size > sealRecord {
		s.broken = fmt.Errorf("%w (a record of %d bytes)", ErrSeal, size)
		return s.broken
	}
	if cap(s.room) < int(size) {
		s.room = make([]byte, size)
	}
	s.room = s.room[:size]
	for s.filled < int(size) {
		n, err := s.Conn.Read(s.room[s.filled:])
		if s.filled += n; s.filled < int(size) && err != nil {
			return s.ended(err, true)
		}
	}
	s.got, s.filled = 0, 0
	if !hmac.Equal(s.in.code(s.room), s.head[4:]) {
		s.broken = ErrSeal
		return s.broken
	}
	s.left = s.room
	return nil
}

// ended converts the end of the stream within a record to io.ErrUnexpectedEOF.
func (s *sealed) ended(err error, within bool) error {
	if within && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write writes b in as few records as possible.
func (s *sealed) Write(b []byte) (written int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for len(b) > 0 {
		part := b[:min(len(b), sealRecord)]
		s.buf = binary.LittleEndian.AppendUint32(s.buf[:0], uint32(len(part)))
		s.buf = append(s.buf, s.out.code(part)...)
		s.buf = append(s.buf, part...)
		_, err := s.Conn.Write(s.buf)
		if cap(s.buf) > sealKept {
			s.buf = nil
		}
		if err != nil {
			return written, err
		}
		written, b = written+len(part), b[len(part):]
	}
	return written, nil
}

// CloseWrite closes this side's direction, if the connection supports that.
func (s *sealed) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
