// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/optim/masgd"
)

// Online is a stage of vw's online learner whose ranks average several times in a pass. A step of the job is a round.
// Steps of the learner, averages and models are those of [sgdstage.Online]: with adaptive sums each rank's weight
// counts by its sum. One process has the same model as without rounds.
type Online struct {
	*sgdstage.Online
	position
	every    masgd.Every
	examples [1]float64 // of all ranks
}

// NewOnline divides the passes of a stage into rounds. The moments must not be random.
func NewOnline(online *sgdstage.Online, every masgd.Every) *Online {
	m := &Online{Online: online, every: every}
	m.cursor = cursor{read: online.Read, visit: online.Visit(context.Background())}
	m.divide()
	return m
}

// counts reports whether the current step counts the examples.
func (m *Online) counts() bool { return !m.every.Pass() && !m.counted }

// divide computes the rounds of a pass.
func (m *Online) divide() {
	if m.rounds = masgd.Even(1); m.counted {
		m.rounds = m.every.Rounds(m.per, 1, 0, 0)
	}
}

// Next returns the name of the next step, and reports whether there is one.
func (m *Online) Next() (string, bool) {
	name, more := m.Online.Next()
	switch {
	case !more:
		return "", false
	case m.counts():
		return countStep, true
	case m.rounds.N() == 1:
		return name, true
	}
	return name + ", " + m.name(), true
}

// Work learns from the examples of a round.
func (m *Online) Work(ctx context.Context) error {
	if m.counts() {
		return m.count(ctx)
	}
	return m.Learn(func() error { return m.read(ctx, m.Tally.RunPasses()) })
}

// Exchange averages the weights and gathers the records. At the end of a pass it measures the validation set.
func (m *Online) Exchange(ctx context.Context, g *allreduce.Group) error {
	switch {
	case m.counts():
		return m.share(ctx, g)
	case m.last():
		return m.Online.Exchange(ctx, g)
	}
	return m.Combine(ctx, g, false)
}

// share adds up the examples of all ranks.
func (m *Online) share(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	m.examples[0] = float64(m.shard)
	if m.Job.Total > 1 {
		if err := g.AllReduce(ctx, allreduce.Vec(m.examples[:]).Named("examples"), allreduce.Sum); err != nil {
			return err
		}
	}
	return m.Share(ctx)
}

// Commit makes the results the state. The last round of a pass ends the pass.
func (m *Online) Commit() error {
	if t := m.Tally; !t.Fixed {
		t.Seen = m.Job.All.Range // also of a rank that another process replaces
	}
	switch {
	case m.counts():
		m.counted, m.per = true, m.examples[0]/float64(m.Job.Size())
		m.divide()
		m.Stay()
		return nil
	case !m.last():
		m.round++
		m.Continue()
		return nil
	}
	m.round = 0
	return m.Online.Commit()
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Online) Shared(c *snapshot.Coder) {
	m.Online.Shared(c)
	if m.code(c); c.Reading() {
		m.check(c, m.divide)
	}
}

// Own codes what only this rank has.
func (m *Online) Own(c *snapshot.Coder) {
	m.Online.Own(c)
	m.codeOwn(c, m.Tally, nil, 0)
}

// Adopt continues from the state that has been read.
func (m *Online) Adopt() error {
	m.adopt(m.Tally)
	return m.Online.Adopt()
}

// Outcome codes the results of a step, except the weights and the records.
func (m *Online) Outcome(c *snapshot.Coder) {
	m.Online.Outcome(c)
	c.F64s("examples", m.examples[:])
}

// OutcomeArrays returns the averaged weights.
func (m *Online) OutcomeArrays() []snapshot.Array {
	if m.counts() {
		return nil
	}
	return m.Online.OutcomeArrays()
}
