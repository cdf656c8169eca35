// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// benchBlocks returns batches of 300 lines, from GVW_BENCH_TEXT or drawn.
func benchBlocks(b *testing.B) (all []*feature.Batch, features int) {
	var lines [][]byte
	if name := os.Getenv("GVW_BENCH_TEXT"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		lines = bytes.SplitAfter(text, []byte("\n"))
	} else {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			line := []byte("-1 |u")
			for range 40 {
				r := rng.Float64()
				line = fmt.Appendf(line, " w%d", int(1e6*r*r*r))
			}
			line = append(line, " |v"...)
			for range 35 {
				line = fmt.Appendf(line, " w%d:%.4f", rng.IntN(1e6), rng.Float64())
			}
			lines = append(lines, line)
		}
	}
	p, err := feature.NewParser(feature.Config{Bits: 22})
	if err != nil {
		b.Fatal(err)
	}
	batch := new(feature.Batch)
	for i, line := range lines {
		if err := p.AppendLine(batch, line, 1); err != nil {
			b.Fatal(err)
		}
		if len(batch.Examples) == 300 || i == len(lines)-1 {
			features += len(batch.Features)
			all = append(all, batch)
			batch = new(feature.Batch)
		}
	}
	return all, features
}

// BenchmarkBlock measures a pass over all blocks: encoding, decoding, and the savings and cost
// of additional compression by s2.
func BenchmarkBlock(b *testing.B) {
	all, features := benchBlocks(b)
	enc, dec := cache.NewEncoder(22), cache.NewDecoder(22)
	var plain, packed [][]byte
	plainSize, packedSize := 0, 0
	for _, batch := range all {
		block, err := enc.Append(nil, batch)
		if err != nil {
			b.Fatal(err)
		}
		plain = append(plain, block)
		packed = append(packed, s2.Encode(nil, block))
		plainSize += len(block)
		packedSize += len(packed[len(packed)-1])
	}
	report := func(b *testing.B, size int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*features), "ns/feature")
		b.ReportMetric(float64(size)/float64(features), "B/feature")
	}
	var buf []byte
	var out feature.Batch
	decode := func(b *testing.B, block []byte) {
		out.Reset()
		if err := dec.Decode(&out, cache.Block{Data: block}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			for _, batch := range all {
				var err error
				if buf, err = enc.Append(buf[:0], batch); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b, plainSize)
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for _, block := range plain {
				decode(b, block)
			}
		}
		report(b, plainSize)
	})
	b.Run("encode_s2", func(b *testing.B) {
		var squeezed []byte
		for b.Loop() {
			for _, batch := range all {
				var err error
				if buf, err = enc.Append(buf[:0], batch); err != nil {
					b.Fatal(err)
				}
				squeezed = s2.Encode(squeezed[:cap(squeezed)], buf)
			}
		}
		report(b, packedSize)
	})
	b.Run("decode_s2", func(b *testing.B) {
		for b.Loop() {
			for _, block := range packed {
				var err error
				if buf, err = s2.Decode(buf[:cap(buf)], block); err != nil {
					b.Fatal(err)
				}
				decode(b, buf)
			}
		}
		report(b, packedSize)
	})
}
