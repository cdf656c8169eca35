// SPDX-License-Identifier: Apache-2.0

// Package stagepoly is vw's --stage_poly: a linear learner of products of features, which it chooses
// as it learns.
//
// The method is that of Agarwal, Beygelzimer, Hsu, Langford and Telgarsky, Scalable Nonlinear Learning
// with Adaptive Polynomial Expansions (2014). At the end of each stage the products with the largest
// weights become parents: from then on each example also has the products of its parents with all of
// its features. A stage ends after a number of examples, which doubles (vw's stagewise_poly.cc).
package stagepoly

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// Spec is the row of chosen products.
var Spec = reduction.Spec{
	Name: "stage_poly",
	Options: []reduction.Option{
		{Name: "stage_poly", Kind: reduction.Flag, Help: "learn products of features, chosen by their weights in stages", Kept: true},
		{Name: "sched_exponent", Kind: reduction.Number, Arg: "E", Help: "choose S^E products in a stage, of examples with S features on average", Default: "1"},
		{Name: "batch_sz", Kind: reduction.Count, Arg: "N", Help: "end the first stage after N examples and each later one after twice as many as before, or with 0 at the end of each pass", Default: "1000"},
		{Name: "batch_sz_no_doubling", Kind: reduction.Flag, Help: "end each stage after as many examples"},
	},
	PredictsFirst: true,
	Excludes: func(s reduction.Setting) string {
		for _, set := range s.Interactions {
			if strings.Contains(set, ":") {
				return "it chooses products itself: give interactions without wildcards"
			}
		}
		return ""
	},
	New: plan,
}

// maxBatch is the longest stage.
const maxBatch = math.MaxUint32

func plan(v reduction.Values) (reduction.Plan, error) {
	exponent, err := v.Number("sched_exponent", 1)
	if err == nil && exponent < 0 {
		err = &reduction.Fault{Option: "sched_exponent", Text: fmt.Sprintf("%v: want 0 or more", exponent)}
	}
	batch, other := 1000, error(nil)
	if v.Has("batch_sz") {
		batch, other = v.Count("batch_sz", 0, maxBatch)
	}
	return reduction.Plan{
		Alone: "ranks would choose different products, whose weights have no average",
		Make: func(e *reduction.Env) (reduction.Learner, error) {
			return &learner{
				env: e, exponent: exponent, batch: uint32(batch), doubles: !v.Has("batch_sz_no_doubling"),
				next: uint32(batch), bits: fresh(e.Base.Mask()), root: feature.ConstantIndex & e.Base.Mask(),
			}, nil
		},
	}, errors.Join(err, other)
}

// The two bytes that a weight has in a model: the smallest number of factors, less one, of the
// products that it has been the weight of, and a set of bits. Two products with equal hashes share
// a weight; an example has only one of them.
const (
	noDepth = 127 // of a weight that no product has had

	parentBit = 1
	seenBit   = 2 // the example that is being made has the weight
	fixedBit  = 128
)

// negligible is the smallest importance of a parent.
const negligible = 1e-9

// fresh returns the bytes of a table that has learned nothing.
func fresh(mask uint32) []byte {
	bits := make([]byte, 2*(uint64(mask)+1))
	for i := 0; i < len(bits); i += 2 {
		bits[i], bits[i+1] = noDepth, fixedBit
	}
	return bits
}

type learner struct {
	env      *reduction.Env
	exponent float32
	batch    uint32 // examples of the first stage; 0: a stage is a pass
	doubles  bool
	root     uint32 // weight of the constant feature, the empty product

	bits    []byte
	next    uint32 // the stage ends after an example before which there is a multiple of as many
	ends    bool   // the next example to learn from begins a new stage
	seen    uint64 // examples so far; empty lines and ends of passes count
	sum     uint64 // of the numbers of features of the examples learned from
	learned uint64 // number of these examples

	from   []feature.Feature // of the example
	made   []feature.Feature // its products
	own    feature.Example   // the example of these
	depth  int               // factors, less one, of the products that are being made
	learns bool
	heap   []candidate
}

var (
	_ reduction.Sectioned = (*learner)(nil)
	_ reduction.Steady    = (*learner)(nil)
	_ reduction.Counter   = (*learner)(nil)
	_ reduction.Advancer  = (*learner)(nil)
	_ reduction.PassEnder = (*learner)(nil)
)

// Features returns the number of products of the last example.
func (l *learner) Features() int { return len(l.made) }

