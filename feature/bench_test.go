// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// benchText returns text for the benchmarks: sparse with a vocabulary of a million names, or
// dense with a hundred columns. GVW_BENCH_TEXT names a file to use instead.
func benchText(b *testing.B, dense bool) [][]byte {
	if name := os.Getenv("GVW_BENCH_TEXT"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		return lines[:len(lines)-1]
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var lines [][]byte
	for range 2000 {
		var line []byte
		if dense {
			line = append(line, "1 |d"...)
			for k := range 100 {
				line = fmt.Appendf(line, " f%d:%.5f", k, rng.NormFloat64())
			}
		} else {
			line = append(line, "-1 |u"...)
			for range 40 {
				r := rng.Float64()
				line = fmt.Appendf(line, " w%d", int(1e6*r*r*r))
			}
			line = append(line, " |v"...)
			for range 35 {
				line = fmt.Appendf(line, " w%d:%.4f", rng.IntN(1e6), rng.Float64())
			}
		}
		lines = append(lines, append(line, '\n'))
	}
	return lines
}

func BenchmarkAppendLine(b *testing.B) {
	for _, dense := range []bool{false, true} {
		b.Run(map[bool]string{false: "sparse", true: "dense"}[dense], func(b *testing.B) {
			lines := benchText(b, dense)
			p, err := feature.NewParser(feature.Config{Bits: 22})
			if err != nil {
				b.Fatal(err)
			}
			var batch feature.Batch
			bytes, features := 0, 0
			for b.Loop() {
				for i, line := range lines {
					if i%300 == 0 {
						features += len(batch.Features)
						batch.Reset()
					}
					if err := p.AppendLine(&batch, line, int64(i)); err != nil {
						b.Fatal(err)
					}
					bytes += len(line)
				}
			}
			b.SetBytes(int64(bytes / b.N))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(features), "ns/feature")
		})
	}
}

func BenchmarkMurmur3(b *testing.B) {
	for _, n := range []int{3, 7, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := bytes.Repeat([]byte("x"), n)
			b.SetBytes(int64(n))
			var h uint32
			for b.Loop() {
				h = feature.Murmur3(data, h)
			}
		})
	}
}

func BenchmarkExpand(b *testing.B) {
	cfg := feature.Config{Bits: 22, Interactions: []string{"uv"}}
	x, err := feature.NewInteractor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	cfg.Interactions = nil
	p, err := feature.NewParser(cfg)
	if err != nil {
		b.Fatal(err)
	}
	var src, dst feature.Batch
	for i, line := range benchText(b, false)[:100] {
		if err := p.AppendLine(&src, line, int64(i)); err != nil {
			b.Fatal(err)
		}
	}
	features := 0
	for b.Loop() {
		dst.Reset()
		if err := x.Expand(&dst, &src); err != nil {
			b.Fatal(err)
		}
		features += len(dst.Features)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(features), "ns/feature")
}
