// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math/bits"
	"slices"
)

// fnv is the prime of FNV-1, with which vw hashes combinations of features.
const fnv = 16777619

// Interactor adds interactions to examples that have none: for each set of
// namespaces ab the products of their features,
//
//	index = (fnv·i ^ j) & mask, value = x·y
//
// for abc (fnv·(fnv·i ^ j) ^ k), and so on, in the order of the text, the first
// namespace outermost. A namespace with itself gives each combination once, self
// products included, or every permutation. The sets come in the order of their
// lengths, then of their bytes, whatever the order of the options, as in vw.
//
// It also hides the namespaces of Config.IgnoreLinear. Not for use by more than
// one goroutine at a time.
type Interactor struct {
	mask    uint32
	named   bool
	permute bool
	hides   bool
	hidden  [256]bool
	terms   terms

	spans  [256]Span // of the example in work, by namespace
	levels []level   // of the interaction in work
	path   []Name    // names of the features chosen so far
	moved  []Name    // names of an example, by the numbers of its features
}

// level is a place in an interaction.
type level struct {
	fs    []Feature
	names []Name
	same  bool // the namespace of the previous level: continue after its feature
}

// Expands reports whether examples need an Interactor.
func (c *Config) Expands() bool { return len(c.Interactions)+len(c.IgnoreLinear) > 0 }

// NewInteractor makes an Interactor for cfg.Interactions.
func NewInteractor(cfg Config) (*Interactor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newInteractor(&cfg), nil
}

// newInteractor makes one of a valid cfg.
func newInteractor(cfg *Config) *Interactor {
	x := &Interactor{
		mask:    cfg.Mask(),
		named:   cfg.Names,
		permute: cfg.Permutations,
		hides:   len(cfg.IgnoreLinear) > 0,
		terms:   newTerms(cfg),
		levels:  make([]level, 0, maxOrder),
	}
	for _, v := range cfg.IgnoreLinear {
		set(&x.hidden, v, true)
	}
	return x
}

// Expand appends the examples of src to dst, each with its interactions. The
// error is a *LimitError; dst then holds the examples before the one that is
// too large.
func (x *Interactor) Expand(dst, src *Batch) error {
	for i := range src.Examples {
		if err := x.Append(dst, src, i); err != nil {
			return err
		}
	}
	dst.Warnings = append(dst.Warnings, src.Warnings...)
	return nil
}

// Append appends example i of src to dst, with its interactions. The error is a
// *LimitError; dst is then as it was before.
func (x *Interactor) Append(dst, src *Batch, i int) error {
	ex := src.Examples[i]
	spans, tag, costs, names, textLo := src.SpansOf(&ex), src.TagOf(&ex), src.CostsOf(&ex), []Name(nil), len(dst.NameText)
	if x.named {
		names = slices.Grow(x.moved[:0], int(ex.FeatHi))[:ex.FeatHi]
		for k := ex.FeatLo; k < ex.FeatHi; k++ {
			names[k] = dst.copyName(src, int(k))
		}
		x.moved = names
	}
	if err := x.expand(dst, &ex, src.Features, spans, names); err != nil {
		dst.NameText = dst.NameText[:textLo]
		return err
	}
	ex.TagLo = uint32(len(dst.Tags))
	dst.Tags = append(dst.Tags, tag...)
	ex.TagHi = uint32(len(dst.Tags))
	ex.CostLo = uint32(len(dst.Costs))
	dst.Costs = append(dst.Costs, costs...)
	ex.CostHi = uint32(len(dst.Costs))
	dst.Examples = append(dst.Examples, ex)
	return nil
}

// expand appends to dst the features from, by spans, and their interactions, and
// sets the bounds of ex. The names are those of from. After an error dst is as
// it was.
func (x *Interactor) expand(dst *Batch, ex *Example, from []Feature, spans []Span, names []Name) *LimitError {
	list, err := x.terms.of(spans)
	if err != nil {
		return err
	}
	total := uint64(0)
	for _, s := range spans {
		x.spans[s.NS] = s
		total += uint64(s.Hi - s.Lo)
	}
	defer func() {
		for _, s := range spans {
			x.spans[s.NS] = Span{}
		}
	}()
	for _, term := range list {
		if total += x.size(term); total > MaxFeatures {
			return &LimitError{Features: total}
		}
	}
	ex.SpanLo = uint32(len(dst.Spans))
	dst.Features = slices.Grow(dst.Features, int(total))
	x.copy(dst, ex, from, spans, names)
	for _, term := range list {
		lo := len(dst.Features)
		x.product(dst, term, from, names)
		ex.HiddenSquares += x.over(term, from, dst.Features[lo:])
	}
	ex.SpanHi = uint32(len(dst.Spans))
	ex.FeatHi = uint32(len(dst.Features))
	return nil
}

