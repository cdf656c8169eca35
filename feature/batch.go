// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"math"
	"slices"
)

// Feature is one coordinate of an example: a weight's number and a value.
// Index is the hash of the feature masked to the model's 2^b weights. It is not
// strided: the learner multiplies it by its number of floats per weight.
type Feature struct {
	Index uint32
	Value float32
}

// NoLabel is the label of an example that has none, as in vw (FLT_MAX).
const NoLabel float32 = math.MaxFloat32

// ConstantNamespace is the namespace index that holds the constant feature.
const ConstantNamespace byte = 128

// ConstantIndex is the hash of the constant feature before masking.
const ConstantIndex uint32 = 11650396

// Span is a namespace's run of features: Batch.Features[Lo:Hi].
// NS is the first byte of the namespace's name (' ' for the default one). Over is
// the excess in vw's sum of the squared values, which vw's plain rules use, after
// Config.Limits has removed features (see limit.go).
type Span struct {
	NS     byte
	Lo, Hi uint32
	Over   float32
}

// Example is one example; its features, tag and namespaces are in the arrays of its Batch.
type Example struct {
	Label   float32 // NoLabel when there is none
	Weight  float32 // importance; 0 and below: predict only. vw's sums include negative weights
	Initial float32 // initial prediction, added to the sum over features

	Before         uint32  // number of empty lines before it: not examples, but vw's holdout counts them
	TagLo, TagHi   uint32  // Batch.Tags[TagLo:TagHi]
	SpanLo, SpanHi uint32  // Batch.Spans[SpanLo:SpanHi], in the order of first appearance
	Hidden         uint32  // number of features just before FeatLo, of namespaces that only interact: counted, not summed
	HiddenSquares  float32 // the sum of their squared values with the excess of Limits, for vw's plain rules
	FeatLo, FeatHi uint32  // Batch.Features[FeatLo:FeatHi]: the namespaces' features in Spans order, the constant, the interactions
	CostLo, CostHi uint32  // Batch.Costs[CostLo:CostHi]: the classes of labels of several classes; equal for other labels
}

// Count returns the number of features as vw counts them.
func (e *Example) Count() int { return int(e.FeatHi - e.FeatLo + e.Hidden) }

// Labeled reports whether the example has a label.
func (e *Example) Labeled() bool { return e.Label != NoLabel }

// Cost is a class in a label of several classes.
type Cost struct {
	Class uint32  // as in the data
	Cost  float32 // of CostLabels, NoLabel if it is not known; 0 of MultiLabels
}

// Warning is a recovery of the parser from a malformed line.
type Warning struct {
	Source string // name of the input; empty if the reader has only one
	Line   int64  // 1-based number within its input
	Text   string // the fault and the recovery
}

// Batch is a number of consecutive examples in flat arrays. A batch is filled,
// passed on, read, and reused; nothing in it is allocated per example.
type Batch struct {
	Examples []Example
	Spans    []Span
	Features []Feature
	Tags     []byte
	Costs    []Cost // of CostLabels and MultiLabels
	Warnings []Warning

	// Names are those of Features, one each, in NameText; both are empty unless
	// Config.Names is set.
	Names    []Name
	NameText []byte

	// Whole are vw's numbers of Features, one each, before they are reduced to the size of the table
	// (limit.go). Those behind the features of the namespaces are 0. It is empty unless Config.Whole
	// is set, or if there are interactions, or if the batch is from a cache.
	Whole []uint64
}

// Name is the position of a feature's name in Batch.NameText.
type Name struct {
	Lo, Hi         uint32 // the whole name as vw prints it: "place^north", "a^x*b^y"
	LeafLo, LeafHi uint32 // the part that the names of n-grams contain: "north"
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Examples = b.Examples[:0]
	b.Spans = b.Spans[:0]
	b.Features = b.Features[:0]
	b.Tags = b.Tags[:0]
	b.Costs = b.Costs[:0]
	b.Warnings = b.Warnings[:0]
	b.Names = b.Names[:0]
	b.NameText = b.NameText[:0]
	b.Whole = b.Whole[:0]
}

