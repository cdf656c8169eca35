// SPDX-License-Identifier: Apache-2.0

package feature

// fnv is the prime of FNV-1, with which vw hashes combinations of features.
const fnv = 16777619

// Interactor adds interactions to examples that have none: for each pair of
// namespaces the products of their features,
//
//	index = (fnv·i ^ j) & mask, value = x·y
//
// in the order of the text, the first namespace outside. A namespace with itself
// gives each combination once, self products included. Pairs come in the order
// of their bytes, whatever the order of the options, as in vw. Not for use by
// more than one goroutine at a time.
type Interactor struct {
	mask  uint32
	match [256][4]uint64 // match[a] holds b: the pair ab is wanted
	spans [256]Span      // of the example in work, by namespace
	names []byte         // its namespaces, sorted
}

// NewInteractor makes an Interactor for cfg.Interactions.
func NewInteractor(cfg Config) (*Interactor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newInteractor(&cfg), nil
}

func newInteractor(cfg *Config) *Interactor {
	x := &Interactor{mask: cfg.Mask(), names: make([]byte, 0, 256)}
	for _, q := range cfg.Interactions {
		for _, a := range wildcard(q[0]) {
			for _, b := range wildcard(q[1]) {
				x.match[a][b>>6] |= 1 << (b & 63)
			}
		}
	}
	return x
}

// wildcard is the namespaces for which c stands in an interaction.
func wildcard(c byte) []byte {
	if c != ':' {
		return []byte{c}
	}
	var all []byte
	for c := byte(' '); c <= '~'; c++ {
		all = append(all, c)
	}
	return all
}

// wants reports whether the pair ab is to be made. Of ab and ba only the one
// with the lower bytes is.
func (x *Interactor) wants(a, b byte) bool {
	return x.has(a, b) && !(b < a && x.has(b, a))
}

func (x *Interactor) has(a, b byte) bool { return x.match[a][b>>6]>>(b&63)&1 != 0 }

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
	from, spans := src.FeaturesOf(&ex), src.SpansOf(&ex)
	moved := uint32(len(dst.Features)) - ex.FeatLo // may wrap, and back again

	featLo, spanLo := len(dst.Features), len(dst.Spans)
	dst.Features = append(dst.Features, from...)
	for _, s := range spans {
		dst.Spans = append(dst.Spans, Span{NS: s.NS, Lo: s.Lo + moved, Hi: s.Hi + moved})
	}
	if err := x.add(dst, dst.Features, dst.Spans[spanLo:]); err != nil {
		dst.Features = dst.Features[:featLo]
		dst.Spans = dst.Spans[:spanLo]
		return err
	}
	tag := src.TagOf(&ex)
	ex.TagLo = uint32(len(dst.Tags))
	dst.Tags = append(dst.Tags, tag...)
	ex.TagHi = uint32(len(dst.Tags))
	ex.SpanLo, ex.SpanHi = uint32(spanLo), uint32(len(dst.Spans))
	ex.FeatLo, ex.FeatHi = uint32(featLo), uint32(len(dst.Features))
	dst.Examples = append(dst.Examples, ex)
	return nil
}

// add appends to dst.Features the interactions of the namespaces in spans, whose
// features lie in fs.
func (x *Interactor) add(dst *Batch, fs []Feature, spans []Span) *LimitError {
	x.names = x.names[:0]
	total := uint64(0)
	for _, s := range spans {
		x.spans[s.NS] = s
		x.names = insert(x.names, s.NS)
		total += uint64(s.Hi - s.Lo)
	}
	for _, a := range x.names {
		for _, b := range x.names {
			if !x.wants(a, b) {
				continue
			}
			na, nb := x.size(a), x.size(b)
			if a == b {
				total += na * (na + 1) / 2
			} else {
				total += na * nb
			}
		}
	}
	if total > MaxFeatures {
		return &LimitError{Features: total}
	}
	for _, a := range x.names {
		for _, b := range x.names {
			if x.wants(a, b) {
				x.cross(dst, fs[x.spans[a].Lo:x.spans[a].Hi], fs[x.spans[b].Lo:x.spans[b].Hi], a == b)
			}
		}
	}
	return nil
}

func (x *Interactor) size(ns byte) uint64 { return uint64(x.spans[ns].Hi - x.spans[ns].Lo) }

// cross appends the products of as and bs.
func (x *Interactor) cross(dst *Batch, as, bs []Feature, same bool) {
	out := dst.Features
	for i, a := range as {
		half := fnv * a.Index
		from := bs
		if same {
			from = bs[i:]
		}
		for _, b := range from {
			out = append(out, Feature{Index: (half ^ b.Index) & x.mask, Value: a.Value * b.Value})
		}
	}
	dst.Features = out
}

// insert puts c into sorted names, once.
func insert(names []byte, c byte) []byte {
	i := len(names)
	for i > 0 && names[i-1] > c {
		i--
	}
	if i > 0 && names[i-1] == c {
		return names
	}
	names = append(names, 0)
	copy(names[i+1:], names[i:])
	names[i] = c
	return names
}
