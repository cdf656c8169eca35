// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// FuzzSense: four features at a time give the same bits as one after the other.
func FuzzSense(f *testing.F) {
	seed := func(values ...float32) {
		b := []byte{}
		for i, v := range values {
			b = append(b, byte(i*7))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		f.Add(b, float32(0.25), uint64(len(values)))
	}
	inf := float32(math.Inf(1))
	seed(1, 2, 3, 4, -5, 0.5, 0.25, 0.125)
	seed(0, 1e-20, -1e-20, 1e-19, 1.1e-19, 3e38, -3e38, inf)
	seed(1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1)
	seed(float32(math.NaN()), 1, -inf, 2, 1e19, 2e19, 1.8e19, 1)
	f.Fuzz(func(t *testing.T, b []byte, g2 float32, seed uint64) {
		var fs []feature.Feature
		for ; len(b) >= 5; b = b[5:] {
			fs = append(fs, feature.Feature{Index: uint32(b[0] & 31), Value: math.Float32frombits(binary.LittleEndian.Uint32(b[1:]))})
		}
		if !(g2 >= 0) {
			g2 = -g2
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		w := make([]float32, 4*32)
		for i := range w {
			switch k := rng.IntN(8); {
			case k == 0 && i%4 == normalized:
				w[i] = -1 // a value that no rule leaves
			case k > 3:
				w[i] = rng.Float32() * 3
			}
		}
		cfg := Config{Adaptive: true, Normalized: true, PowerT: 0.5}
		one, four := newTable(&cfg, append([]float32(nil), w...)), newTable(&cfg, append([]float32(nil), w...))
		want := senseEach(&one, fs, g2, sums{1, 2})
		got := accumulateBoth(&four, fs, &ahead{}, g2, sums{1, 2})
		if !alike(got.perUpdate, want.perUpdate) || !alike(got.norm, want.norm) {
			t.Errorf("sums %v, want %v", got, want)
		}
		for i, v := range four.w {
			if !alike(v, one.w[i]) {
				t.Errorf("weight %d, float %d: %v, want %v", i/4, i%4, v, one.w[i])
			}
		}
	})
}

// alike reports whether a and b have the same bits or are both NaN.
func alike(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// BenchmarkSense has weights in the cache; half of the features of a pass are new to N.
func BenchmarkSense(b *testing.B) {
	cfg := Config{Adaptive: true, Normalized: true, PowerT: 0.5}
	t := newTable(&cfg, make([]float32, 4<<10))
	rng := rand.New(rand.NewPCG(1, 1))
	fs := make([]feature.Feature, 4096)
	for i := range fs {
		fs[i] = feature.Feature{Index: uint32(rng.IntN(1 << 10)), Value: rng.Float32()}
	}
	for _, c := range []struct {
		name  string
		sense func(*table, []feature.Feature, float32, sums) sums
	}{{"four", func(t *table, fs []feature.Feature, g2 float32, sum sums) sums {
		return accumulateBoth(t, fs, &ahead{}, g2, sum)
	}}, {"each", senseEach}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if rng.IntN(4) == 0 {
					clear(t.w)
				}
				for i := 0; i < len(fs); i += 8 {
					c.sense(&t, fs[i:i+8], 0.1, sums{})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fs)), "ns/feature")
		})
	}
}
