// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/optim/newton"
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
// optimum after one pass of SGD. Ill-conditioned data needs more of both, by all three solvers.
type needs struct{ passes, vectors float64 }

// class is a kind of data, by its numbers of examples and features. A class lacks the solvers that did
// not reach the optimum. The figures are rounded from runs on a9a and kdd99, assist2015, imdb and
// 20news-bin, in this order, on 4 ranks: see docs/solvers.md.
type class struct {
	has   func(examples, features float64) bool
	needs map[Method]needs
}

var classes = []class{
	// The Hessian fits into a matrix, whose all-reduce counts as a vector. A pass that adds it up
	// counts twice.
	{func(_, n float64) bool { return n <= newton.MaxFeatures }, map[Method]needs{Pairs: {20, 20}, Newton: {7, 7}, GIANT: {60, 13}}},
	// A sample has the Hessian of all, and so has a shard.
	{func(e, n float64) bool { return e >= 4*n }, map[Method]needs{Pairs: {15, 15}, Newton: {5, 26}, GIANT: {40, 5}}},
	{func(e, n float64) bool { return e >= n/5 }, map[Method]needs{Pairs: {21, 21}, Newton: {21, 75}, GIANT: {40, 5}}},
	// A shard or a sample has too few examples for the Hessian of so many features.
	{func(_, _ float64) bool { return true }, map[Method]needs{Pairs: {64, 64}}},
}

// defaultSample is the share of the examples in products, if Auto chooses Newton.
const defaultSample = 0.1

// best returns the solver with the least expected time.
func (k *costs) best(features int) Method {
	i := slices.IndexFunc(classes, func(c class) bool { return c.has(k.examples, float64(features)) })
	chosen, least := Pairs, math.Inf(1)
	for _, m := range []Method{Pairs, Newton, GIANT} {
		n, ok := classes[i].needs[m]
		if t := float64(n.passes*k.pass) + float64(n.vectors*k.reduce); ok && t < least {
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
	method := k.best(features)
	if method == Newton && features > newton.MaxFeatures && m.Config.Sample == 0 {
		m.Config.Sample = defaultSample
	}
	if err := m.become(method); err != nil {
		return err
	}
	m.Read.Log.Info("the solver is chosen by the times of the first pass", slog.String("solver", m.Config.name()),
		slog.Float64("pass_seconds", k.pass), slog.Float64("allreduce_seconds", k.reduce),
		slog.Float64("examples", k.examples), slog.Int("features", features))
	return nil
}

// become replaces the solver by one of the method, which starts at the same weights. It keeps the
// sums of the first pass that the solver needs.
func (m *Batch) become(method Method) (err error) {
	c, q := &m.Config, m.acc.quadratic
	c.Method = method
	if m.acc.quadratic = c.quadratic(); m.acc.quadratic != nil && q != nil {
		q.fraction = m.acc.quadratic.fraction
		if m.acc.quadratic = q; !q.sampled() {
			q.kept = feature.Batch{}
		}
	}
	if method != Pairs {
		m.solver, err = c.solver(m.solver.Weights(), m.Passes)
	}
	return err
}
