// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/malt/internal/snapshot"
)

// A rank that joins a running job takes the values of all vectors, and their counts of updates, from the rank that the
// server names, or from a neighbour in the graphs of the vectors that this rank names (sources.go). The new rank sends
// one byte of request. The source sends a byte stillBusy each second until its program is in a call, so that the values
// do not change, then the byte follows and a snapshot; or the byte elsewhere and other ranks.
const (
	fromNeighbour = 1 // request: your values, unless neighbours of mine have some
	fromYou       = 2 // request: your values

	stillBusy = 0
	follows   = 1
	elsewhere = 2

	// barriers is the number in a snapshot of the count of calls of Barrier.
	barriers = math.MaxUint32

	// partSize is the size of a read or write that must pass within Config.Stall, in bytes.
	partSize = 256 << 10
	// pullAgain is the pause between two attempts to take the values.
	pullAgain = 200 * time.Millisecond
	// busyEvery is the interval of the bytes stillBusy.
	busyEvery = time.Second
)

// inherit takes the values of another rank for a rank that has none. It tries again until it succeeds or the
// membership of w ends, which it reports.
func (g *Group) inherit(ctx context.Context, w *client.Wiring) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	defer func() { <-watched }()
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(watched)
		select {
		case <-g.member.Ended(w):
			cancel(mesh.ErrOver)
		case <-done:
		}
	}()
	source, begun := w.Missing.Source, time.Now()
	request, plan := byte(fromNeighbour), []int{source} // plan: the sources to try
	defer g.pulled()
	for tries := 1; ; tries++ {
		from := plan[0]
		g.setSource(from)
		objects, others, err := g.pull(ctx, w, from, request)
		switch {
		case err == nil && others != nil:
			request, plan = fromYou, append(others, source)
			continue
		case err == nil:
			g.cfg.Log.Info("received the values of a running job", "rank", g.cfg.Rank, "from", from, "objects", len(objects), "seconds", time.Since(begun).Seconds())
			g.adopt(objects)
			return true
		case ctx.Err() != nil:
			return false
		}
		g.cfg.Log.Warn("cannot receive the values of a running job yet", "rank", g.cfg.Rank, "from", from, "tries", tries, "err", err)
		if len(plan) > 1 {
			plan, begun = plan[1:], time.Now()
			continue
		}
		if stalled := time.Since(begun); stalled >= g.cfg.Stall {
			// The server names another source in the next membership.
			g.member.AskAbout(ctx, w, from, protocol.EdgeNoTransfer, fmt.Sprintf("rank %d has received no values from rank %d for %v: %v", g.cfg.Rank, from, stalled.Round(time.Second), err))
			begun = time.Now()
		}
		select {
		case <-time.After(pullAgain):
		case <-ctx.Done():
			return false
		}
	}
}

// setSource notes the rank from which this one is receiving values.
func (g *Group) setSource(from int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pulls, g.source = true, from
}

// pulled notes that this rank receives no values any more.
func (g *Group) pulled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pulls = false
}

// pull asks a rank for its values. It returns a snapshot, or other ranks to ask.
func (g *Group) pull(ctx context.Context, w *client.Wiring, from int, request byte) (objects []snapshot.Object, others []int, err error) {
	err = g.mesh.Pull(ctx, w, from, w.Address(from), func(c net.Conn) (err error) {
		near := patient{c, ctx, g.cfg.Stall}
		if _, err = near.Write([]byte{request}); err != nil {
			return err
		}
		r := bufio.NewReaderSize(near, partSize)
		for {
			switch b, err := r.ReadByte(); {
			case err != nil:
				return err
			case b == follows:
				objects, err = snapshot.Read(r)
				return err
			case b == elsewhere && request == fromNeighbour:
				others, err = readSources(r, w.Members, g.cfg.Rank)
				return err
			case b != stillBusy:
				return fmt.Errorf("got byte %d before the values, want %d or %d", b, stillBusy, follows)
			}
		}
	})
	return objects, others, err
}

// adopt keeps received values until the program creates the vectors.
func (g *Group) adopt(objects []snapshot.Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inherited, g.inherits = map[uint32]snapshot.Object{}, true
	for _, o := range objects {
		if o.ID == barriers {
			g.barriers.Store(o.Iteration) // the other ranks do not wait in earlier ones for this rank
			continue
		}
		g.inherited[o.ID] = o
	}
}

