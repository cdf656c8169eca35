// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/wire"
)

// A rank that lacks the results of a step, or the whole state, takes them from one
// that has them, over a connection of its own. Both greet each other, with hellos that
// have pullMagic; where frames have tags, what follows is sealed (auth.Exchange.Seal).
// Then it sends
//
//	offset  size  field
//	     0     4  term of the epoch in which the step was completed
//	     4     4  number of the epoch
//	     8     8  incarnation of the epoch
//	    16     8  number of the step
//	    24     1  what: 1 results, 2 state
//	    25     7  0
//
// and receives frames: data, each with its checksum, and one of type frameEnd after them; or one
// of type frameRefused with the reason as text; or one of type frameStateOnly. The last means
// that the source has no results any more, or came to the step by taking the state. It can then
// send only the state.
const (
	requestSize = 32

	frameEnd       = 5
	frameRefused   = 6
	frameStateOnly = 7

	// partSize is the most that one frame carries. Each frame must pass within the stall time-out,
	// which bounds the whole transfer: its rate is at least partSize per time-out.
	partSize  = 256 << 10
	maxReason = 512
)

type request struct {
	at   client.Point
	what protocol.Payload
}

func (w request) appendTo(dst []byte) []byte {
	c := wire.Encode(dst)
	w.code(&c)
	return c.Bytes()
}

func (w *request) code(c *wire.Coder) {
	w.at.Epoch.Code(c, "epoch")
	c.U64("step", &w.at.Step)
	c.U8("what", (*uint8)(&w.what))
	c.Skip(7)
}

func decodeRequest(b []byte) (w request, err error) {
	c := wire.Decode(b)
	w.code(&c)
	return w, c.End()
}

// errStateOnly is the source's answer that it has only the state, and no results.
var errStateOnly = errors.New("the other rank has the state, and no results")

// errRefused is the source's refusal: it does not have what is asked for yet, or not any more.
var errRefused = errors.New("the source refused the transfer")

// fetch takes what this rank lacks from the source that the server has named. It tries again until
// it has succeeded or the epoch is over.
func (s *Steps) fetch(ctx context.Context, w *client.Wiring) error {
	began := time.Now()
	s.cfg.Log.Info("taking what this rank lacks", "rank", s.cfg.Rank, "what", w.Missing.Payload, "step", w.Resume.Step, "from", link.RankAt(w.Missing.Source, w.Missing.Address))
	what := w.Missing.Payload
	if what == protocol.PayloadCheckpoint {
		return s.load(w)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := newTransfer()
	defer s.paused(func() string {
		return fmt.Sprintf("the %v of step %d from %s, %v", w.Missing.Payload, w.Resume.Step, link.RankAt(w.Missing.Source, w.Missing.Address), t)
	})()
	watched := make(chan struct{})
	defer func() { <-watched }()
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(watched)
		s.watch(w, t, cancel, done)
	}()
	if what == protocol.PayloadResults && s.isInvalid() {
		what = protocol.PayloadState
	}
	for {
		t.begin()
		err := s.fetchOnce(ctx, w, what, t)
		tries := t.failed(err)
		var unusable *unusableError
		var uncommitted *commitError
		switch {
		case errors.Is(err, errStateOnly) && what == protocol.PayloadResults:
			what = protocol.PayloadState
			continue
		case err == nil:
			s.cfg.Log.Info("this rank has what it lacked", "rank", s.cfg.Rank, "step", w.Resume.Step, "seconds", time.Since(began).Seconds())
			return nil
		case errors.As(err, &unusable), errors.As(err, &uncommitted), s.epochOver():
			return err
		case ctx.Err() != nil:
		case tries%25 == 1:
			s.cfg.Log.Warn("cannot take what this rank lacks yet", "rank", s.cfg.Rank, "from", link.RankAt(w.Missing.Source, w.Missing.Address), "tries", tries, "error", err)
		}
		select {
		case <-time.After(mesh.RedialAfter):
		case <-ctx.Done():
			return fmt.Errorf("rank %d: taking the %v of step %d from %s: %w", s.cfg.Rank, w.Missing.Payload, w.Resume.Step, link.RankAt(w.Missing.Source, w.Missing.Address), context.Cause(ctx))
		}
	}
}

