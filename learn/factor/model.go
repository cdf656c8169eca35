// SPDX-License-Identifier: Apache-2.0

package factor

import (
	"math"
	"math/rand/v2"
)

// Rating is an example.
type Rating struct {
	User, Item int // rows
	Value      float32
	Weight     float32 // importance, a factor of the step; 0: 1; below 0 or NaN: Update ignores the rating
}

// Model predicts ratings.
type Model struct {
	cfg          Config
	users, items []float32
	width        int
}

// New returns a model with random factors, or one that continues from the rows of the configuration.
func New(c Config) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	width := c.RowSize()
	if c.UserRows == nil {
		c.UserRows = make([]float32, c.Users*width)
	}
	if c.ItemRows == nil {
		c.ItemRows = make([]float32, c.Items*width)
	}
	m := &Model{cfg: c, users: c.UserRows, items: c.ItemRows, width: width}
	if !c.Continue {
		fill(m.users, width, c.Seed, 1)
		fill(m.items, width, c.Seed, 2)
	}
	return m, nil
}

// fill sets biases to 0, and factors to small random numbers whose products have a mean square of 0.01 per row.
func fill(rows []float32, width int, seed, stream uint64) {
	r := rand.New(rand.NewPCG(seed, stream))
	size := math.Sqrt(0.1 / math.Sqrt(float64(max(width-1, 1))))
	for i := range rows {
		if rows[i] = 0; i%width > 0 {
			rows[i] = float32(size * r.NormFloat64())
		}
	}
}

// Config returns the configuration with its defaults. With Continue, New continues from it.
func (m *Model) Config() Config { return m.cfg }

// Update learns from a rating in pass number pass, from 0, and returns the error of its prediction before. It does not learn from a
// rating whose weight is below 0 or NaN.
func (m *Model) Update(r Rating, pass int) float64 {
	p, q := m.row(m.users, r.User), m.row(m.items, r.Item)
	miss := float64(r.Value) - m.raw(p, q)
	if !(r.Weight >= 0) {
		return miss
	}
	rate := m.cfg.Rate / (1 + m.cfg.Decay*float64(pass))
	if r.Weight != 0 && r.Weight != 1 {
		rate = m.weighted(rate, float64(r.Weight), p, q)
	}
	// A step on (miss² + λ·(squares of both rows))/2.
	e, keep := float32(rate*miss), float32(1-rate*m.cfg.Lambda)
	p[0] = float32(keep*p[0]) + e
	q[0] = float32(keep*q[0]) + e
	if !m.cfg.OnlyBiases {
		for f := 1; f < len(p); f++ {
			x, y := p[f], q[f]
			p[f] = float32(keep*x) + float32(e*y)
			q[f] = float32(keep*y) + float32(e*x)
		}
	}
	return miss
}

// weighted returns the rate of a weight. A weight above 1 multiplies the rate until the step would go beyond the rating, to
// first order: otherwise training with great weights would diverge.
func (m *Model) weighted(rate, weight float64, p, q []float32) float64 {
	if weight <= 1 {
		return rate * weight
	}
	slope := 2 + m.cfg.Lambda // squared derivatives of the prediction by the biases
	if !m.cfg.OnlyBiases {
		for f := 1; f < len(p); f++ {
			slope += float64(p[f])*float64(p[f]) + float64(q[f])*float64(q[f]) // exact products, so that fusing changes nothing
		}
	}
	return min(rate*weight, max(rate, 1/slope))
}

// row returns a row.
func (m *Model) row(rows []float32, i int) []float32 { return rows[i*m.width:][:m.width:m.width] }

// raw returns the prediction without limits.
func (m *Model) raw(p, q []float32) float64 {
	q = q[:len(p)]
	sum := m.cfg.Mean + float64(p[0]) + float64(q[0])
	if m.cfg.OnlyBiases {
		return sum
	}
	for f := 1; f < len(p); f++ {
		sum += float64(p[f]) * float64(q[f]) // exact in float64, so that fusing changes nothing
	}
	return sum
}

// Predict returns the rating of an item by a user. A row below 0 is an unknown user or item, of which nothing is added.
func (m *Model) Predict(user, item int) float64 {
	x := m.cfg.Mean
	switch {
	case user >= 0 && item >= 0:
		x = m.raw(m.row(m.users, user), m.row(m.items, item))
	case user >= 0:
		x += float64(m.row(m.users, user)[0])
	case item >= 0:
		x += float64(m.row(m.items, item)[0])
	}
	if m.cfg.Low != 0 || m.cfg.High != 0 {
		x = min(max(x, m.cfg.Low), m.cfg.High)
	}
	return x
}
