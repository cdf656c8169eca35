// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/optimtest"
)

// TestAcceptAllocatesNothing: a pass costs no memory beyond the state.
func TestAcceptAllocatesNothing(t *testing.T) {
	const n = 100
	obj := optimtest.Objective(optimtest.RandomPoints(2, 50, n, optimtest.Sign), optimtest.Logistic, -50, 50)
	s, err := New(Config{Mem: 4, Penalty: descent.Penalty{L2: 1}, MaxPasses: 1000}, make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	sums := s.InPlace()
	for s.State().Pass < 5 {
		req, _ := s.Request()
		_ = obj(context.Background(), req, sums)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}
	gradient := slices.Clone(sums.Gradient)
	if allocs := testing.AllocsPerRun(1, func() {
		copy(sums.Gradient, gradient)
		if err := s.Accept(sums); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("Accept allocates %v times", allocs)
	}
}

// BenchmarkDirection is one new direction of 2^20 weights from 15 pairs.
func BenchmarkDirection(b *testing.B) {
	const n, mem = 1 << 20, 15
	r := rand.New(rand.NewPCG(1, 1))
	random := func() []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	s, err := New(Config{Mem: mem, MaxPasses: 2}, random())
	if err != nil {
		b.Fatal(err)
	}
	for i := range mem {
		s.ring.y[i], s.ring.s[i] = random(), random()
		s.ring.rho[i] = 1e-9
	}
	s.ring.older = mem - 1
	p := &s.search.Point
	p.Precond = random()
	copy(p.Dir, p.X)
	b.SetBytes(4 * n)
	for b.Loop() {
		s.ring.recurse(p, 1e-3)
	}
}