// unusableError means that the machine refuses bytes that have arrived completely. Another
// attempt would fail in the same way.
type unusableError struct{ err error }

func (e *unusableError) Error() string { return e.err.Error() }
func (e *unusableError) Unwrap() error { return e.err }

// commitError is the error of the machine's Commit of results that were taken. The step is completed by
// then, and the state may be half changed: this attempt of the rank cannot continue.
type commitError struct{ err error }

func (e *commitError) Error() string { return e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

func (s *Steps) fetchOnce(ctx context.Context, w *client.Wiring, what protocol.Payload, t *transfer) error {
	return s.job.Pull(ctx, w, w.Missing.Source, w.Missing.Address, func(c net.Conn) error { return s.readFrom(c, w, what, t) })
}

// readFrom asks the source for what this rank lacks over a connection, and reads it.
func (s *Steps) readFrom(c net.Conn, w *client.Wiring, what protocol.Payload, t *transfer) error {
	if _, err := c.Write(request{w.Resume, what}.appendTo(nil)); err != nil {
		return err
	}
	r := &frameReader{c: c, patience: s.cfg.Stall, progress: t}
	s.state.Lock()
	defer s.state.Unlock()
	read := s.machine.ReadState
	if what == protocol.PayloadResults {
		read = s.machine.ReadResults
	}
	if what == protocol.PayloadState {
		s.invalidate()
	}
	t.opens()
	br := bufio.NewReaderSize(r, partSize)
	err := read(br)
	if err == nil {
		_, err = br.Peek(1)
		switch {
		case err == io.EOF:
			err = nil
		case err == nil:
			err = &unusableError{fmt.Errorf("more came than the %v of a step", what)}
		}
	}
	switch {
	case r.err != nil && r.err != io.EOF:
		return r.err
	case err != nil && r.err == io.EOF:
		return &unusableError{fmt.Errorf("rank %d: the %v of step %d from %s: %w", s.cfg.Rank, what, w.Resume.Step, link.RankAt(w.Missing.Source, w.Missing.Address), err)}
	case err != nil:
		return err
	}
	in := s.complete(w.Resume, w.Epoch)
	if what == protocol.PayloadResults {
		if !in {
			return mesh.ErrOver
		}
		if err := s.machine.Commit(); err != nil {
			return &commitError{err}
		}
		return nil
	}
	s.live = nil // the state may be that of fewer ranks
	if !in {
		s.setArrived(w.Resume)
		return mesh.ErrOver
	}
	return nil
}

// frameReader reads the frames of a source as the bytes they carry.
type frameReader struct {
	c        net.Conn
	patience time.Duration
	progress *transfer
	buf      []byte
	left     []byte // of the frame at hand
	err      error  // io.EOF: everything has been read
}

func (r *frameReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.progress.wants()
		r.left, r.err = r.next()
		r.progress.has(len(r.left))
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

// next reads a frame and returns its bytes; they are valid until the next call.
func (r *frameReader) next() ([]byte, error) {
	r.c.SetDeadline(time.Now().Add(r.patience))
	var head [link.FrameSize]byte
	if _, err := io.ReadFull(r.c, head[:]); err != nil {
		return nil, noEOF(err)
	}
	le := binary.LittleEndian
	kind, n, sum := head[0], le.Uint32(head[4:]), le.Uint32(head[8:])
	if n > partSize || kind == frameRefused && n > maxReason || kind >= frameStateOnly && n > 0 || kind == frameEnd && n > 0 {
		return nil, fmt.Errorf("a frame of type %d has %d bytes", kind, n)
	}
	if r.buf == nil {
		r.buf = make([]byte, partSize)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.c, b); err != nil {
		return nil, noEOF(err)
	}
	if crc32c.Checksum(b) != sum {
		return nil, errors.New("the checksum of a part is wrong: bytes have changed on the way")
	}
	switch kind {
	case link.FrameData:
		return b, nil
	case frameEnd:
		return nil, io.EOF
	case frameStateOnly:
		return nil, errStateOnly
	case frameRefused:
		return nil, fmt.Errorf("%w: %s", errRefused, b)
	}
	return nil, fmt.Errorf("a frame of unknown type %d", kind)
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, where the end is too early, and otherwise err.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