// expand sets the products of an example.
func (l *learner) expand(b *feature.Batch, ex *feature.Example, learns bool) {
	l.from = l.env.Base.Append(l.from[:0], b.FeaturesOf(ex))
	l.made, l.depth, l.learns = l.made[:0], 0, learns
	l.multiply(feature.Feature{Index: l.root, Value: 1})
	for i := range l.made {
		l.bits[2*l.made[i].Index+1] ^= seenBit
	}
}

// multiply appends the products of a parent with all features, and those of the parents among them.
func (l *learner) multiply(parent feature.Feature) {
	for i := range l.from {
		w := l.product(l.from[i].Index, parent.Index)
		at := l.bits[2*w : 2*w+2]
		depth := byte(min(l.depth, noDepth))
		if l.learns && l.depth < int(at[0]) {
			at[0] = depth
			at[1] &^= parentBit // it was the weight of longer products
		}
		if at[1]&seenBit != 0 || at[0] != depth {
			continue
		}
		at[1] |= seenBit
		p := feature.Feature{Index: w, Value: l.from[i].Value * parent.Value}
		l.made = append(l.made, p)
		if at[1]&parentBit != 0 {
			l.depth++
			l.multiply(p)
			l.depth--
		}
	}
}

// product returns the number of the weight of the product of a feature with a product.
func (l *learner) product(f, parent uint32) uint32 {
	switch l.root {
	case f:
		return parent
	case parent:
		return f
	}
	return (f ^ 16777619*parent) & l.env.Base.Mask()
}

func (l *learner) result(raw, score float32, ex *feature.Example) reduction.Result {
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.expand(b, ex, false)
	raw, score := l.env.Base.Predict(0, l.made, 0)
	return l.result(raw, score, ex)
}

// Advance counts an example.
func (l *learner) Advance(ex *feature.Example) { l.seen += uint64(ex.Before) + 1 }

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	if l.ends {
		l.choose()
		l.ends = false
	}
	l.expand(b, ex, true)
	l.sum += uint64(reduction.Uncrossed(b, ex)) + uint64(ex.Hidden)
	l.learned++
	l.own = *ex
	l.own.HiddenSquares = 0 // vw's plain rules take the squares of the products only
	l.own.Initial = 0
	raw, score := l.env.Base.Learn(0, l.made, &l.own)
	l.env.Base.End(ex)
	if every, before := uint64(l.stage()), l.seen-1; every != 0 && before != 0 && before%every == 0 {
		l.next *= 2
		l.ends = true
	}
	return l.result(raw, score, ex)
}

// stage returns the number of which the examples before the last one of a stage are a multiple; 0: a
// pass ends it.
func (l *learner) stage() uint32 {
	if l.doubles {
		return l.next
	}
	return l.batch
}

// EndPass counts the end of a pass, which is an example to vw, and ends the stage of a pass.
func (l *learner) EndPass() {
	l.seen++
	if l.batch == 0 {
		l.ends = l.learned > 0
	}
}

// Steady is for reduction.Steady: only Learn changes the state.
func (l *learner) Steady() {}

func (l *learner) AppendState(dst []uint64) []uint64 {
	ends := uint64(0)
	if l.ends {
		ends = 1
	}
	dst = append(dst, uint64(l.next), ends, l.seen, l.sum, l.learned)
	var p [8]byte
	for bits := l.bits; len(bits) > 0; {
		n := copy(p[:], bits) // a table of two weights has four bytes
		dst, bits = append(dst, binary.LittleEndian.Uint64(p[:])), bits[n:]
	}
	return dst
}

func (l *learner) SetState(words []uint64) {
	l.next, l.ends, l.seen, l.sum, l.learned = uint32(words[0]), words[1] == 1, words[2], words[3], words[4]
	var p [8]byte
	for bits, i := l.bits, 5; len(bits) > 0; i++ {
		binary.LittleEndian.PutUint64(p[:], words[i])
		bits = bits[copy(bits, p[:]):]
	}
}

// AppendSection appends the two bytes of each weight.
func (l *learner) AppendSection(dst []byte) []byte { return append(dst, l.bits...) }

func (l *learner) SetSection(p []byte) error {
	if len(p) != len(l.bits) {
		return fmt.Errorf("%d bytes of products, want %d, two of each weight", len(p), len(l.bits))
	}
	for i := 1; i < len(p); i += 2 {
		if p[i]&^parentBit != fixedBit || p[i-1] > noDepth {
			return fmt.Errorf("weight %d has the bytes %02x %02x, which no training writes: copy or train the model again", i/2, p[i-1], p[i])
		}
	}
	copy(l.bits, p)
	return nil
}
