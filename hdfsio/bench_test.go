// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// One rank's part of 64 MB of text: the cost before the parser.
func BenchmarkPart(b *testing.B) {
	dir := b.TempDir()
	var lines strings.Builder
	for i := 0; lines.Len() < 64<<20; i++ {
		fmt.Fprintf(&lines, "%d |a w%d:%g w%d w%d\n", i%2, i*7919%100003, float64(i%89)/13, i*31%1009, i%17)
	}
	text := lines.String()
	for _, ext := range []string{".vw", ".gz", ".zst"} {
		name := filepath.Join(dir, "x"+ext)
		writeFile(b, name, compress(b, name, text))
		for _, s := range []Shard{{}, {Kind: Bytes, Rank: 3, Total: 4}, {Kind: Lines, Rank: 3, Total: 4}} {
			b.Run(fmt.Sprintf("%s/%v", ext[1:], s.Kind), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				buf := make([]byte, 256<<10)
				for b.Loop() {
					parts, err := Split(b.Context(), Local{}, []string{name}, s)
					if err != nil {
						b.Fatal(err)
					}
					r, err := parts[0].Open(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buf); err != nil {
						b.Fatal(err)
					}
					if err := r.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
