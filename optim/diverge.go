// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim/vector"
)

// DivergeError reports that a sum over the data is infinite or not a number, so that no
// step can be computed from it.
type DivergeError struct {
	Pass   int    // from 1
	What   string // the sum: "loss", "gradient" …
	Weight int    // the first weight concerned; -1: the sum is one number
	Value  float64
}

func (e *DivergeError) Error() string {
	at := ""
	if e.Weight >= 0 {
		at = fmt.Sprintf(" at weight %d", e.Weight)
	}
	return fmt.Sprintf("pass %d: the %s%s is %v: the run diverged; look for feature values or labels out of range, and start from sound weights", e.Pass, e.What, at, e.Value)
}

// Finite reports whether v is a number and not infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Usable returns an error for sums for a request from which no step can be computed: those that Check refuses, those of
// no examples, and a *[DivergeError] for those that are not finite. Losses of tried steps may be infinite, since such a
// step is not taken. pass is that of the request, from 1.
func (s *Sums) Usable(req Request, pass int) error {
	if err := s.Check(req); err != nil {
		return fmt.Errorf("pass %d: %w", pass, err)
	}
	number := func(what string, v float64) error {
		if Finite(v) {
			return nil
		}
		return &DivergeError{Pass: pass, What: what, Weight: -1, Value: v}
	}
	vec := func(what string, v []float32) error {
		if i := vector.FirstWild(v); i >= 0 {
			return &DivergeError{Pass: pass, What: what, Weight: i, Value: float64(v[i])}
		}
		return nil
	}
	if req.Features != nil {
		for _, v := range s.Matrix {
			if err := number("Hessian", v); err != nil {
				return err
			}
		}
	}
	switch req.Kind {
	case Matrix:
		return nil
	case Curvature:
		return number("curvature", s.Curvature)
	case Product:
		return vec("product with the Hessian", s.Gradient)
	case Local:
		return vec("mean of the directions", s.Gradient)
	case Trial:
		return nil
	case First:
		if err := number("sum of importance weights", s.Weight); err != nil {
			return err
		}
		if !(s.Weight > 0) {
			return fmt.Errorf("pass %d: the importance weights sum to %v: there is nothing to learn from", pass, s.Weight)
		}
		if err := vec("diagonal of the Hessian", s.Diagonal); err != nil {
			return err
		}
	}
	if err := number("loss", s.Loss); err != nil {
		return err
	}
	return vec("gradient", s.Gradient)
}
