// SPDX-License-Identifier: Apache-2.0

package splines

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Limits of the training data, whose sample is in memory.
const (
	maxFeatures = 2000
	sampleSize  = 10_000 // examples
)

// levels is the number of levels of a feature, from its least value to its greatest.
const levels = 101

// Fit collects training data. The zero value has none.
type Fit struct {
	features []Feature
	at       map[string]int // position of each feature
	sample   [][]float32    // values of some examples; features that came later have 0
	seen     int            // examples
	rng      *rand.Rand
	key      []byte
}

// Add adds a line of vw's text. Empty lines count for nothing.
func (f *Fit) Add(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if f.at == nil {
		f.at, f.rng = map[string]int{}, rand.New(rand.NewPCG(1, 1))
	}
	f.seen++
	var row []float32
	_, err := split(line, func(namespace, name []byte, value float32) error {
		f.key = key(f.key[:0], namespace, name)
		i, ok := f.at[string(f.key)]
		if !ok {
			if i = len(f.features); i == maxFeatures {
				return fmt.Errorf("more than %d features: splines are for dense data", maxFeatures)
			}
			f.at[string(f.key)] = i
			f.features = append(f.features, Feature{Namespace: string(namespace), Name: string(name)})
		}
		for len(row) <= i {
			row = append(row, 0)
		}
		row[i] += value
		return nil
	})
	if err != nil {
		return err
	}
	// Each example is in the sample with the same probability.
	if len(f.sample) < sampleSize {
		f.sample = append(f.sample, row)
	} else if i := f.rng.IntN(f.seen); i < sampleSize {
		f.sample[i] = row
	}
	return nil
}

// Basis returns splines with the given number of knots for all features.
func (f *Fit) Basis(knots int) (*Basis, error) {
	if len(f.features) == 0 {
		return nil, errors.New("the data has no features")
	}
	b := &Basis{Knots: knots, Features: slices.Clone(f.features)}
	values := make([]float32, len(f.sample))
	for i := range b.Features {
		for k, row := range f.sample {
			if values[k] = 0; i < len(row) {
				values[k] = row[i]
			}
		}
		slices.Sort(values)
		for level := range levels {
			at := float64(level*(len(values)-1)) / (levels - 1)
			below := int(at)
			x := values[below]
			if share := float32(at - float64(below)); share > 0 {
				x += float32(share * (values[below+1] - x))
			}
			b.Features[i].Levels = append(b.Features[i].Levels, x)
		}
	}
	return b, b.prepare()
}