// give sends the values to a rank that has none, as soon as the program is in a call.
func (g *Group) give(c net.Conn, to int, w *client.Wiring) error {
	if g.custody == nil {
		return errors.New("no rank is replaced in a job that aborts or shrinks")
	}
	if !g.progress.hasValues() {
		return mesh.ErrNotYet
	}
	ctx, cancel := context.WithCancelCause(g.ctx)
	defer cancel(nil)
	out := patient{c, ctx, g.cfg.Stall}
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	var request [1]byte
	if _, err := io.ReadFull(out, request[:]); err != nil {
		return fmt.Errorf("reading the request of rank %d: %w", to, err)
	}
	if request[0] == fromNeighbour {
		if better := neighbours(g.graphs(), w.Members, g.cfg.Total, g.cfg.Rank, to); len(better) > 0 {
			_, err := out.Write(appendSources(nil, better))
			return err
		}
	}
	copied := make(chan error, 1)
	var objects []snapshot.Object
	go func() {
		copied <- g.custody.borrow(ctx, func() (err error) {
			objects, err = g.snapshot()
			return err
		})
	}()
	busy := time.NewTicker(busyEvery)
	defer busy.Stop()
	for waiting := true; waiting; {
		var err error
		select {
		case err = <-copied:
			waiting = false
		case <-g.member.Ended(w):
			err = mesh.ErrOver
		case <-busy.C:
			_, err = out.Write([]byte{stillBusy})
		}
		if err != nil {
			cancel(err)
			if waiting {
				<-copied
			}
			return err
		}
	}
	b := bufio.NewWriterSize(out, partSize)
	err := b.WriteByte(follows)
	if err == nil {
		err = snapshot.Write(b, objects)
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("sending the values to rank %d: %w", to, err)
	}
	g.cfg.Log.Info("sent the values to a new rank", "rank", g.cfg.Rank, "to", to, "objects", len(objects))
	return nil
}

// graphs returns the graphs of all objects.
func (g *Group) graphs() []*graph.Graph {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]*graph.Graph, 0, len(g.objects))
	for _, o := range g.objects {
		all = append(all, o.graph)
	}
	return all
}

// snapshot copies the state of all objects.
func (g *Group) snapshot() ([]snapshot.Object, error) {
	g.mu.Lock()
	objects := g.objects
	g.mu.Unlock()
	all := make([]snapshot.Object, 0, len(objects)+1)
	all = append(all, snapshot.Object{ID: barriers, Iteration: g.barriers.Load()})
	for _, o := range objects {
		s := snapshot.Object{ID: o.spec.ID, Description: o.spec.Description, Iteration: o.iteration()}
		if o.state != nil {
			var err error
			if s.State, err = o.state(); err != nil {
				return nil, fmt.Errorf("malt: rank %d: %s: copying the values for a new rank: %w", g.cfg.Rank, o.spec.Name, err)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// inherit takes over the state that another rank has sent for this object, if there is one. The group's lock is held.
func (o *object) inherit() error {
	s, ok := o.g.inherited[o.spec.ID]
	if !ok {
		return nil
	}
	delete(o.g.inherited, o.spec.ID)
	if string(s.Description) != string(o.spec.Description) {
		return fmt.Errorf("malt: object %d differs between rank %d and rank %d: %s",
			o.spec.ID, o.g.cfg.Rank, o.g.source, explain(o.spec.Name, o.spec.Description, s.Description))
	}
	o.spec.Rounds.Store(s.Iteration)
	if o.restore == nil {
		return nil
	}
	if err := o.restore(s.State); err != nil {
		return fmt.Errorf("malt: rank %d: %s: the values of rank %d: %w", o.g.cfg.Rank, o.spec.Name, o.g.source, err)
	}
	return nil
}

// patient is a connection whose reads and writes each have a deadline, until ctx ends.
type patient struct {
	net.Conn
	ctx   context.Context
	stall time.Duration
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.extend(); err != nil {
		return 0, err
	}
	return p.Conn.Read(b[:min(len(b), partSize)])
}

func (p patient) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		if err = p.extend(); err != nil {
			break
		}
		var m int
		m, err = p.Conn.Write(b[n:min(len(b), n+partSize)])
		n += m
	}
	return n, err
}

// extend moves the deadline. The end of ctx sets one in the past, before or after this.
func (p patient) extend() error {
	if err := p.Conn.SetDeadline(time.Now().Add(p.stall)); err != nil {
		return err
	}
	return context.Cause(p.ctx)
}
