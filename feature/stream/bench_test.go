// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// BenchmarkPass reads GVW_BENCH_TEXT, or 20 MB of drawn text, as a pass with a
// learner that does nothing. The MB/s are those of the text in each case.
func BenchmarkPass(b *testing.B) {
	var src stream.Source
	var size int64
	if name := os.Getenv("GVW_BENCH_TEXT"); name != "" {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
		src = stream.Source{Name: name, Identity: name, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(name) }}
	} else {
		src = text("drawn", strings.Repeat(drawn(1, 2000), 50))
		size = int64(len(src.Identity) - len(src.Name))
	}
	path := filepath.Join(b.TempDir(), "c")
	for _, c := range []struct {
		name, path string
		kill       bool
	}{{"text", "", false}, {"creating", path, true}, {"cached", path, false}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			start := cpuSeconds(b)
			for b.Loop() {
				cfg := stream.Config{Feature: feature.Config{Bits: 22}, Cache: c.path, KillCache: c.kill, Sources: []stream.Source{src}}
				readOver(b, dataset(b, cfg))
			}
			if start >= 0 {
				b.ReportMetric((cpuSeconds(b)-start)/float64(b.N), "CPU-s/op")
			}
		})
	}
}
