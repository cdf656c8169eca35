// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"log/slog"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/newton"
)

// The work of a rank for Newton's method and GIANT.

// effort counts what a process has done for a solver.
type effort struct {
	passes   float64 // over the shard; a product over a sample counts for its share
	vectors  int     // vectors all-reduced
	products int     // with the Hessian, of this rank or of all
	matrices int     // Hessians all-reduced
}

// logEffort logs what the solver has cost.
func (m *Batch) logEffort() {
	if m.Config.Method == Pairs {
		return
	}
	m.Read.Log.Info("the solver has ended", slog.String("solver", m.Config.name()), slog.Float64("passes", m.effort.passes),
		slog.Int("products", m.effort.products), slog.Int("vectors", m.effort.vectors), slog.Int("matrices", m.effort.matrices))
}

// forget drops what was collected for the solver of before.
func (m *Batch) forget() {
	if q := m.acc.quadratic; q != nil {
		q.round, q.start = 0, nil
	}
}

// collect provides the quadratic for a round, with a pass if no pass has collected it.
func (m *Batch) collect(ctx context.Context, req optim.Request) (*quadratic, error) {
	q := m.acc.quadratic
	if q.round == req.Round && q.collected {
		return q, nil
	}
	req.Kind, req.Dir = optim.Local, nil
	return q, m.pass(ctx, req, &optim.Sums{})
}

// product sets dst to the product of this rank's Hessian with d.
func (m *Batch) product(ctx context.Context, req optim.Request, dst, d []float32) error {
	m.effort.products++
	if m.acc.quadratic == nil || !m.acc.quadratic.sampled() {
		req.Kind, req.Dir = optim.Product, d
		return m.pass(ctx, req, &optim.Sums{Gradient: dst})
	}
	q, err := m.collect(ctx, req)
	if err != nil {
		return err
	}
	m.acc.gradient = zeroed(m.acc.gradient, len(dst))
	q.product(m.acc.gradient, d, m.acc.threads(len(q.kept.Features)))
	m.effort.passes += q.fraction
	return m.acc.narrow("product with the Hessian", dst, m.acc.gradient)
}

// diagonal returns the diagonal of the Hessian of this rank's examples for a round.
func (m *Batch) diagonal(ctx context.Context, req optim.Request) (*quadratic, []float32, error) {
	q, err := m.collect(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	diagonal := make([]float32, len(q.diagonal))
	return q, diagonal, m.acc.narrow("diagonal of the Hessian", diagonal, q.diagonal)
}

// local computes this rank's part of the mean direction.
func (m *Batch) local(ctx context.Context, req optim.Request) error {
	if q := m.acc.quadratic; q.start == nil { // the first round, or this rank has taken another's place
		first := req
		first.X, first.Round = req.Start, 1
		_, start, err := m.diagonal(ctx, first)
		if err != nil {
			return err
		}
		q.start = start
	}
	q, diagonal, err := m.diagonal(ctx, req)
	if err != nil {
		return err
	}
	_, err = newton.Local(m.part.Gradient, req, &m.Config.Penalty, newton.Shard{
		Weight: q.weight, Start: q.start, Diagonal: diagonal,
		Product: func(dst, d []float32) error { return m.product(ctx, req, dst, d) },
	})
	return err
}