// copy appends the features as they are, the hidden ones first.
func (x *Interactor) copy(dst *Batch, ex *Example, from []Feature, spans []Span, names []Name) {
	dst.Spans = append(dst.Spans, spans...)
	out := dst.Spans[ex.SpanLo:]
	put := func(hidden bool) {
		for i, s := range spans {
			if x.hidden[s.NS] != hidden {
				continue
			}
			lo := uint32(len(dst.Features))
			dst.Features = append(dst.Features, from[s.Lo:s.Hi]...)
			if x.named {
				dst.Names = append(dst.Names, names[s.Lo:s.Hi]...)
			}
			out[i] = Span{NS: s.NS, Lo: lo, Hi: uint32(len(dst.Features)), Over: s.Over}
		}
	}
	base := len(dst.Features)
	if x.hides {
		put(true)
	}
	ex.Hidden = uint32(len(dst.Features) - base)
	ex.HiddenSquares = 0
	for _, f := range dst.Features[base:] {
		ex.HiddenSquares += float32(f.Value * f.Value)
	}
	for _, s := range spans {
		ex.HiddenSquares += s.Over
	}
	ex.FeatLo = uint32(len(dst.Features))
	put(false)
}

// size returns the number of products of a term; more than MaxFeatures if that is
// all that is to be known.
func (x *Interactor) size(term []byte) uint64 {
	total, run := uint64(1), uint64(0)
	for i, ns := range term {
		n := uint64(x.spans[ns].Hi - x.spans[ns].Lo)
		if n == 0 {
			return 0
		}
		if i > 0 && ns == term[i-1] && !x.permute {
			run++ // combinations with repetition: n(n+1)…(n+run)/(run+1)!
		} else {
			run = 0
		}
		hi, lo := bits.Mul64(total, n+run)
		if total = lo / (run + 1); hi != 0 || total > maxProduct {
			return maxProduct
		}
	}
	return total
}

const maxProduct = 1 << 40

// product appends the interactions of one term.
func (x *Interactor) product(dst *Batch, term []byte, from []Feature, names []Name) {
	x.levels = x.levels[:0]
	for i, ns := range term {
		s := x.spans[ns]
		if s.Lo == s.Hi {
			return
		}
		l := level{fs: from[s.Lo:s.Hi], same: i > 0 && ns == term[i-1] && !x.permute}
		if x.named {
			l.names = names[s.Lo:s.Hi]
		}
		x.levels = append(x.levels, l)
	}
	x.path = x.path[:0]
	x.descend(dst, 0, 0, 1, 0)
}

// descend appends the products of the features from number start on of a level
// and all after it. hash and value are those of the features chosen before.
func (x *Interactor) descend(dst *Batch, at int, hash uint32, value float32, start int) {
	l := &x.levels[at]
	if at == len(x.levels)-1 {
		dst.Features = cross(dst.Features, l.fs[start:], hash, value, x.mask)
		if x.named {
			for _, n := range l.names[start:] {
				dst.appendProduct(x.path, n)
			}
		}
		return
	}
	deeper := x.levels[at+1].same
	for i := start; i < len(l.fs); i++ {
		f := &l.fs[i]
		next := 0
		if deeper {
			next = i
		}
		if x.named {
			x.path = append(x.path, l.names[i])
		}
		x.descend(dst, at+1, fnv*(hash^f.Index), value*f.Value, next)
		if x.named {
			x.path = x.path[:len(x.path)-1]
		}
	}
}

// cross appends the products of one feature, or of the product of several, with
// each of fs. dst has room for them.
func cross(dst, fs []Feature, hash uint32, value float32, mask uint32) []Feature {
	n := len(dst)
	dst = dst[:n+len(fs)]
	out := dst[n:][:len(fs)]
	for i := range fs {
		out[i] = Feature{Index: (hash ^ fs[i].Index) & mask, Value: value * fs[i].Value}
	}
	return dst
}
