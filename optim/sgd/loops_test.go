// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// FuzzLoops: dot and apply for four features at a time give the same bits as for one after the other, with any features
// to prefetch. They take away as many of these as they prefetch.
func FuzzLoops(f *testing.F) {
	seed := func(next, perDot uint8, values ...float32) {
		b := []byte{}
		for i, v := range values {
			b = append(b, byte(i*7))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		f.Add(b, float32(0.25), uint64(len(values)), next, perDot)
	}
	inf := float32(math.Inf(1))
	seed(0, 1, 1, 2, 3, 4, -5, 0.5, 0.25, 0.125, 7)
	seed(200, 4, 0, 1e-20, -1e-20, 1e-19, 3e38, -3e38, inf, -inf, math.MaxFloat32, -math.MaxFloat32)
	seed(3, 4, 1, 1, 1, 1, float32(math.NaN()), 2, 2, 2)
	seed(2, 1, 1, 2, 3)
	f.Fuzz(func(t *testing.T, b []byte, u float32, seed uint64, next, perDot uint8) {
		var fs []feature.Feature
		for ; len(b) >= 5; b = b[5:] {
			fs = append(fs, feature.Feature{Index: uint32(b[0] & 31), Value: math.Float32frombits(binary.LittleEndian.Uint32(b[1:]))})
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		w := make([]float32, 4*32)
		for i := range w {
			w[i] = rng.Float32()*3 - 1
		}
		a := ahead{fs: make([]feature.Feature, next), perDot: int(perDot % 5)}
		for i := range a.fs {
			a.fs[i].Index = rng.Uint32N(32)
		}
		single, left := newTable(&Config{}, append([]float32(nil), w...)), a
		if got, want := dot1(&single, fs, &left, u, 0), dotOneEach(&single, fs, u); !alike(got, want) {
			t.Errorf("sum of single weights %v, want %v", got, want)
		}
		if took, most := len(a.fs)-len(left.fs), len(fs)/4*a.perDot; took > most {
			t.Errorf("the dot of single weights took away %d of %d features, want at most %d", took, len(a.fs), most)
		}
		for _, cfg := range []Config{{Adaptive: true}, {Normalized: true}, {Adaptive: true, Normalized: true}} {
			one, four := newTable(&cfg, append([]float32(nil), w...)), newTable(&cfg, append([]float32(nil), w...))
			p, left := a, a
			want, got := dotEach(&one, fs, u), dot4(&four, fs, &left, u, 0)
			if !alike(got, want) {
				t.Errorf("sum %v, want %v", got, want)
			}
			if most := len(fs) / 4 * p.perDot; len(p.fs)-len(left.fs) > most {
				t.Errorf("dot took away %d of %d features, want at most %d", len(p.fs)-len(left.fs), len(p.fs), most)
			}
			left = a
			applyEach(&one, fs, u)
			apply4(&four, fs, &left, u)
			if took, most := len(a.fs)-len(left.fs), len(fs)/4; took > most {
				t.Errorf("apply took away %d of %d features, want at most %d", took, len(a.fs), most)
			}
			for i, v := range four.w {
				if !alike(v, one.w[i]) {
					t.Errorf("weight %d, float %d: %v, want %v", i/4, i%4, v, one.w[i])
				}
			}
		}
	})
}

// A feature beyond the table panics as in the plain loops, before any weight behind it changes.
func TestLoopsRefuseForeignFeatures(t *testing.T) {
	cfg := Config{Adaptive: true, Normalized: true}
	fs := make([]feature.Feature, 8)
	for i := range fs {
		fs[i] = feature.Feature{Index: uint32(i), Value: 1}
	}
	fs[6].Index = 16
	for name, loop := range map[string]func(*table){
		"dot":        func(t *table) { dot4(t, fs, &ahead{}, 0, 0) },
		"single":     func(t *table) { t.w = t.w[:16]; dot1(t, fs, &ahead{}, 0, 0) },
		"scores":     func(t *table) { dots4(make([]float32, 10), t.cells, fs[:7], 0) },
		"last score": func(t *table) { dots4(make([]float32, 30), make([][4]float32, 29), fs[:1], 0) },
		"accumulate": func(t *table) { accumulateBoth(t, fs, &ahead{}, 1, sums{}) },
		"apply":      func(t *table) { apply4(t, fs, &ahead{}, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			table := newTable(&cfg, make([]float32, 4*16))
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
				if table.cells[7] != [4]float32{} {
					t.Error("the weight of the feature behind it has changed")
				}
			}()
			loop(&table)
		})
	}
}
