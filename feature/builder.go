// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"
)

// Builder builds examples for the parsers of all formats. A parser passes it the
// contents of a line in their order; the builder implements vw's rules for hashes, the
// order of namespaces, the constant and interactions.
//
//	b.Begin(&batch, 7)
//	b.Label([]byte("1 0.5"))
//	b.Enter(b.Namespace([]byte("size")))
//	b.Feature([]byte("area"), 120)
//	b.List('s')
//	err := b.End()
//
// Between Begin and End the batch is the builder's. Not for use by more than one
// goroutine at a time.
type Builder struct {
	hash     func(s []byte, seed uint32) uint32
	mask     uint32
	seed     uint32
	salt     uint32 // hash of the default namespace
	constant Feature
	bare     bool // no constant
	strict   bool
	named    bool // names are kept
	labels   LabelKind
	// classNames are the numbers of those with names.
	classNames map[string]float32
	shape      *shape
	inter      *Interactor // nil: neither interactions nor hidden namespaces

	// State of the current example.
	dst    *Batch
	ex     Example
	number int64
	warned int
	fault  *MalformedError // the first fault, where recoveries are errors

	ns   Namespace // of the current run
	from uint32    // where the run began

	// seen maps the first byte of a namespace's name to its span, counted from
	// 1 within the example; 0: not listed.
	seen    [256]uint32
	runs    []run
	offsets []int // offsets of the features of an n-gram

	old      []Feature // copy of the features, from which they are moved
	oldNames []Name
	oldSpans []Span

	wholes   bool     // Config.Whole is set
	limits   bool     // numbers are kept whole, for --feature_limit, --sort_features or Config.Whole
	cut      uint64   // kept bits of these numbers: all, or with Config.Cut those of the index
	whole    []uint64 // whole numbers of the example's features: see limit.go
	oldWhole []uint64
	sorted   []wholeFeature
}

// run is a stretch of features of one namespace.
type run struct {
	ns     byte
	lo, hi uint32
}

// Namespace is a namespace as features need it.
type Namespace struct {
	Byte byte   // first byte of the name; ' ' for the default namespace
	Salt uint32 // seeds the hashes of its features
	Name []byte // for the names of features
}

// NewBuilder makes a builder.
func NewBuilder(cfg Config) (*Builder, error) {
	b := new(Builder)
	if err := b.init(&cfg); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Builder) init(cfg *Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	b.hash = hasher(cfg.HashAll)
	b.mask = cfg.Mask()
	b.seed = cfg.HashSeed
	b.salt = cfg.defaultSalt()
	b.constant = Feature{Index: ConstantIndex & cfg.Mask(), Value: 1}
	b.bare = cfg.NoConstant
	b.strict = cfg.Strict
	b.named = cfg.Names
	b.labels = cfg.Labels
	b.classNames = numbered(cfg.ClassNames)
	var err error
	if b.shape, err = newShape(cfg); err != nil {
		return err
	}
	b.wholes = cfg.Whole && !cfg.Expands()
	b.limits, b.cut = len(cfg.Limits) > 0 || cfg.SortFeatures || b.wholes, math.MaxUint64
	if cfg.Cut {
		b.cut = uint64(b.mask)
	}
	if cfg.Expands() {
		b.inter = newInteractor(cfg)
	}
	return nil
}

// Default returns the namespace without a name.
func (b *Builder) Default() Namespace { return Namespace{Byte: ' ', Salt: b.salt} }

// Namespace returns the namespace of that name. In vw's JSON a name may be empty; its first
// byte is then 0.
func (b *Builder) Namespace(name []byte) Namespace {
	ns := Namespace{Salt: b.hash(name, b.seed), Name: name}
	if len(name) > 0 {
		ns.Byte = name[0]
	}
	return ns
}

// Redefine returns ns after --redefine, which vw applies only to text.
func (b *Builder) Redefine(ns Namespace) Namespace {
	ns.Byte = b.shape.redefine[ns.Byte]
	return ns
}

// Hash returns vw's hash of a name, not masked.
func (b *Builder) Hash(name []byte, salt uint32) uint32 { return b.hash(name, salt) }

// Begin starts the example of line n in dst.
func (b *Builder) Begin(dst *Batch, n int64) {
	b.dst, b.number, b.warned, b.fault = dst, n, 0, nil
	b.ex = Example{
		Label:  NoLabel,
		Weight: 1,
		TagLo:  uint32(len(dst.Tags)),
		SpanLo: uint32(len(dst.Spans)),
		FeatLo: uint32(len(dst.Features)),
		CostLo: uint32(len(dst.Costs)),
		CostHi: uint32(len(dst.Costs)),
	}
	b.from = b.ex.FeatLo
	b.whole = b.whole[:0]
}

