// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"math/rand/v2"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// layer is a fully connected layer. Row i of its matrices belongs to unit i below, and the last row to the bias.
type layer struct {
	in, out    int
	activation string    // "": none
	w          []float32 // weights
	g          []float32 // sum of gradients since the last step
	state      []float32 // of the rule of a step: squares of gradients, or the last step
	values     []float32 // outputs for the current example
	slope      []float32 // derivative of the loss by the sums before the activation
}

// row returns a row of a matrix of the layer.
func (l *layer) row(matrix []float32, i int) []float32 { return matrix[i*l.out:][:l.out:l.out] }

// fill sets biases to 0 and weights to random numbers, for inputs of a length.
func (l *layer) fill(r *rand.Rand, length float64) {
	size := 1 / length
	if l.activation == ReLU {
		size *= math.Sqrt2
	}
	weights := l.w[:l.in*l.out]
	for i := range weights {
		weights[i] = float32(size * r.NormFloat64())
	}
	clear(l.row(l.w, l.in))
}

// forwardSparse computes the outputs for features.
func (l *layer) forwardSparse(x []feature.Feature) {
	copy(l.values, l.row(l.w, l.in))
	for _, f := range x {
		axpy(l.values, f.Value, l.row(l.w, int(f.Index)))
	}
	l.activate()
}

// forward computes the outputs for those of the layer below.
func (l *layer) forward(x []float32) {
	copy(l.values, l.row(l.w, l.in))
	for i, v := range x {
		if v != 0 {
			axpy(l.values, v, l.row(l.w, i))
		}
	}
	l.activate()
}

// activate applies the activation.
func (l *layer) activate() {
	switch l.activation {
	case ReLU:
		for i, v := range l.values {
			l.values[i] = max(v, 0)
		}
	case Tanh:
		for i, v := range l.values {
			e := fmath.Exp(-2 * math.Abs(float64(v)))
			l.values[i] = float32(math.Copysign((1-e)/(1+e), float64(v)))
		}
	}
}

// derive multiplies slope, so far the derivative by the outputs, by that of the activation.
func (l *layer) derive() {
	switch l.activation {
	case ReLU:
		for i, v := range l.values {
			if v <= 0 {
				l.slope[i] = 0
			}
		}
	case Tanh:
		for i, v := range l.values {
			l.slope[i] *= 1 - float32(v*v)
		}
	}
}

// backward adds the gradients for the outputs of the layer below, and computes its slope.
func (l *layer) backward(below *layer) {
	for i, v := range below.values {
		if v != 0 {
			axpy(l.row(l.g, i), v, l.slope)
		}
		below.slope[i] = dot(l.row(l.w, i), l.slope)
	}
	axpy(l.row(l.g, l.in), 1, l.slope)
	below.derive()
}

// axpy adds a·x to y.
func axpy(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	for len(y) >= 4 && len(x) >= 4 {
		y[0] += float32(a * x[0])
		y[1] += float32(a * x[1])
		y[2] += float32(a * x[2])
		y[3] += float32(a * x[3])
		y, x = y[4:], x[4:]
	}
	for i, v := range x {
		y[i] += float32(a * v)
	}
}

// dot returns x'y, in four interleaved sums.
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		a += float32(x[0] * y[0])
		b += float32(x[1] * y[1])
		c += float32(x[2] * y[2])
		d += float32(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += float32(v * y[i])
	}
	return (a + b) + (c + d)
}
