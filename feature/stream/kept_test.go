// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// Passes over the examples in memory have those of the cache, in whichever way they came there. They read no file:
// the cache is removed before them.
func TestExamplesInMemoryAreThoseOfTheCache(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]feature.Config{
		"plain":        bits18,
		"interactions": {Bits: 18, Interactions: []string{"ab", "aa"}},
		"limits":       {Bits: 18, Limits: []string{"a3"}, Interactions: []string{"ab"}},
	} {
		for _, made := range []bool{false, true} { // the cache is there before the first pass
			cfg := stream.Config{
				Feature: f, Passes: 4, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000,
				Sources: []stream.Source{text("a.vw", drawn(3, 500))},
			}
			first := dataset(t, cfg)
			mustPass(t, first)
			want := mustPass(t, first)
			if !made {
				if err := os.Remove(cfg.Cache); err != nil {
					t.Fatal(err)
				}
			}
			cfg.Memory = 1 << 28
			d := dataset(t, cfg)
			mustPass(t, d)
			if !made && len(f.Limits) > 0 {
				mustPass(t, d) // the examples of the text are not those of the cache, and are not kept
			}
			if err := os.Remove(cfg.Cache); err != nil {
				t.Fatal(err)
			}
			for pass := range 2 {
				if diff := differ(want, mustPass(t, d)); diff != "" {
					t.Errorf("%s, made %t, pass %d: %s", name, made, pass+3, diff)
				}
			}
			wantExamples, wantBytes, wantSum := first.Shard()
			if examples, bytes, sum := d.Shard(); examples != wantExamples || bytes != wantBytes || sum != wantSum {
				t.Errorf("%s: the shard differs: %d examples, %d bytes, sum %x", name, examples, bytes, sum)
			}
		}
	}
}

// Examples that exceed the limit stay in the cache, and so do those of a pass that has not been read to its end and
// those of a text without a cache.
func TestExamplesThatAreNotInMemory(t *testing.T) {
	t.Parallel()
	cfg := stream.Config{
		Feature: bits18, Passes: 4, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000, Memory: 10_000,
		Sources: []stream.Source{text("a.vw", drawn(3, 500))},
	}
	for _, change := range []func(){func() {}, func() { cfg.Memory = 100_000 }, func() { cfg.Memory = 0 }} {
		change()
		d := dataset(t, cfg) // with the first change it makes the cache, then it reads it
		mustPass(t, d)
		if err := os.Rename(cfg.Cache, cfg.Cache+"-away"); err != nil {
			t.Fatal(err)
		}
		if _, err := onePass(t, d); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("memory for %d bytes: got %v, want an error about the cache", cfg.Memory, err)
		}
		if err := os.Rename(cfg.Cache+"-away", cfg.Cache); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Memory = 1 << 20
	d := dataset(t, cfg)
	p, err := d.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Next(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(mustPass(t, d).Examples); got != 500 {
		t.Errorf("after a pass that ended early: %d examples, want 500", got)
	}
	cfg.Cache = ""
	opened := 0
	cfg.Sources[0].Open = count(&opened, cfg.Sources[0].Open)
	d = dataset(t, cfg)
	mustPass(t, d)
	mustPass(t, d)
	if opened != 2 {
		t.Errorf("without a cache two passes opened the text %d times", opened)
	}
}

// Passes after Join have the same examples in batches of the size that was asked for.
func TestJoinedBatchesHaveTheSameExamples(t *testing.T) {
	t.Parallel()
	sizes := func(d *stream.Dataset) (features []int) {
		p, err := d.Pass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for {
			b, err := p.Next()
			if err == io.EOF {
				return features
			}
			if err != nil {
				t.Fatal(err)
			}
			features = append(features, len(b.Features))
		}
	}
	for _, least := range []int{1, 500, 1 << 30} {
		d := dataset(t, stream.Config{
			Feature: feature.Config{Bits: 18, Interactions: []string{"ab"}}, Passes: 9, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000, Memory: 1 << 28,
			Sources: []stream.Source{text("a.vw", drawn(3, 500))},
		})
		if d.Join(least) {
			t.Error("Join before the first pass: true, want false")
		}
		mustPass(t, d)
		want, before := mustPass(t, d), sizes(d)
		if !d.Join(least) {
			t.Fatal("Join after the first pass: false, want true")
		}
		if diff := differ(want, mustPass(t, d)); diff != "" {
			t.Errorf("batches of at least %d features: %s", least, diff)
		}
		after := sizes(d)
		for _, n := range after[:len(after)-1] {
			if n < least {
				t.Errorf("a batch has %d features, want at least %d", n, least)
			}
		}
		if least > 1 && len(after) >= len(before) || least == 1 && len(after) != len(before) {
			t.Errorf("at least %d features: %d batches became %d", least, len(before), len(after))
		}
	}
}

// count counts the calls of open in n.
func count(n *int, open func(context.Context) (io.ReadCloser, error)) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		*n++
		return open(ctx)
	}
}

// A pass over examples in memory ends with its context, may be closed in its middle, and allocates nothing for
// a batch.
func TestPassOverMemory(t *testing.T) {
	cfg := stream.Config{
		Feature: bits18, Passes: 9, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000, Memory: 1 << 20,
		Sources: []stream.Source{text("a.vw", drawn(3, 500))},
	}
	d := dataset(t, cfg)
	mustPass(t, d)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := d.Pass(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() {
		b, err := p.Next()
		if err != nil {
			t.Fatal(err)
		}
		p.Recycle(b)
	}); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
	cancel(gone)
	if _, err := p.Next(); !errors.Is(err, gone) {
		t.Errorf("got %v, want %v", err, gone)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := len(mustPass(t, d).Examples); got != 500 {
		t.Errorf("the next pass has %d examples, want 500", got)
	}
}

// Renumber changes the features that later passes have, and only those in memory.
func TestRenumber(t *testing.T) {
	t.Parallel()
	cfg := stream.Config{
		Feature: bits18, Passes: 4, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000, Memory: 1 << 28,
		Sources: []stream.Source{text("a.vw", drawn(3, 500))},
	}
	next := func(fs []feature.Feature) {
		for i := range fs {
			fs[i].Index++
		}
	}
	d := dataset(t, cfg)
	if d.Renumber(next) {
		t.Error("examples that no pass has read are in memory")
	}
	mustPass(t, d)
	want := mustPass(t, d)
	if !d.Renumber(next) {
		t.Fatal("the examples are not in memory")
	}
	next(want.Features)
	if diff := differ(want, mustPass(t, d)); diff != "" {
		t.Error(diff)
	}
}
