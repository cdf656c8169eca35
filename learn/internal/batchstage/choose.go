// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// costs are the figures by which Auto chooses a solver, equal on all ranks.
type costs struct {
	pass     float64 // seconds of a pass over the slowest shard
	reduce   float64 // seconds of an all-reduce of one vector; 0: there is one rank
	examples float64 // of all ranks
}

// code codes the figures.
func (k *costs) code(c *snapshot.Coder) {
	for _, v := range []*float64{&k.pass, &k.reduce, &k.examples} {
		c.F64("costs of a step", v)
	}
}

// needs are the passes and the all-reduced vectors that a solver needs to come within 0.1 % of the
// optimum after one pass of SGD. They are rounded from runs on a9a and assist2015 (many examples)
// and on imdb (few). Ill-conditioned data needs more of both, by all three solvers.
type needs struct{ passes, vectors float64 }

var (
	// With at least wide examples for each feature, a sample has the Hessian of all, and so has a
	// shard.
	manyExamples = map[Method]needs{Pairs: {12, 13}, Newton: {5, 22}, GIANT: {30, 5}}
	fewExamples  = map[Method]needs{Pairs: {11, 12}, Newton: {14, 60}, GIANT: {40, 7}}
)

const wide = 4

// defaultSample is the share of the examples in products, if Auto chooses Newton.
const defaultSample = 0.1

// best returns the solver with the least expected time.
func (k *costs) best(features int) Method {
	table := fewExamples
	if k.examples >= float64(wide*features) {
		table = manyExamples
	}
	chosen, least := Pairs, math.Inf(1)
	for _, m := range []Method{Pairs, Newton, GIANT} {
		n := table[m]
		if t := float64(n.passes*k.pass) + float64(n.vectors*k.reduce); t < least {
			chosen, least = m, t
		}
	}
	return chosen
}

// timed calls f, and sets seconds to the time that it took.
func timed(seconds *float64, f func() error) error {
	begun := time.Now()
	err := f()
	*seconds = time.Since(begun).Seconds()
	return err
}

// share makes the figures those of all ranks: the pass of the slowest rank, and the all-reduce of
// the rank that waited least for the others.
func (k *costs) share(ctx context.Context, g *allreduce.Group) error {
	v := [2]float64{k.pass, -k.reduce}
	if err := g.AllReduce(ctx, allreduce.Vec(v[:]).Named("times of a step"), allreduce.Max); err != nil {
		return err
	}
	k.pass, k.reduce = v[0], -v[1]
	n := [1]float64{k.examples}
	err := g.AllReduce(ctx, allreduce.Vec(n[:]).Named("examples"), allreduce.Sum)
	k.examples = n[0]
	return err
}

// choose replaces Auto by the solver with the least expected time, before the sums of the first
// pass are accepted. All ranks have the same figures. The choice belongs to the state.
func (m *Batch) choose() error {
	features := 0
	for _, h := range m.sums.Diagonal {
		if h > 0 {
			features++
		}
	}
	k := &m.costs
	if err := m.become(k.best(features)); err != nil {
		return err
	}
	m.Read.Log.Info("the solver is chosen by the times of the first pass", slog.String("solver", m.Config.name()),
		slog.Float64("pass_seconds", k.pass), slog.Float64("allreduce_seconds", k.reduce),
		slog.Float64("examples", k.examples), slog.Int("features", features))
	return nil
}

// become replaces the solver by one of the method, which starts at the same weights.
func (m *Batch) become(method Method) (err error) {
	c := &m.Config
	if c.Method = method; method == Newton && c.Sample == 0 {
		c.Sample = defaultSample
	}
	m.acc.quadratic = c.quadratic()
	if method != Pairs {
		m.solver, err = c.solver(m.solver.Weights(), m.Passes)
	}
	return err
}
