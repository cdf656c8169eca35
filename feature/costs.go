// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"slices"

	"github.com/gvw-project/gvw/feature/internal/number"
)

// LabelKind is a kind of labels.
type LabelKind uint8

// The kinds of labels, which are vw's.
const (
	// SimpleLabels are numbers: [label [weight [initial]]].
	SimpleLabels LabelKind = iota
	// ClassLabels are the numbers of classes, or their names: [class [weight]].
	ClassLabels
	// CostLabels are costs of classes, "1:0.5 3:2". A class without a cost is only a candidate of the
	// prediction. Example.Label is 0 if a cost is known.
	CostLabels
	// MultiLabels are lists of classes, "1,3,7". Example.Label is 0 if there is a class.
	MultiLabels
)

// otherLabel reads a label that is not simple, from the first words of text, of which it has count.
func (b *Builder) otherLabel(words *[labelWords][]byte, count int, text []byte) {
	switch b.labels {
	case CostLabels:
		b.costLabel(text, count)
	case MultiLabels:
		b.multiLabel(words, count, text)
	default:
		b.classLabel(words, count, text)
	}
}

// costLabel reads the costs of classes from the first words of text, of which it has count.
func (b *Builder) costLabel(text []byte, count int) {
	for i := 0; count > 0; count-- {
		var word []byte
		word, i = nextWord(text, i)
		b.cost(word)
	}
	b.ex.CostHi = uint32(len(b.dst.Costs))
}

// cost reads class[:cost]. vw takes a third number for a class without a cost.
func (b *Builder) cost(word []byte) {
	name, value, known := bytes.Cut(word, []byte{':'})
	n, ok := classNumber(name)
	if !ok {
		b.Fault("; it is left out", "%q is not the number of a class", clip(name))
		return
	}
	c := Cost{Class: n, Cost: NoLabel}
	if known {
		v, used := number.Parse(value)
		switch {
		case used == 0 || v != v:
			b.Fault(", replacing with 0", "%q is not a good cost", clip(word))
			v = 0
		case used != len(value):
			b.Fault("; the number before it counts", "%q is not a good cost", clip(word))
		}
		c.Cost = v
	}
	if c.Cost != NoLabel {
		b.ex.Label = 0
	}
	b.dst.Costs = append(b.dst.Costs, c)
}

// multiLabel reads a list of classes. Their order is that of the text, as in vw, which expects them to ascend.
func (b *Builder) multiLabel(words *[labelWords][]byte, count int, text []byte) {
	if count > 1 {
		b.Fault("; the example has no label", "%d is too many tokens for a list of classes: %q", count, clip(text))
		return
	}
	for list := words[0]; count > 0 && len(list) > 0; {
		var word []byte
		if word, list, _ = bytes.Cut(list, []byte{','}); len(word) == 0 {
			continue
		}
		n, ok := classNumber(word)
		if !ok {
			b.Fault("; it is left out", "%q is not the number of a class", clip(word))
			continue
		}
		b.dst.Costs = append(b.dst.Costs, Cost{Class: n})
		b.ex.Label = 0
	}
	b.ex.CostHi = uint32(len(b.dst.Costs))
	if costs := b.dst.CostsOf(&b.ex); !slices.IsSortedFunc(costs, func(a, b Cost) int { return int(int64(a.Class) - int64(b.Class)) }) {
		b.Warn("classes %q do not ascend: a class after a larger one is not learned", clip(words[0]))
	}
}

// classNumber reads the number of a class. One above maxClass is cut to that, and one with more digits is none.
func classNumber(word []byte) (n uint32, ok bool) {
	for _, c := range word {
		if c < '0' || c > '9' || n > maxClass {
			return 0, false
		}
		n = n*10 + uint32(c-'0')
	}
	return min(n, maxClass), len(word) > 0
}
