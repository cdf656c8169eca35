// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/optim/sgd"
)

// shared is the shared vector, as a mixer uses it. The local value of the vector stays 0: the learner's table has
// the values.
type shared interface {
	ScatterValues(ctx context.Context, values []float32) error
	ScatterSparse(ctx context.Context, indices []uint32, values []float32) error
	Gather(ctx context.Context, merge malt.Merger[float32]) (int, error)
}

var _ shared = (*malt.Vector[float32])(nil)

// mixer exchanges the weights of a learner with those of other ranks. See the package documentation.
type mixer struct {
	cfg      Config
	table    weights
	vector   shared
	forwards bool // weights that a merge has changed are sent on
	rank     int

	learned func() // ends a slow-down of the learning since the last exchange, for tests

	since   int     // examples since the last round
	round   uint64  // rounds so far
	changed touched // weights to send in the next round
	whole   touched // weights to send in the next round that sends weights, with Config.Whole
	base    []state // with deltas: the weights after the last round; nil: none
	outer   *outer.Optimizer

	sent    touched // weights that the current round has sent
	indices []uint32
	values  []float32
	union   []entry // weights of the current merge
	merger  malt.Merger[float32]
	at      []uint32 // by weight: its place in union plus 1; 0: none
}

// newMixer returns the mixer of a rank's learner. forwards is for graphs that do not connect all pairs of ranks.
func newMixer(cfg Config, rank int, l *sgd.Learner, rule sgd.Config, vector shared, forwards bool) (*mixer, error) {
	m := &mixer{cfg: cfg, rank: rank, table: newWeights(l, rule), vector: vector, forwards: forwards, learned: func() {}}
	m.merger = func(_ *malt.Vector[float32], in []malt.Incoming[float32]) { m.merge(in) }
	n := m.table.n
	m.changed, m.sent, m.at = newTouched(n), newTouched(n), make([]uint32, n)
	if cfg.Whole > 0 {
		m.whole = newTouched(n)
	}
	if cfg.Send != Models {
		m.base = make([]state, n)
		for i := range m.base {
			m.base[i] = m.table.get(uint32(i))
		}
	}
	if !cfg.Outer.Plain() {
		start := make([]float32, n)
		for i := range start {
			start[i] = l.At(uint32(i))
		}
		var err error
		if m.outer, err = outer.New(cfg.Outer, start); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Learned counts an example, and makes a round after every Config.Every of them.
func (m *mixer) Learned(ctx context.Context, fs []feature.Feature, classes int) error {
	for i := range fs {
		for k := range uint32(classes) {
			m.changed.add(fs[i].Index + k)
		}
	}
	if m.since++; m.since < m.cfg.Every {
		return nil
	}
	return m.exchange(ctx)
}

// flush makes a last round if there are examples since the last one.
func (m *mixer) flush(ctx context.Context) error {
	if m.since == 0 {
		return nil
	}
	return m.exchange(ctx)
}

// exchange makes a round.
func (m *mixer) exchange(ctx context.Context) error {
	m.learned()
	act := fault.At(m.rank, fault.Exchange)
	if err := m.send(ctx); err != nil {
		return fmt.Errorf("exchange %d: cannot send: %w", m.round, err)
	}
	if err := m.receive(ctx); err != nil {
		return fmt.Errorf("exchange %d: cannot receive: %w", m.round, err)
	}
	m.learned = act.Stretch()
	return nil
}

// receive merges what has arrived, and ends the round.
func (m *mixer) receive(ctx context.Context) error {
	n, err := m.vector.Gather(ctx, m.merger)
	if err != nil {
		return err
	}
	if n == 0 && m.outer != nil {
		m.merge(nil) // the mean is that of this rank
	}
	if m.base != nil {
		for _, i := range m.sent.list {
			m.base[i] = m.table.get(i)
		}
	}
	m.sent.clear()
	return nil
}

// sendsWeights reports whether an update, by its number from 1, has weights and not deltas.
func (m *mixer) sendsWeights(iteration uint64) bool {
	return m.cfg.Send == Models || m.cfg.Whole > 0 && iteration%uint64(m.cfg.Whole) == 0
}

// send sends what has changed.
func (m *mixer) send(ctx context.Context) error {
	m.since = 0
	m.round++
	m.changed, m.sent = m.sent, m.changed
	if m.cfg.Whole > 0 {
		for _, i := range m.sent.list {
			m.whole.add(i)
		}
	}
	weights := m.sendsWeights(m.round)
	if weights && m.cfg.Whole > 0 {
		m.sent.clear()
		m.whole, m.sent = m.sent, m.whole
	}
	if !weights {
		m.sent.keep(func(i uint32) bool { return m.table.get(i) != m.base[i] })
	}
	t := &m.table
	list := m.sent.list
	dense := 2*len(list) > t.n
	k := len(list)
	if dense {
		k = t.n
	}
	if need := k * t.slots; cap(m.values) < need {
		m.values = make([]float32, need)
	}
	m.values = m.values[:k*t.slots]
	if dense {
		for i := range t.n {
			t.write(m.values, i, k, m.outgoing(uint32(i), weights))
		}
		return m.vector.ScatterValues(ctx, m.values)
	}
	m.indices = m.indices[:0]
	for slot := range t.slots {
		for _, i := range list {
			m.indices = append(m.indices, uint32(slot*t.n)+i)
		}
	}
	for j, i := range list {
		t.write(m.values, j, k, m.outgoing(i, weights))
	}
	return m.vector.ScatterSparse(ctx, m.indices, m.values)
}

// outgoing returns what an update has of weight i.
func (m *mixer) outgoing(i uint32, weights bool) state {
	s := m.table.get(i)
	if weights {
		return s
	}
	return s.minus(m.base[i])
}

// minus returns what has been learned since an earlier state. The largest value is no difference.
func (s state) minus(base state) state {
	return state{w: s.w - base.w, sum: s.sum - base.sum, largest: s.largest}
}
