// SPDX-License-Identifier: Apache-2.0

package outer

import (
	"errors"
	"fmt"
	"math"
)

// Config configures the outer optimiser. The zero value is plain averaging.
type Config struct {
	Rate     float64 // η, the length of a step; 0: 1, the whole way to the mean
	Momentum float64 // μ, the share of the velocity that a round keeps, less than 1; 0: no momentum
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	if c.Rate < 0 || math.IsInf(c.Rate, 0) || math.IsNaN(c.Rate) {
		faults = append(faults, fmt.Errorf("outer: Rate: got %v, want a finite number, 0 or more", c.Rate))
	}
	if !(c.Momentum >= 0 && c.Momentum < 1) {
		faults = append(faults, fmt.Errorf("outer: Momentum: got %v, want 0 or more and less than 1", c.Momentum))
	}
	return errors.Join(faults...)
}

// Plain reports whether the steps end at the mean.
func (c Config) Plain() bool { return (c.Rate == 0 || c.Rate == 1) && c.Momentum == 0 }

// Optimizer has the state of the outer steps. It is not safe for concurrent use.
type Optimizer struct {
	rate, momentum  float32
	start, velocity []float32
}

// New returns the optimiser for learners that start at the given weights, which it copies.
func New(c Config, start []float32) (*Optimizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Rate == 0 {
		c.Rate = 1
	}
	return &Optimizer{
		rate: float32(c.Rate), momentum: float32(c.Momentum),
		start: append([]float32(nil), start...), velocity: make([]float32, len(start)),
	}, nil
}

// Step replaces the mean of all learners' weights by the weights with which they continue. It panics if the
// number of weights is not that of New.
func (o *Optimizer) Step(mean []float32) {
	if len(mean) != len(o.start) {
		panic(fmt.Sprintf("BUG: outer: Step: got %d weights, want %d", len(mean), len(o.start)))
	}
	for i, m := range mean {
		mean[i] = o.Next(i, m)
	}
}

// Next is Step for weight i, whose mean is given. It returns the weight with which the learners continue.
func (o *Optimizer) Next(i int, mean float32) float32 {
	o.start[i], o.velocity[i] = o.step(i, mean)
	return o.start[i]
}

// Peek returns the weight that Next would return, and leaves the state as it is.
func (o *Optimizer) Peek(i int, mean float32) float32 {
	w, _ := o.step(i, mean)
	return w
}

// step returns weight i after a step, and its velocity.
func (o *Optimizer) step(i int, mean float32) (w, v float32) {
	d := o.start[i] - mean
	v = float32(o.momentum*o.velocity[i]) + d
	return o.start[i] - float32(o.rate*(d+float32(o.momentum*v))), v
}

// State returns the weights where the last step has left them, and their velocities. Both are the optimiser's own
// memory: a checkpoint copies them, and a program that continues from a checkpoint overwrites them.
func (o *Optimizer) State() (weights, velocities []float32) { return o.start, o.velocity }
