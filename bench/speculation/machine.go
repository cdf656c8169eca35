// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// machine is the work of one rank: a pass is a sleep, and the vectors summed after it depend on
// all passes before, so that a wrong one changes the final state.
type machine struct {
	rank, passes int
	pass         func(n int) time.Duration    // returns how long pass n (from 1) takes here
	working      func(at time.Time, on bool)  // called when the work of a pass begins, and when it has ended
	committed    func(n int, ready time.Time) // called when a pass ends, with the time when this rank was ready for it

	done  int
	ready time.Time // when the work of the pass under way was done
	w     []float32 // the state
	part  []float32 // this rank's contribution
	sums  []float32 // the results
	rows  [][]byte
	own   bool // whether sums are those of the newest pass
	g     *allreduce.Group
}

var _ allreduce.Recoverable = (*machine)(nil)

func newMachine(o *order) *machine {
	return &machine{
		rank: o.Rank, passes: o.Passes,
		w: make([]float32, o.Floats), part: make([]float32, o.Floats), sums: make([]float32, o.Floats),
	}
}

func (m *machine) Next() (string, bool) {
	return fmt.Sprintf("pass %d of %d", m.done+1, m.passes), m.done < m.passes
}

func (m *machine) Keep(bool) {}

// Work sleeps as long as the pass takes. An injected fault may add to it, so Exchange notes its end.
func (m *machine) Work(ctx context.Context) error {
	m.ready = time.Time{}
	m.working(time.Now(), true)
	timer := time.NewTimer(m.pass(m.done + 1))
	defer timer.Stop()
	for i := range m.part {
		m.part[i] = m.w[i]/4 + float32((m.rank*31+m.done*7+i)%101)
	}
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Exchange sums the vectors.
func (m *machine) Exchange(ctx context.Context, g *allreduce.Group) error {
	m.g, m.own = g, false
	if m.ready.IsZero() {
		m.ready = time.Now()
		m.working(m.ready, false)
	}
	// All shards have the same size, so no rank is slow because of its share.
	if err := g.Ready(ctx, protocol.Shard{Examples: 1000, Bytes: 1 << 20}); err != nil {
		return err
	}
	if err := g.AllReduceInto(ctx, allreduce.Vec(m.sums), allreduce.Vec(m.part).Named("contribution"), allreduce.Sum); err != nil {
		return err
	}
	var err error
	m.rows, err = g.AllGatherV(ctx, m.rows, fmt.Appendf(nil, "rank %d", m.rank))
	m.own = err == nil
	return err
}

func (m *machine) Commit() error {
	for i, s := range m.sums {
		m.w[i] = s / 1024
	}
	m.done++
	m.committed(m.done, m.ready)
	if m.g != nil {
		m.g.Report(protocol.Progress{Pass: uint32(m.done), Step: "pass"})
	}
	return nil
}

func (m *machine) WriteState(w io.Writer) error {
	return errors.Join(binary.Write(w, binary.LittleEndian, int64(m.done)), binary.Write(w, binary.LittleEndian, m.w))
}

func (m *machine) ReadState(r io.Reader) error {
	var done int64
	if err := binary.Read(r, binary.LittleEndian, &done); err != nil {
		return err
	}
	if done < 0 || done > int64(m.passes) {
		return fmt.Errorf("speculation: rank %d: a state of %d passes, there are %d", m.rank, done, m.passes)
	}
	m.done, m.own = int(done), false
	return binary.Read(r, binary.LittleEndian, m.w)
}

func (m *machine) WriteResults(w io.Writer) error {
	if !m.own {
		return allreduce.ErrNoResults
	}
	return binary.Write(w, binary.LittleEndian, m.sums)
}

func (m *machine) ReadResults(r io.Reader) error {
	m.own = true
	return binary.Read(r, binary.LittleEndian, m.sums)
}

// digest returns the SHA-256 of the state.
func (m *machine) digest() [32]byte {
	h := sha256.New()
	_ = m.WriteState(h) // cannot fail: a hash accepts all bytes
	return [32]byte(h.Sum(nil))
}
