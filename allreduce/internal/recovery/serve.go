// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Serve sends the rank from what it asks for over c, at the start of the epoch of w, while this
// rank's own work continues. An error that is [mesh.ErrNotYet] means that the other rank tries
// again.
func (s *Steps) Serve(c net.Conn, from int, w *client.Wiring) error {
	var b [requestSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return err
	}
	asked, err := decodeRequest(b[:])
	if err != nil {
		return err
	}
	out := &frameWriter{c: c, patience: s.cfg.Stall}
	content, err := s.copied(asked, w.Epoch)
	switch {
	case errors.Is(err, ErrNoResults):
		return out.frame(frameStateOnly, nil)
	case err != nil:
		return errors.Join(mesh.ErrNotYet, out.frame(frameRefused, []byte(engine.Clip(err.Error(), maxReason))))
	}
	bw := bufio.NewWriterSize(out, partSize)
	err = content.writeTo(bw)
	if err == nil {
		err = bw.Flush()
	}
	if err == nil {
		err = out.frame(frameEnd, nil)
	}
	if err != nil {
		return fmt.Errorf("sending the %v of step %d to rank %d: %w", asked.what, asked.at.Step, from, err)
	}
	s.cfg.Log.Info("sent what a rank lacked", "rank", s.cfg.Rank, "to", from, "what", asked.what, "step", asked.at.Step)
	s.acks.add(w, from) // also of a rank that asked for results and was sent the state
	return nil
}

// copied returns a copy of what is asked for. No step is committed meanwhile. ErrNoResults: the
// rank must be given the state.
func (s *Steps) copied(asked request, now protocol.Epoch) (*snapshot, error) {
	s.state.RLock()
	defer s.state.RUnlock()
	if err := s.fits(asked, now); err != nil {
		return nil, err
	}
	write := s.machine.WriteState
	if asked.what == protocol.PayloadResults {
		if !s.hasResults() {
			return nil, ErrNoResults
		}
		write = s.machine.WriteResults
	}
	content := new(snapshot)
	return content, content.take(write)
}

// fits returns nil if this rank has what is asked for, and otherwise the reason. now is the newest
// epoch: the server names a rank that is COMPLETE by it, not by the epoch of its last step.
func (s *Steps) fits(asked request, now protocol.Epoch) error {
	at := s.at()
	switch {
	case s.machine == nil, s.isInvalid():
		return errors.New("this rank has no state")
	case asked.what != protocol.PayloadResults && asked.what != protocol.PayloadState:
		return fmt.Errorf("%v cannot be had from here", asked.what)
	case at.Step != asked.at.Step || at.Epoch != asked.at.Epoch && asked.at.Epoch != now:
		return fmt.Errorf("step %d of epoch %v is asked for, this rank is at step %d of epoch %v", asked.at.Step, asked.at.Epoch, at.Step, at.Epoch)
	}
	return nil
}

// frameWriter writes bytes as frames of at most partSize bytes, each with its own deadline.
type frameWriter struct {
	c        net.Conn
	patience time.Duration
	head     []byte
}

func (w *frameWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		part := b[n:min(len(b), n+partSize)]
		if err = w.frame(link.FrameData, part); err == nil {
			n += len(part)
		}
	}
	return n, err
}

func (w *frameWriter) frame(kind byte, b []byte) error {
	f := link.Frame{Kind: kind, Flags: link.FlagSum, Length: uint32(len(b)), Sum: crc32c.Checksum(b)}
	w.head = f.Append(w.head[:0])
	w.c.SetDeadline(time.Now().Add(w.patience))
	if len(b) == 0 { // after the last frame the peer may have closed the connection before a write of no bytes
		_, err := w.c.Write(w.head)
		return err
	}
	bufs := net.Buffers{w.head, b}
	_, err := bufs.WriteTo(w.c)
	return err
}
