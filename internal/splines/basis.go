// SPDX-License-Identifier: Apache-2.0

package splines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
)

// MaxKnots is the largest number of knots of a feature.
const MaxKnots = 100

// Basis is the splines of all features. Its JSON is the form of a file.
type Basis struct {
	Knots    int       `json:"knots"` // of a feature, from 2 to MaxKnots
	Features []Feature `json:"features"`

	at     map[string]int
	order  []int // positions of the features, those of a namespace together
	values []float32
	key    []byte
}

// Feature is a feature with its levels in the training data.
type Feature struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Levels    []float32 `json:"levels"` // ascending: the least value, 99 between, the greatest value
}

// Parse reads the JSON of a basis.
func Parse(text []byte) (*Basis, error) {
	b := &Basis{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		return nil, fmt.Errorf("not a file of splines: %w", err)
	}
	return b, b.prepare()
}

// prepare checks the basis and completes it.
func (b *Basis) prepare() error {
	if b.Knots < 2 || b.Knots > MaxKnots {
		return fmt.Errorf("%d knots: want 2 to %d", b.Knots, MaxKnots)
	}
	if n := len(b.Features); n == 0 || n > maxFeatures {
		return fmt.Errorf("splines of %d features: want 1 to %d", n, maxFeatures)
	}
	b.at, b.values = map[string]int{}, make([]float32, len(b.Features))
	first := map[string]int{} // of each namespace
	for i, f := range b.Features {
		k := string(key(nil, []byte(f.Namespace), []byte(f.Name)))
		if _, twice := b.at[k]; twice {
			return fmt.Errorf("feature %q of namespace %q occurs twice", f.Name, f.Namespace)
		}
		if len(f.Levels) != levels || !slices.IsSorted(f.Levels) {
			return fmt.Errorf("feature %q of namespace %q: want %d ascending levels", f.Name, f.Namespace, levels)
		}
		b.at[k] = i
		if _, ok := first[f.Namespace]; !ok {
			first[f.Namespace] = i
		}
		b.order = append(b.order, i)
	}
	sort.SliceStable(b.order, func(i, k int) bool {
		return first[b.Features[b.order[i]].Namespace] < first[b.Features[b.order[k]].Namespace]
	})
	return nil
}

// Append appends a line, without its end, whose features are those of the splines.
func (b *Basis) Append(dst, line []byte) ([]byte, error) {
	if len(line) == 0 {
		return dst, nil
	}
	clear(b.values)
	head, err := split(line, func(namespace, name []byte, value float32) error {
		b.key = key(b.key[:0], namespace, name)
		if i, ok := b.at[string(b.key)]; ok {
			b.values[i] += value
		}
		return nil
	})
	if err != nil {
		return dst, err
	}
	dst = append(dst, head...)
	if !bytes.Contains(line, []byte("|")) {
		dst = append(dst, ' ') // a label without features
	}
	for n, i := range b.order {
		f := &b.Features[i]
		if n == 0 || b.Features[b.order[n-1]].Namespace != f.Namespace {
			if n > 0 {
				dst = append(dst, ' ')
			}
			dst = append(append(dst, '|'), f.Namespace...)
		}
		t := place(f.Levels, b.values[i]) * float64(b.Knots-1)
		knot := min(int(t), b.Knots-2)
		share := t - float64(knot)
		dst = appendKnot(appendKnot(dst, f.Name, knot, 1-share), f.Name, knot+1, share)
	}
	return dst, nil
}

// appendKnot appends the feature of a knot, unless its value is 0.
func appendKnot(dst []byte, name string, knot int, value float64) []byte {
	if value <= 0 {
		return dst
	}
	dst = append(append(append(dst, ' '), name...), '_')
	dst = append(strconv.AppendInt(dst, int64(knot), 10), ':')
	return strconv.AppendFloat(dst, value, 'g', 5, 64)
}

// place returns the place of x among levels, from 0 to 1. A value that several levels have is in their
// middle.
func place(levels []float32, x float32) float64 {
	last := len(levels) - 1
	lo, found := slices.BinarySearch(levels, x)
	switch {
	case found:
		hi := lo
		for hi < last && levels[hi+1] == x {
			hi++
		}
		return float64(lo+hi) / float64(2*last)
	case lo == 0:
		return 0
	case lo > last:
		return 1
	}
	share := float64(x-levels[lo-1]) / float64(levels[lo]-levels[lo-1])
	return (float64(lo-1) + share) / float64(last)
}
