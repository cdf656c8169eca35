// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// setInput sets input to the known features of x, with Center, Scale, Quantiles and Text.
func (m *Model) setInput(x []feature.Feature) {
	m.input = m.input[:0]
	dense := m.cfg.Center != nil || m.cfg.Quantiles != nil
	if dense {
		for i := range m.cfg.Inputs {
			m.input = append(m.input, feature.Feature{Index: uint32(i)})
		}
		for i, v := range m.cfg.Center {
			m.input[i].Value = -v
		}
	}
	for _, f := range x {
		switch {
		case int64(f.Index) >= int64(m.cfg.Inputs):
		case dense:
			m.input[f.Index].Value += f.Value
		default:
			m.input = append(m.input, f)
		}
	}
	if m.cfg.Scale != nil {
		for i, f := range m.input {
			m.input[i].Value = f.Value * m.cfg.Scale[f.Index]
		}
	}
	if m.cfg.Quantiles != nil {
		levels := len(m.cfg.Quantiles) / m.cfg.Inputs
		for i, f := range m.input {
			m.input[i].Value = place(m.cfg.Quantiles[i*levels:][:levels], f.Value)
		}
	}
	if m.cfg.Text {
		m.setText()
	}
}

// setText takes logarithms of the input and scales it to length 1.
func (m *Model) setText() {
	squares := 0.0
	for i, f := range m.input {
		x := fmath.Log(1 + math.Max(float64(f.Value), 0))
		m.input[i].Value = float32(x)
		squares += float64(x * x)
	}
	if squares > 0 {
		factor := float32(1 / math.Sqrt(squares))
		for i := range m.input {
			m.input[i].Value *= factor
		}
	}
}

// quantileLevels is the number of levels of an input, from the least value to the greatest.
const quantileLevels = 101

// Quantiles returns levels of each input in a sample of examples, for Config.Quantiles: the least value, the greatest one
// and 99 between, 101 for input 0, then those for input 1, and so on. An absent feature counts as 0. Without examples
// it returns nil.
func Quantiles(sample [][]feature.Feature, inputs int) []float32 {
	if len(sample) == 0 {
		return nil
	}
	columns := make([][]float32, inputs) // values that are not absent
	sums := make([]float32, inputs)
	var present []uint32
	for _, x := range sample {
		present = present[:0]
		for _, f := range x {
			if int64(f.Index) < int64(inputs) {
				sums[f.Index] += f.Value
				present = append(present, f.Index)
			}
		}
		for _, i := range present {
			if sums[i] != 0 {
				columns[i] = append(columns[i], sums[i])
				sums[i] = 0
			}
		}
	}
	out := make([]float32, 0, inputs*quantileLevels)
	values := make([]float32, 0, len(sample))
	for _, column := range columns {
		values = append(values[:0], column...)
		values = values[:len(sample)]
		clear(values[len(column):])
		slices.Sort(values)
		for level := range quantileLevels {
			at := float64(level*(len(values)-1)) / (quantileLevels - 1)
			below := int(at)
			x := values[below]
			if share := float32(at - float64(below)); share > 0 {
				x += float32(share * (values[below+1] - x))
			}
			out = append(out, x)
		}
	}
	return out
}

// deviations is the width of a uniform distribution in its deviations: √12.
const deviations = 3.4641016

// place returns the place of x among ascending levels, scaled so that places of data with these levels have mean 0 and
// deviation 1. A value that several levels have is in their middle.
func place(levels []float32, x float32) float32 {
	last := len(levels) - 1
	from, found := slices.BinarySearch(levels, x)
	at := float32(from)
	switch {
	case found:
		to, _ := slices.BinarySearchFunc(levels, x, func(level, x float32) int {
			if level > x {
				return 1
			}
			return -1
		})
		at = float32(from+to-1) / 2
	case from > last:
		at = float32(last)
	case from > 0:
		low := levels[from-1]
		at = float32(from-1) + (x-low)/(levels[from]-low)
	}
	return float32((at/float32(last) - 0.5) * deviations)
}
