// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"

	"github.com/gvw-project/gvw/malt"
)

// svmShared is the shared vector.
type svmShared struct {
	vector *malt.Vector[float32]
}

// share keeps the values of the weights in a shared vector.
func (s *svmProgram) share(j *job) (err error) {
	if s.vector, err = j.vector("weights", s.config.Size); err == nil {
		s.config.Weights = s.vector.Values()
	}
	return err
}

// rescale makes the values of the vector the weights.
func (s *svmProgram) rescale() { s.model.Rescale() }

// exchange averages models: each rank has a scale of its own.
func (s *svmProgram) exchange(ctx context.Context) error {
	if err := s.vector.ScatterScaled(ctx, s.model.Scale()); err != nil {
		return err
	}
	s.model.Detach()
	rescaled := malt.RescaledAverage[float32]
	_, err := s.vector.Gather(ctx, rescaled(s.model.Scale))
	return err
}
