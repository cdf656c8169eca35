// SPDX-License-Identifier: Apache-2.0

package feature

import "math"

// Feature is one coordinate of an example: a weight's number and a value.
// Index is the hash of the feature masked to the model's 2^b weights
// (unstrided: the learner multiplies by the floats it keeps per weight).
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
// what the sum of their squares that vw's plain rules reckon with has too much,
// when Config.Limits has taken features away (see limit.go).
type Span struct {
	NS     byte
	Lo, Hi uint32
	Over   float32
}

// Example is the head of one example; its parts lie in the arrays of its Batch.
type Example struct {
	Label   float32 // NoLabel when there is none
	Weight  float32 // importance; 0 and below: predict only. vw's sums count those below, too
	Initial float32 // initial prediction, added to the sum over features

	Before         uint32  // empty lines in front of it: no examples, but vw's holdout counts them
	TagLo, TagHi   uint32  // Batch.Tags[TagLo:TagHi]
	SpanLo, SpanHi uint32  // Batch.Spans[SpanLo:SpanHi], in the order of first appearance
	Hidden         uint32  // features just before FeatLo, of namespaces that only interact: counted, not summed
	HiddenSquares  float32 // the sum of their squared values, and what Limits left in it, with which vw's plain rules reckon
	FeatLo, FeatHi uint32  // Batch.Features[FeatLo:FeatHi]: the namespaces' features in Spans order, the constant, the interactions
}

// Count returns the number of features as vw counts them.
func (e *Example) Count() int { return int(e.FeatHi - e.FeatLo + e.Hidden) }

// Labeled reports whether the example has a label.
func (e *Example) Labeled() bool { return e.Label != NoLabel }

// Warning is a recovery of the parser from a malformed line.
type Warning struct {
	Source string // name of the input; empty where the reader knows of one only
	Line   int64  // 1-based number within its input
	Text   string // what was wrong and what was done about it
}

// Batch is a run of consecutive examples in flat arrays. A batch is filled,
// handed on, read, and given back to be filled again; nothing in it is
// allocated per example.
type Batch struct {
	Examples []Example
	Spans    []Span
	Features []Feature
	Tags     []byte
	Warnings []Warning

	// Names are those of Features, one each, in NameText; both are empty unless
	// Config.Names is set.
	Names    []Name
	NameText []byte
}

// Name is where the name of a feature lies in Batch.NameText.
type Name struct {
	Lo, Hi         uint32 // all of it, as vw writes it: "place^north", "a^x*b^y"
	LeafLo, LeafHi uint32 // the part that n-grams are named by: "north"
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Examples = b.Examples[:0]
	b.Spans = b.Spans[:0]
	b.Features = b.Features[:0]
	b.Tags = b.Tags[:0]
	b.Warnings = b.Warnings[:0]
	b.Names = b.Names[:0]
	b.NameText = b.NameText[:0]
}

// FeaturesOf returns the features of ex, in the order in which vw sums them.
func (b *Batch) FeaturesOf(ex *Example) []Feature { return b.Features[ex.FeatLo:ex.FeatHi] }

// TagOf returns the tag of ex.
func (b *Batch) TagOf(ex *Example) []byte { return b.Tags[ex.TagLo:ex.TagHi] }

// SpansOf returns the namespaces of ex.
func (b *Batch) SpansOf(ex *Example) []Span { return b.Spans[ex.SpanLo:ex.SpanHi] }

// NameOf returns the name of Features[i]; nil where names are not kept.
func (b *Batch) NameOf(i int) []byte {
	if i >= len(b.Names) {
		return nil
	}
	return b.NameText[b.Names[i].Lo:b.Names[i].Hi]
}
