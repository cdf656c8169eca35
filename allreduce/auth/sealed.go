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

// A sealed connection is a sequence of records in each direction:
//
//	offset  size  field
//	     0     4  bytes of the payload, little endian, 1 to 65536
//	     4    16  code
//	    20     …  payload
//
// The code is the first half of the HMAC-SHA-256, under the direction's key, of the
// record's number from 0 (8 bytes), its length (4) and its payload.
const (
	sealHead   = 20
	sealCode   = 16
	sealRecord = 64 << 10
	// sealKept is the room that a connection keeps while nothing comes: thousands of
	// them wait for hours.
	sealKept = 1 << 10
)

// ErrSeal is the end of a sealed connection whose bytes are not those that the other
// side has written.
var ErrSeal = errors.New("the seal is broken: bytes were changed or left out on the way, or come from another conversation")

// Seal makes a connection on which this side, and the other one who does the same,
// notice every change. It takes over reading and writing of c.
func (x Exchange) Seal(c net.Conn, as Role) net.Conn {
	return &sealed{Conn: c, in: x.sealer(as.Other()), out: x.sealer(as)}
}

func (x Exchange) sealer(by Role) sealer {
	key := derive(x.key[:], "seal of the "+string(by))
	return sealer{mac: hmac.New(sha256.New, key[:])}
}

// sealer makes the codes of one direction.
type sealer struct {
	mac    hash.Hash
	number uint64
	buf    [sha256.Size]byte
}

// code is that of the next record.
func (s *sealer) code(payload []byte) []byte {
	s.mac.Reset()
	binary.LittleEndian.PutUint64(s.buf[:], s.number)
	binary.LittleEndian.PutUint32(s.buf[8:], uint32(len(payload)))
	s.number++
	s.mac.Write(s.buf[:12])
	s.mac.Write(payload)
	return s.mac.Sum(s.buf[:0])[:sealCode]
}

type sealed struct {
	net.Conn

	reading sync.Mutex
	in      sealer
	head    [sealHead]byte
	got     int    // bytes of head that have come
	left    []byte // of the newest record, checked
	room    []byte
	filled  int // bytes of room that have come
	broken  error

	writing sync.Mutex
	out     sealer
	buf     []byte
}

// Read returns what has been checked. A deadline in the middle of a record loses
// nothing: the next Read goes on there.
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

// next reads the next record.
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

// ended is err where a record has begun or not.
func (s *sealed) ended(err error, within bool) error {
	if within && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write writes b in as few records as can hold it.
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

// CloseWrite ends this side's direction, where the connection can.
func (s *sealed) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
