// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// FuzzScores: the scores of all classes have the same bits as those of one class after the other, with any number of
// classes.
func FuzzScores(f *testing.F) {
	for _, classes := range []uint8{1, 7, 8, 9, 15, 16, 20, 24, 25, 31, 32, 47, 48, 49, 64} {
		f.Add([]byte("\x00\x00\x00\x80\x3f\x03\x00\x00\x80\x7f\x00\x00\x00\x00\xbf"), float32(0.25), uint64(classes), classes)
	}
	f.Add([]byte{}, float32(1), uint64(1), uint8(20))
	f.Fuzz(func(t *testing.T, b []byte, initial float32, seed uint64, classes uint8) {
		k := int(classes)%64 + 1
		var fs []feature.Feature
		for ; len(b) >= 5; b = b[5:] {
			fs = append(fs, feature.Feature{Index: uint32(b[0]), Value: math.Float32frombits(binary.LittleEndian.Uint32(b[1:]))})
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		w := make([]float32, 4*(255+k)) // the last feature has just room for its classes
		for i := range w {
			w[i] = rng.Float32()*3 - 1
		}
		table := newTable(&Config{Adaptive: true}, w)
		got, want := make([]float32, k+1), make([]float32, k+1)
		dotsEach(want[:k], table.cells, fs, initial)
		dots4(got[:k], table.cells, fs, initial)
		for i := range want {
			if !alike(got[i], want[i]) {
				t.Errorf("%d classes, %d features: score %d is %v, want %v", k, len(fs), i, got[i], want[i])
			}
		}
	})
}

// BenchmarkScores has 20 classes and weights in the cache.
func BenchmarkScores(b *testing.B) {
	const classes = 20
	t := newTable(&Config{Adaptive: true}, make([]float32, 4<<12))
	fs := make([]feature.Feature, 90)
	for i := range fs {
		fs[i] = feature.Feature{Index: uint32(i * 32), Value: 1}
	}
	scores := make([]float32, classes)
	for _, c := range []struct {
		name string
		dots func(scores []float32, cells [][4]float32, fs []feature.Feature, initial float32)
	}{{"octets", dots4}, {"each", dotsEach}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.dots(scores, t.cells, fs, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fs)), "ns/feature")
		})
	}
}
