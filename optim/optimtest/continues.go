// SPDX-License-Identifier: Apache-2.0

package optimtest

import (
	"context"
	"math"

	"github.com/gvw-project/gvw/optim"
)

// Run minimises obj by a solver of n weights and returns the solver and its trace. carry replaces the
// solver after every pass by another that continues from its state; nil: it stays.
func Run[S optim.Solver](obj optim.Objective, n int, s S, carry func(S) (S, error)) (end S, trace string, err error) {
	var lines []byte
	for {
		req, ok := s.Request()
		if !ok {
			return s, string(lines), nil
		}
		// Separate vectors: the sums must not change the state.
		sums := &optim.Sums{Gradient: make([]float32, n), Diagonal: make([]float32, n)}
		if err = obj.Evaluate(context.Background(), req, sums); err == nil {
			err = s.Accept(sums)
		}
		lines = optim.AppendRow(lines, s.Row())
		if err == nil && carry != nil {
			s, err = carry(s)
		}
		if err != nil {
			return s, string(lines), err
		}
	}
}

// Move copies vectors and overwrites the old ones, so that a later read of them shows.
func Move(to, from [][]float32) {
	for i, v := range from {
		copy(to[i], v)
		for j := range v {
			v[j] = float32(math.NaN())
		}
	}
}
