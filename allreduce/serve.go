// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// meshed is the Group of a mesh.
type meshed struct{ group *Group }

var _ mesh.Owner = meshed{}

func (m meshed) Current() (*client.Wiring, *mesh.Epoch) {
	e := m.group.now()
	return e.wiring, e.conns
}

func (m meshed) Newest() *client.Wiring { return m.group.member.Newest() }

func (m meshed) Serve(c net.Conn, from int, w *client.Wiring) error {
	return m.group.steps.serve(c, from, w)
}

// serve sends a rank what it lacks, while this rank's own Work goes on.
func (s *steps) serve(c net.Conn, from int, w *client.Wiring) error {
	g := s.group
	var b [wantSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return err
	}
	asked := decodeWant(b[:])
	out := &giveWriter{c: c, patience: g.cfg.Stall}
	content, err := s.copied(asked, w.Epoch)
	switch {
	case errors.Is(err, ErrNoResults):
		return out.frame(frameElse, nil)
	case err != nil:
		return errors.Join(mesh.ErrNotYet, out.frame(frameNo, []byte(engine.Clip(err.Error(), maxNo))))
	}
	bw := bufio.NewWriterSize(out, takePart)
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
	g.log.Info("sent what a rank lacked", "rank", g.cfg.Rank, "to", from, "what", asked.what, "step", asked.at.Step)
	// Who was to get results, and heard that there is the state alone, has got that.
	s.paid(w, from)
	return nil
}

// copied returns a copy of what is asked for. No step is committed meanwhile. ErrNoResults: the
// rank must be given the state.
func (s *steps) copied(asked want, now protocol.Epoch) (*snapshot, error) {
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

// fits says whether this rank has what is asked for. now is the newest epoch: a rank
// that is COMPLETE is known by it, in whatever epoch its last step was.
func (s *steps) fits(asked want, now protocol.Epoch) error {
	at := s.at()
	switch {
	case s.machine == nil, s.isSpoilt():
		return errors.New("this rank has no state")
	case asked.what != protocol.PayloadResults && asked.what != protocol.PayloadState:
		return fmt.Errorf("%v cannot be had from here", asked.what)
	case at.Step != asked.at.Step || at.Epoch != asked.at.Epoch && asked.at.Epoch != now:
		return fmt.Errorf("step %d of epoch %v is asked for, this rank is at step %d of epoch %v", asked.at.Step, asked.at.Epoch, at.Step, at.Epoch)
	}
	return nil
}

// paid notes that a rank has this rank's results, for the epoch of w. This rank may
// still be on its way into that epoch.
func (s *steps) paid(w *client.Wiring, rank int) {
	g := s.group
	g.mu.Lock()
	e := g.epoch
	early := e.wiring != w
	if early {
		if g.early == nil {
			g.early = map[*client.Wiring][]int{}
		}
		g.early[w] = append(g.early[w], rank)
	}
	g.mu.Unlock()
	if !early {
		e.debts.pay(rank)
	}
}

// giveWriter writes what it is given as frames.
type giveWriter struct {
	c        net.Conn
	patience time.Duration
	head     []byte
}

func (w *giveWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		part := b[n:min(len(b), n+takePart)]
		if err = w.frame(link.FrameData, part); err == nil {
			n += len(part)
		}
	}
	return n, err
}

func (w *giveWriter) frame(kind byte, b []byte) error {
	f := link.Frame{Kind: kind, Flags: link.FlagSum, Length: uint32(len(b)), Sum: link.Checksum(b)}
	w.head = f.Append(w.head[:0])
	w.c.SetDeadline(time.Now().Add(w.patience))
	bufs := net.Buffers{w.head, b}
	_, err := bufs.WriteTo(w.c)
	return err
}
