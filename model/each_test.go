// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"iter"
	"testing"

	"pgregory.net/rapid"
)

// placed are places in the order in which weights appear.
type placed struct {
	data []float32
	at   map[uint32]int
}

func (p *placed) All() iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		for index, k := range p.at {
			if !yield(index, k) {
				return
			}
		}
	}
}

func (p *placed) Weight(index uint32) []float32 {
	k, ok := p.at[index]
	if !ok {
		k = len(p.at)
		p.at[index] = k
	}
	return p.data[2*k:][:2]
}

// Weights with places are written and read as those of a table.
func TestPlacesAreNotInFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const bits, weights = 12, 300
		table, own := make([]float32, 2<<bits), &placed{make([]float32, 2*weights), map[uint32]int{}}
		index := rapid.OneOf(rapid.Uint32Range(0, 1<<bits-1), rapid.Uint32Range(0, 99), rapid.Uint32Range(1<<bits-3, 1<<bits-1))
		for range rapid.IntRange(0, weights).Draw(t, "weights") {
			i := index.Draw(t, "index")
			w := own.Weight(i)
			w[0], w[1] = rapid.SampledFrom([]float32{0, 1, -2.5}).Draw(t, "w"), rapid.SampledFrom([]float32{0, 3}).Draw(t, "G")
			copy(table[2*i:], w)
		}
		for _, resume := range []*Resume{nil, {Contraction: 0.5}} {
			h := Header{Bits: bits, MaxLabel: 1, Options: []Option{{Name: "adaptive"}}}
			slots := []int{0, 1}
			wide := &Regressor{Header: h, Resume: resume, Weights: View{Data: table, Stride: 2, Slots: slots}}
			dense := &Regressor{Header: h, Resume: resume, Weights: View{Data: own.data, Stride: 2, Slots: slots, Places: own}}
			for name, write := range map[string]func(*bytes.Buffer, *Regressor) error{
				"binary":   func(b *bytes.Buffer, r *Regressor) error { return Write(b, r) },
				"readable": func(b *bytes.Buffer, r *Regressor) error { return WriteReadable(b, r) },
				"exact":    func(b *bytes.Buffer, r *Regressor) error { return WriteExact(b, r) },
			} {
				var want, got bytes.Buffer
				if err := write(&want, wide); err != nil {
					t.Fatal(err)
				}
				if err := write(&got, dense); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want.Bytes(), got.Bytes()) {
					t.Errorf("%s: %q, want %q", name, got.Bytes(), want.Bytes())
				}
				if name != "binary" {
					continue
				}
				d, err := NewDecoder(&got, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				read := &placed{make([]float32, 2*weights), map[uint32]int{}}
				if _, err := d.Weights(View{Stride: 2, Slots: slots, Places: read}); err != nil {
					t.Fatal(err)
				}
				for index, k := range read.All() {
					for f := range d.Floats {
						if v := read.data[2*k+f]; v != table[2*int(index)+f] {
							t.Errorf("weight %d, float %d: read %v, want %v", index, f, v, table[2*int(index)+f])
						}
					}
				}
			}
		}
	})
}
