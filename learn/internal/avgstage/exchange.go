// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/job"
)

// Exchange averages the weights or makes the common step, and gathers the records. At the end of a pass it measures
// the validation set.
func (m *Stage) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	own := m.own
	if m.controlled() {
		own[0] = float64(m.shard) // equal in all rounds, so that the control variates add up to 0
	}
	m.all = own
	if m.Job.Total > 1 {
		if err := g.AllReduce(ctx, allreduce.Vec(m.all[:]).Named("examples"), allreduce.Sum); err != nil {
			return err
		}
	}
	if m.counts() && !m.counted {
		return m.Tally.Share(ctx, job.Record{})
	}
	if err := m.combine(ctx, g, float32(own[0])); err != nil {
		return err
	}
	m.vary()
	if err := m.Tally.Share(ctx, job.Record{}); err != nil {
		return err
	}
	if !m.last() {
		return nil
	}
	m.peek()
	return m.Tally.Validate(ctx, m.judge)
}

// peek computes the weights after the outer step, by which the validation set is measured. The step itself belongs to
// Commit, since an exchange may be repeated.
func (m *Stage) peek() {
	if m.outer == nil || m.Tally.Valid == nil {
		return
	}
	if m.peeked == nil {
		m.peeked = make([]float32, len(m.state))
	}
	for i, v := range m.results() {
		m.peeked[i] = m.outer.Peek(i, v)
	}
}

// results returns the memory for the weights after the exchange: that of the contribution where it need not survive.
func (m *Stage) results() []float32 {
	if !m.Job.Keep && !m.controlled() {
		return m.work
	}
	if m.mean == nil {
		m.mean = make([]float32, len(m.state))
	}
	return m.mean
}

// combine makes the results from the contributions of all ranks. own is the weight of this rank's examples.
func (m *Stage) combine(ctx context.Context, g *allreduce.Group, own float32) error {
	dst, total := m.results(), m.all[0]
	ranks := m.Job.Size()
	m.Job.Register(dst)
	switch {
	case total == 0: // no rank has learned
		copy(dst, m.state)
		return nil
	case m.Gradient || ranks == 1:
		copy(dst, m.work)
	default:
		for i, v := range m.work {
			dst[i] = v * own
		}
	}
	sum := g.ReduceScatter
	if m.Whole {
		sum = g.AllReduce
	}
	lo, hi := 0, len(dst)
	if ranks > 1 {
		if err := sum(ctx, allreduce.Vec(dst).Named(m.vector()), allreduce.Sum); err != nil {
			return err
		}
		if !m.Whole {
			lo, hi = g.Segment(len(dst), g.Rank())
		}
	}
	switch part := dst[lo:hi]; {
	case m.Gradient:
		m.Rule.Descend(part, m.state[lo:hi], total, m.steps)
	case ranks > 1:
		for i, v := range part {
			part[i] = float32(float64(v) / total)
		}
	}
	if ranks == 1 || m.Whole {
		return nil
	}
	return g.AllGather(ctx, allreduce.Vec(dst).Named("averages"))
}

// vector returns the name of the vector that is summed.
func (m *Stage) vector() string {
	if m.Gradient {
		return "gradient"
	}
	return "weights"
}

// turn makes the results the state. The previous state becomes the memory of the next results. With outer steps the
// results stay, since a rank that is behind may ask for them.
func (m *Stage) turn() {
	results := m.results()
	switch {
	case m.outer != nil:
		for i, v := range results {
			m.state[i] = m.outer.Next(i, v)
		}
	case m.Job.Keep || m.controlled():
		m.state, m.mean = m.mean, m.state
	case m.Gradient:
		m.state, m.work = m.work, m.state
	}
}
