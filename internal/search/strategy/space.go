// SPDX-License-Identifier: Apache-2.0

package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Scale is how a range is divided.
type Scale int

const (
	Choice     Scale = iota // a list of values, with equal probabilities
	Linear                  // real numbers, uniform
	Log                     // real numbers, uniform in the logarithm
	Integer                 // whole numbers, uniform
	LogInteger              // whole numbers, uniform in the logarithm
)

// Dimension is one option of a space.
type Dimension struct {
	Name    string
	Scale   Scale
	Low     float64 // least value of a range
	High    float64 // greatest value of a range
	Choices []string
}

// Space has the options that a search varies, in the order in which they were given.
type Space []Dimension

// scales are the prefixes of ranges.
var scales = map[string]Scale{"": Linear, "log": Log, "int": Integer, "logint": LogInteger}

// ParseSpace parses dimensions that are separated by white space:
//
//	learning_rate=log:0.01..10   passes=int:1..20   b=logint:10..24   l1=0..1   power_t=0,0.5
//
// A range has its limits as values. A list needs no range.
func ParseSpace(text string) (Space, error) {
	var space Space
	for word := range strings.FieldsSeq(text) {
		d, err := parseDimension(word)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(space, func(o Dimension) bool { return o.Name == d.Name }) {
			return nil, fmt.Errorf("%s is twice in the space", d.Name)
		}
		space = append(space, d)
	}
	if len(space) == 0 {
		return nil, fmt.Errorf("the space is empty: write it like learning_rate=log:0.01..10")
	}
	return space, nil
}

// parseDimension parses NAME=RANGE or NAME=LIST.
func parseDimension(word string) (Dimension, error) {
	name, values, found := strings.Cut(word, "=")
	name = strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
	if !found || name == "" || values == "" {
		return Dimension{}, fmt.Errorf("%q is no part of a space: write it like learning_rate=log:0.01..10 or power_t=0,0.5", word)
	}
	low, high, ranged := strings.Cut(values, "..")
	if !ranged {
		choices := strings.Split(values, ",")
		for i, c := range choices {
			if c == "" || slices.Contains(choices[:i], c) {
				return Dimension{}, fmt.Errorf("%s=%s: the value %q is empty or repeated", name, values, c)
			}
		}
		return Dimension{Name: name, Choices: choices}, nil
	}
	prefix := ""
	if p, rest, found := strings.Cut(low, ":"); found {
		prefix, low = p, rest
	}
	scale, known := scales[prefix]
	if !known {
		return Dimension{}, fmt.Errorf("%s=%s: the scale %q is unknown: use log, int, logint or none", name, values, prefix)
	}
	d := Dimension{Name: name, Scale: scale}
	var errs [2]error
	d.Low, errs[0] = strconv.ParseFloat(low, 64)
	d.High, errs[1] = strconv.ParseFloat(high, 64)
	return d, d.check(word, errs[0] == nil && errs[1] == nil)
}

// check checks the limits of a range. numbers reports whether they are numbers.
func (d *Dimension) check(word string, numbers bool) error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case !numbers || !finite(d.Low) || !finite(d.High) || !finite(d.High-d.Low):
		return fmt.Errorf("%s: the limits of a range are finite numbers", word)
	case d.Low >= d.High:
		return fmt.Errorf("%s: the range is empty: write the smaller limit first", word)
	case (d.Scale == Log || d.Scale == LogInteger) && d.Low <= 0:
		return fmt.Errorf("%s: a logarithmic range begins above 0", word)
	case d.whole() && (d.Low != math.Trunc(d.Low) || d.High != math.Trunc(d.High) || math.Abs(d.Low) > 1<<52 || math.Abs(d.High) > 1<<52):
		return fmt.Errorf("%s: the limits of this range are whole numbers", word)
	}
	return nil
}

// whole reports whether the values are whole numbers.
func (d *Dimension) whole() bool { return d.Scale == Integer || d.Scale == LogInteger }

// At returns the value at u, from 0 to 1, as a word: 0 is the least value, 1 the greatest. Real
// numbers have five digits, so that users can type them; the limits stay exact.
func (d *Dimension) At(u float64) string {
	switch {
	case d.Scale == Choice:
		return d.Choices[min(int(u*float64(len(d.Choices))), len(d.Choices)-1)]
	case d.whole():
		// Each whole number has an interval of its own, so that the limits are as probable as the others.
		low, high := d.Low, d.High+1
		x := low + u*(high-low)
		if d.Scale == LogInteger {
			x = low * math.Pow(high/low, u)
		}
		return strconv.FormatFloat(min(max(math.Floor(x), d.Low), d.High), 'f', -1, 64)
	}
	x := d.value(u)
	digits := strconv.FormatFloat(x, 'g', 5, 64)
	short, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		panic("BUG: strategy: " + err.Error())
	}
	return strconv.FormatFloat(min(max(short, d.Low), d.High), 'g', -1, 64)
}

// value returns the real number at u.
func (d *Dimension) value(u float64) float64 {
	if d.Scale == Log || d.Scale == LogInteger {
		return d.Low * math.Pow(d.High/d.Low, u)
	}
	return d.Low + u*(d.High-d.Low)
}

// Sample returns the values of a trial, one for each dimension. They depend only on the seed and
// the number of the trial.
func (s Space) Sample(seed uint64, trial int) []string {
	r := rand.New(rand.NewPCG(seed, uint64(trial)))
	values := make([]string, len(s))
	for i := range s {
		values[i] = s[i].At(r.Float64())
	}
	return values
}