// Tag appends to the tag.
func (b *Builder) Tag(tag []byte) { b.dst.Tags = append(b.dst.Tags, tag...) }

// Enter makes ns the namespace of the following features.
func (b *Builder) Enter(ns Namespace) {
	b.leave()
	b.ns = ns
}

// leave ends the current run.
func (b *Builder) leave() {
	if hi := uint32(len(b.dst.Features)); hi > b.from {
		b.runs = append(b.runs, run{ns: b.ns.Byte, lo: b.from, hi: hi})
		b.from = hi
	}
}

// List appends the namespaces that begin with c to the order of namespaces, unless
// they are in it. Every namespace with features must be listed before End.
func (b *Builder) List(c byte) {
	if b.seen[c] == 0 {
		b.dst.Spans = append(b.dst.Spans, Span{NS: c})
		b.seen[c] = uint32(len(b.dst.Spans)) - b.ex.SpanLo
	}
}

// Feature adds a feature to the current namespace, unless its value is 0.
func (b *Builder) Feature(name []byte, value float32) {
	b.AddNamed(name, nil, b.hash(name, b.ns.Salt), value)
}

// TextFeature adds a feature whose value is text: "color:red", with the value 1.
func (b *Builder) TextFeature(name, text []byte) {
	b.AddNamed(name, text, b.hash(text, b.hash(name, b.ns.Salt)), 1)
}

// Add adds a feature with that hash and no name to the current namespace, unless its
// value is 0. place is used for names only.
func (b *Builder) Add(place []byte, hash uint32, value float32) {
	b.add(place, nil, hash, whole(hash), value)
}

// AddNamed adds a feature with that hash to the current namespace, unless its
// value is 0. name and text, its value, are used for names only.
func (b *Builder) AddNamed(name, text []byte, hash uint32, value float32) {
	b.add(name, text, hash, whole(hash&b.mask), value)
}

// AddUnnamed adds features without names to the current namespace, except those with the value 0.
// Their indices are hashes, not masked.
func (b *Builder) AddUnnamed(features []Feature) {
	if b.limits || b.named {
		for _, f := range features {
			b.AddNamed(nil, nil, f.Index, f.Value)
		}
		return
	}
	dst, mask := b.dst.Features, b.mask
	for _, f := range features {
		if f.Value != 0 {
			dst = append(dst, Feature{Index: f.Index & mask, Value: f.Value})
		}
	}
	b.dst.Features = dst
}

// Room returns room for n features of the current namespace, and the mask of their indices. The caller fills in those
// whose value is not 0, one after the other, and calls Fill. ok is false if features need names or whole indices: then
// the caller uses AddNamed or AddUnnamed.
func (b *Builder) Room(n int) (room []Feature, mask uint32, ok bool) {
	if b.limits || b.named {
		return nil, 0, false
	}
	b.dst.Features = slices.Grow(b.dst.Features, n)
	lo := len(b.dst.Features)
	return b.dst.Features[lo : lo+n : lo+n], b.mask, true
}

// Fill adds the first n features of Room.
func (b *Builder) Fill(n int) { b.dst.Features = b.dst.Features[:len(b.dst.Features)+n] }

func (b *Builder) add(name, text []byte, hash uint32, number uint64, value float32) {
	if value == 0 {
		return
	}
	if b.limits {
		b.whole = append(b.whole, number&b.cut)
	}
	b.dst.Features = append(b.dst.Features, Feature{Index: hash & b.mask, Value: value})
	if b.named {
		b.dst.appendName(b.ns.Name, name, text)
	}
}

// Cancel discards the example.
func (b *Builder) Cancel() {
	dst, ex := b.dst, &b.ex
	b.clean()
	dst.Features = dst.Features[:ex.FeatLo]
	dst.Spans = dst.Spans[:ex.SpanLo]
	dst.Tags = dst.Tags[:ex.TagLo]
	dst.Costs = dst.Costs[:ex.CostLo]
	if b.named {
		dst.Names = dst.Names[:ex.FeatLo]
	}
}

// clean resets the namespaces of the example.
func (b *Builder) clean() {
	for _, s := range b.dst.Spans[b.ex.SpanLo:] {
		b.seen[s.NS] = 0
	}
	b.runs = b.runs[:0]
	b.dst = nil
}

