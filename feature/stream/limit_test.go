// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"path/filepath"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// With --feature_limit vw's later passes, which read its cache, take features as one that its
// first pass distinguished: 0 and the first one without a name share a weight. So do ours, with
// a cache or without.
func TestLimitsAreOfWhatTheCacheHas(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "c")} {
		cfg := stream.Config{
			Feature: feature.Config{Bits: 18, Limits: []string{"3"}}, Passes: 2, Cache: path,
			Sources: []stream.Source{text("a.vw", "1 |a 0 :2 5 6\n")},
		}
		d := dataset(t, cfg)
		salt := feature.HashStrings([]byte("a"), 0)
		for pass, want := range [][3]uint32{{0, 0, 5}, {0, 5, 6}} {
			b := mustPass(t, d)
			fs := b.FeaturesOf(&b.Examples[0])
			if len(fs) != 4 { // and the constant
				t.Fatalf("pass %d has the features %v", pass+1, fs)
			}
			for i, offset := range want {
				if index := (salt + offset) & (1<<18 - 1); fs[i].Index != index {
					t.Errorf("cache %q, pass %d, feature %d: index %d, want %d", path, pass+1, i, fs[i].Index, index)
				}
			}
		}
	}
}

// The excess that --feature_limit leaves in the sum of squares is the same with a cache.
func TestOverComesFromTheCache(t *testing.T) {
	d := dataset(t, stream.Config{
		Feature: feature.Config{Bits: 18, Limits: []string{"2"}}, Passes: 2, Cache: filepath.Join(t.TempDir(), "c"),
		Sources: []stream.Source{text("a.vw", "1 |a x:2 y z:3 w:4 |b q\n")},
	})
	text, cached := mustPass(t, d), mustPass(t, d)
	if got, want := cached.Examples[0].HiddenSquares, text.Examples[0].HiddenSquares; got != want || want == 0 {
		t.Errorf("hidden squares %v, from the text %v", got, want)
	}
	if diff := differ(text, cached); diff != "" {
		t.Error(diff)
	}
}

// A pass over a cache may end early; the one that makes it may not.
func TestWhichPassMakesTheCache(t *testing.T) {
	d := dataset(t, stream.Config{
		Feature: bits18, Passes: 3, Cache: filepath.Join(t.TempDir(), "c"), ChunkSize: 1000,
		Sources: []stream.Source{text("a.vw", drawn(1, 500))},
	})
	for _, makes := range []bool{true, false, false} {
		p, err := d.Pass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MakesCache(); got != makes {
			t.Errorf("MakesCache is %v, want %v", got, makes)
		}
		if !makes {
			b, err := p.Next()
			if err != nil {
				t.Fatal(err)
			}
			p.Recycle(b)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if makes { // closed before its end, it left none
			mustPass(t, d)
		}
	}
}