// FeaturesOf returns the features of ex, in the order in which vw sums them.
func (b *Batch) FeaturesOf(ex *Example) []Feature { return b.Features[ex.FeatLo:ex.FeatHi] }

// WholeOf returns the numbers of FeaturesOf before they are reduced to the size of the table; nil
// where they are not kept.
func (b *Batch) WholeOf(ex *Example) []uint64 {
	if len(b.Whole) != len(b.Features) {
		return nil
	}
	return b.Whole[ex.FeatLo:ex.FeatHi]
}

// TagOf returns the tag of ex.
func (b *Batch) TagOf(ex *Example) []byte { return b.Tags[ex.TagLo:ex.TagHi] }

// CostsOf returns the classes in the label of ex, in the order of the text.
func (b *Batch) CostsOf(ex *Example) []Cost { return b.Costs[ex.CostLo:ex.CostHi] }

// SpansOf returns the namespaces of ex.
func (b *Batch) SpansOf(ex *Example) []Span { return b.Spans[ex.SpanLo:ex.SpanHi] }

// NameOf returns the name of Features[i]; nil where names are not kept.
func (b *Batch) NameOf(i int) []byte {
	if i >= len(b.Names) {
		return nil
	}
	return b.NameText[b.Names[i].Lo:b.Names[i].Hi]
}

// appendName appends the name of a feature as vw writes it: the namespace unless
// it is the default one, the name, and the text that is its value.
func (b *Batch) appendName(ns, name, value []byte) {
	lo := uint32(len(b.NameText))
	if len(ns) > 0 {
		b.NameText = append(append(b.NameText, ns...), '^')
	}
	n := Name{Lo: lo, LeafLo: uint32(len(b.NameText))}
	b.NameText = append(b.NameText, name...)
	n.LeafHi = uint32(len(b.NameText))
	if len(value) > 0 {
		b.NameText = append(append(b.NameText, '^'), value...)
	}
	n.Hi = uint32(len(b.NameText))
	b.Names = append(b.Names, n)
}

// appendGramName appends the name of the n-gram of feature i and those at the
// offsets after it: the first one's namespace, and all names.
func (b *Batch) appendGramName(i int, offsets []int) {
	first := b.Names[i]
	ns := slices.Clone(bytes.TrimSuffix(b.NameText[first.Lo:first.LeafLo], []byte("^")))
	leaf := slices.Clone(b.NameText[first.LeafLo:first.LeafHi])
	for _, k := range offsets {
		n := b.Names[i+k]
		leaf = append(append(leaf, '^'), b.NameText[n.LeafLo:n.LeafHi]...)
	}
	b.appendName(ns, leaf, nil)
}

// appendProduct appends the name of an interaction.
func (b *Batch) appendProduct(path []Name, last Name) {
	lo := uint32(len(b.NameText))
	for _, n := range path {
		b.NameText = append(append(b.NameText, b.NameText[n.Lo:n.Hi]...), '*')
	}
	b.NameText = append(b.NameText, b.NameText[last.Lo:last.Hi]...)
	hi := uint32(len(b.NameText))
	b.Names = append(b.Names, Name{Lo: lo, Hi: hi, LeafLo: lo, LeafHi: hi})
}

// copyName copies the text of the name of src.Features[i] to b, and returns
// where it lies there.
func (b *Batch) copyName(src *Batch, i int) Name {
	n := src.Names[i]
	moved := uint32(len(b.NameText)) - n.Lo // may wrap, and back again
	b.NameText = append(b.NameText, src.NameText[n.Lo:n.Hi]...)
	return Name{Lo: n.Lo + moved, Hi: n.Hi + moved, LeafLo: n.LeafLo + moved, LeafHi: n.LeafHi + moved}
}