// End completes the example. On error, a *LimitError or a *MalformedError, there
// is none.
func (b *Builder) End() error {
	b.leave()
	dst, ex := b.dst, &b.ex
	if b.fault != nil {
		b.Cancel()
		return b.fault
	}
	if !b.place() {
		b.regroup()
	}
	b.clean()
	if b.shape.reduces {
		if err := b.reshape(dst); err != nil {
			return b.tooMany(dst, err)
		}
	}
	if !b.bare && b.shape.limit[ConstantNamespace] > 0 {
		k := uint32(len(dst.Features))
		dst.Features = append(dst.Features, b.constant)
		dst.Spans = append(dst.Spans, Span{NS: ConstantNamespace, Lo: k, Hi: k + 1})
		if b.named {
			dst.appendName(nil, []byte("Constant"), nil)
		}
	}
	ex.TagHi = uint32(len(dst.Tags))
	ex.SpanHi = uint32(len(dst.Spans))
	ex.FeatHi = uint32(len(dst.Features))
	if n := len(dst.Features) - int(ex.FeatLo); n > MaxFeatures {
		return b.tooMany(dst, &LimitError{Features: uint64(n)})
	}
	if b.inter != nil {
		if err := b.expand(dst); err != nil {
			return b.tooMany(dst, err)
		}
	}
	if b.wholes {
		dst.Whole = slices.Grow(append(dst.Whole[:ex.FeatLo], b.whole...), len(dst.Features))[:len(dst.Features)]
		clear(dst.Whole[int(ex.FeatLo)+len(b.whole):])
	}
	dst.Examples = append(dst.Examples, *ex)
	return nil
}

// expand replaces the example, at the end of dst, by one with interactions.
func (b *Builder) expand(dst *Batch) *LimitError {
	ex := &b.ex
	b.setAside(dst)
	base := ex.FeatLo
	b.oldSpans = b.oldSpans[:0]
	for _, s := range dst.Spans[ex.SpanLo:] {
		b.oldSpans = append(b.oldSpans, Span{NS: s.NS, Lo: s.Lo - base, Hi: s.Hi - base, Over: s.Over})
	}
	dst.Features = dst.Features[:base]
	dst.Spans = dst.Spans[:ex.SpanLo]
	if b.named {
		dst.Names = dst.Names[:base]
	}
	return b.inter.expand(dst, ex, b.old, b.oldSpans, b.oldNames)
}

// setAside copies the features of the example to old, so that they can be reordered.
func (b *Builder) setAside(dst *Batch) {
	b.old = append(b.old[:0], dst.Features[b.ex.FeatLo:]...)
	if b.named {
		b.oldNames = append(b.oldNames[:0], dst.Names[b.ex.FeatLo:]...)
	}
	if b.limits {
		b.oldWhole = append(b.oldWhole[:0], b.whole...)
	}
}

func (b *Builder) tooMany(dst *Batch, err *LimitError) error {
	err.Line = b.number
	b.dst = dst
	b.Cancel()
	return err
}

// place sets the bounds of the spans if the runs are in the order of the
// namespaces, as they nearly always are. It reports whether they are.
func (b *Builder) place() bool {
	spans := b.dst.Spans[b.ex.SpanLo:]
	last := uint32(0)
	for _, r := range b.runs {
		k := b.seen[r.ns]
		switch {
		case k == last+1:
			spans[last].Lo = r.lo
		case k != last || k == 0:
			return false
		}
		spans[k-1].Hi = r.hi
		last = k
	}
	return true
}

// regroup brings the runs of each namespace together, in the order of the
// namespaces.
func (b *Builder) regroup() {
	spans := b.dst.Spans[b.ex.SpanLo:]
	for i := range spans {
		spans[i].Hi = 0
	}
	for _, r := range b.runs {
		k := b.seen[r.ns]
		if k == 0 {
			panic("BUG: feature: a namespace with features was not listed")
		}
		spans[k-1].Hi += r.hi - r.lo
	}
	at := b.ex.FeatLo
	for i := range spans {
		spans[i].Lo, at = at, at+spans[i].Hi
		spans[i].Hi = spans[i].Lo // grows to its end below
	}
	b.setAside(b.dst)
	for _, r := range b.runs {
		s := &spans[b.seen[r.ns]-1]
		copy(b.dst.Features[s.Hi:], b.old[r.lo-b.ex.FeatLo:r.hi-b.ex.FeatLo])
		if b.named {
			copy(b.dst.Names[s.Hi:], b.oldNames[r.lo-b.ex.FeatLo:r.hi-b.ex.FeatLo])
		}
		if b.limits {
			copy(b.whole[s.Hi-b.ex.FeatLo:], b.oldWhole[r.lo-b.ex.FeatLo:r.hi-b.ex.FeatLo])
		}
		s.Hi += r.hi - r.lo
	}
}
