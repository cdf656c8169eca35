// SPDX-License-Identifier: Apache-2.0

package stagepoly

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// made returns a learner with 2^bits weights.
func made(t interface {
	Helper()
	Fatal(...any)
}, bits uint, v reduction.Values,
) *learner {
	t.Helper()
	p, err := plan(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sgd.NewSlots(sgd.Config{Bits: bits, LearningRate: 0.5, PowerT: 0.5, Adaptive: true, Normalized: true}, l, 1, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Make(&reduction.Env{Base: s, Loss: l})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*learner)
}

// drawn returns an example with the given features and label.
func drawn(b *feature.Batch, label float32, at ...uint32) *feature.Example {
	b.Reset()
	for _, i := range at {
		b.Features = append(b.Features, feature.Feature{Index: i, Value: 1})
	}
	n := uint32(len(at))
	b.Spans = append(b.Spans, feature.Span{NS: 'a', Hi: n})
	return &feature.Example{Label: label, Weight: 1, SpanHi: 1, FeatHi: n}
}

// A parent brings its products with the features of the example. Without parents an example has its
// own features.
func TestParentsMultiply(t *testing.T) {
	l := made(t, 10, reduction.Values{"batch_sz": {"1"}})
	var b feature.Batch
	indices := func() (at []uint32) {
		for _, f := range l.made {
			at = append(at, f.Index)
		}
		return at
	}
	for range 2 { // the first example ends no stage, as in vw
		l.Advance(drawn(&b, 1, 5, 9))
		l.Learn(&b, drawn(&b, 1, 5, 9))
		if got := indices(); !slices.Equal(got, []uint32{5, 9}) {
			t.Fatalf("without parents: got products %v, want 5 and 9", got)
		}
	}
	l.Advance(drawn(&b, -1, 5, 9))
	l.Learn(&b, drawn(&b, -1, 5, 9))
	for _, w := range []uint32{l.product(5, 5), l.product(9, 5), l.product(9, 9)} {
		if !slices.Contains(indices(), w) {
			t.Errorf("with the parents 5 and 9: got products %v, want %d among them", indices(), w)
		}
	}
	for i := 1; i < len(l.bits); i += 2 {
		if l.bits[i]&seenBit != 0 {
			t.Errorf("weight %d is still marked after the example", i/2)
		}
	}
}

// The heap keeps the most important candidates.
func TestHeapKeepsTheLargest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Float32Range(1, 9), 0, 40).Draw(rt, "importances")
		most := rapid.IntRange(1, 10).Draw(rt, "most")
		var l learner
		for i, v := range values {
			if len(l.heap) == most {
				if !(l.heap[0].importance < v) {
					continue
				}
				l.pop()
			}
			l.push(candidate{v, uint32(i)})
		}
		var got []float32
		for _, c := range l.heap {
			got = append(got, c.importance)
		}
		slices.Sort(got)
		slices.Sort(values)
		if want := values[max(0, len(values)-most):]; !slices.Equal(got, want) {
			rt.Errorf("got %v, want %v", got, want)
		}
	})
}

// State and section carry the products from one learner to another.
func TestProductsAreKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bits := rapid.UintRange(1, 6).Draw(rt, "bits")
		v := reduction.Values{"batch_sz": {"2"}}
		l, to, loaded := made(t, bits, v), made(t, bits, v), made(t, bits, v)
		var b feature.Batch
		for range rapid.IntRange(0, 20).Draw(rt, "examples") {
			label := rapid.Float32Range(-1, 1).Draw(rt, "label")
			ex := drawn(&b, label, rapid.SliceOfN(rapid.Uint32Range(0, 1<<bits-1), 1, 4).Draw(rt, "features")...)
			l.Advance(ex)
			l.Learn(&b, ex)
		}
		to.SetState(l.AppendState(nil))
		if err := loaded.SetSection(l.AppendSection(nil)); err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(to.bits, l.bits) || !bytes.Equal(loaded.bits, l.bits) {
			rt.Errorf("got %x and %x, want %x", to.bits, loaded.bits, l.bits)
		}
		if to.next != l.next || to.ends != l.ends || to.seen != l.seen || to.sum != l.sum || to.learned != l.learned {
			rt.Errorf("got the counts of %+v, want those of %+v", to, l)
		}
	})
	l := made(t, 4, reduction.Values{})
	for _, p := range [][]byte{nil, make([]byte, 32), bytes.Repeat([]byte{200, 128}, 16)} {
		if err := l.SetSection(p); err == nil {
			t.Errorf("section %x is accepted", p)
		}
	}
}
