// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/sgd"
)

// startWeights sets the first of each stride floats to the weights that training
// by the rule starts from, and leaves the generator as they left it. Where vw
// sets the adaptive sums to InitialT, it sets the weights with them, also those
// that were drawn.
func (c *Config) startWeights(w []float32, stride int, rule sgd.Config) {
	c.Model.Start.Seed = c.Model.Start.Fill(w, stride, stride)
	if rule.Adaptive && rule.InitialT > 0 {
		c.Model.Start.Set(w, stride)
	}
}

// startConstant sets the first of each stride floats for the constant feature.
func (c *Config) startConstant(w []float32, stride int) {
	if c.Features.Constant != 0 {
		f := c.features()
		w[int(feature.ConstantIndex&f.Mask())*stride] = c.Features.Constant
	}
}
