// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/internal/tempname"
)

// batches parses texts, a batch for each.
func batches(t testing.TB, cfg feature.Config, texts ...string) []*feature.Batch {
	t.Helper()
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var all []*feature.Batch
	for _, text := range texts {
		b := new(feature.Batch)
		for line := range strings.Lines(text) {
			if err := p.AppendLine(b, []byte(line), 1); err != nil {
				t.Fatal(err)
			}
		}
		b.Warnings = nil // a cache does not keep them
		all = append(all, b)
	}
	return all
}

// write writes a cache of batches in a new folder.
func write(t testing.TB, key cache.Key, text cache.Text, all []*feature.Batch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.cache")
	w, err := cache.Create(path, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc := cache.NewEncoder(key.Features.Bits)
	for _, b := range all {
		block, err := enc.Append(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Commit the file has its name: %v", err)
	}
	if err := w.Commit(text); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAll reads every block of a cache.
func readAll(r *cache.Reader, bits uint) ([]*feature.Batch, error) {
	dec := cache.NewDecoder(bits)
	var all []*feature.Batch
	for {
		block, err := r.Next(nil)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		b := new(feature.Batch)
		if err := dec.Decode(b, block); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
}

const text = `1 2 .5 'tag |a x y:2 z |b w:.5 |c 1 2 3
-1 'another | q:2.5 |a x y:3 z |b w:.5
| only
0 1 -1
1 |a x y z:1
-1 |a x y z:4 |` + "\x80" + ` e
`

// A key whose values are too long for a header has their digests instead.
func TestLongKeys(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("class_%d", i)
	}
	key := cache.Key{Features: feature.Config{Bits: 18, Labels: feature.ClassLabels, ClassNames: names}, Input: "x", Format: "csv,header:" + strings.Repeat("column,", 1000)}
	path := write(t, key, cache.Text{}, batches(t, key.Features, "class_7 | a b\n"))
	r, err := cache.Open(path, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	key.Features.ClassNames = append([]string{"other"}, names[1:]...)
	var stale *cache.StaleError
	if _, err := cache.Open(path, key, nil); !errors.As(err, &stale) || stale.Part != "labels" {
		t.Errorf("with other names: got %v, want that the labels differ", err)
	}
}

// A cache is also valid for any input and without Strict if its key is almost too long.
func TestKeysAtTheLimit(t *testing.T) {
	for n := 3850; n < 4150; n += 10 {
		made := cache.Key{Features: feature.Config{Bits: 18, Strict: true}, Input: "x", Format: "csv,header:" + strings.Repeat("c", n)}
		path := write(t, made, cache.Text{}, nil)
		open := made
		open.Input, open.Features.Strict = "", false
		r, err := cache.Open(path, open, nil)
		if err != nil {
			t.Errorf("header of %d bytes: %v", n, err)
			continue
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		open.Format = made.Format[1:]
		if _, err := cache.Open(path, open, nil); err == nil {
			t.Errorf("header of %d bytes: another one was taken for the same", n)
		}
	}
}

// RemoveTemps removes the temporary files of one process of this machine and one cache.
func TestRemoveTemps(t *testing.T) {
	dir := t.TempDir()
	of7, of77 := tempname.Infix(7), tempname.Infix(77)
	kept := []string{"c", "c" + of7 + "x", "c" + of77 + "0", "c.writing-0000000f-7-0", "d" + of7 + "0"}
	slices.Sort(kept)
	for _, name := range append([]string{"c" + of7 + "0", "c" + of7 + "12"}, kept...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cache.RemoveTemps(filepath.Join(dir, "c"), 7); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if d := cmp.Diff(kept, left); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := cache.RemoveTemps(filepath.Join(dir, "none", "c"), 7); err != nil {
		t.Error(err)
	}
}

// A temporary file that another process removes at the same time is no error.
func TestRemoveTempsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	for n := range 500 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("c%s%d", tempname.Infix(7), n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if err := cache.RemoveTemps(filepath.Join(dir, "c"), 7); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

func TestRoundTrip(t *testing.T) {
	for _, bits := range []uint{1, 8, 9, 16, 18, 24, 25, 32} {
		for _, bare := range []bool{false, true} {
			key := cache.Key{Features: feature.Config{Bits: bits, NoConstant: bare}, Input: "train.vw 17"}
			want := batches(t, key.Features, text, "", "1 | a\n", text+text)
			sum := cache.Text{Bytes: 17, CRC: crc32.ChecksumIEEE([]byte(text))}
			path := write(t, key, sum, want)
			r, err := cache.Open(path, key, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r, bits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%d bits:\n%s", bits, diff)
			}
			if tot := r.Totals(); tot.Blocks != 4 || tot.Examples != 19 || tot.Text != sum {
				t.Errorf("totals %+v", tot)
			}
			if err := errors.Join(r.Close(), r.Close()); err != nil {
				t.Error(err)
			}
			left, err := filepath.Glob(path + ".*")
			if err != nil || left != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
		}
	}
}

func TestRoundTripOfAnyBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := uint(rapid.IntRange(1, 32).Draw(t, "bits"))
		mask := (&feature.Config{Bits: bits}).Mask()
		value := rapid.OneOf(rapid.Just(float32(1)), rapid.Float32())
		var want feature.Batch
		for range rapid.IntRange(0, 8).Draw(t, "examples") {
			ex := feature.Example{
				Label:   rapid.OneOf(rapid.Just(feature.NoLabel), rapid.Float32()).Draw(t, "label"),
				Weight:  value.Draw(t, "weight"),
				Initial: rapid.OneOf(rapid.Just(float32(0)), rapid.Float32()).Draw(t, "initial"),
				TagLo:   uint32(len(want.Tags)),
				SpanLo:  uint32(len(want.Spans)),
				FeatLo:  uint32(len(want.Features)),
			}
			want.Tags = append(want.Tags, rapid.StringN(0, 5, 20).Draw(t, "tag")...)
			for range rapid.IntRange(0, 4).Draw(t, "namespaces") {
				s := feature.Span{NS: rapid.ByteRange('a', 'c').Draw(t, "namespace"), Lo: uint32(len(want.Features))}
				start := rapid.Uint32Range(0, 3).Draw(t, "first")
				for i := range rapid.Uint32Range(1, 5).Draw(t, "features") {
					want.Features = append(want.Features, feature.Feature{Index: (start + i) * 0x9e3779b9 & mask, Value: value.Draw(t, "value")})
				}
				s.Hi = uint32(len(want.Features))
				want.Spans = append(want.Spans, s)
			}
			ex.TagHi, ex.SpanHi, ex.FeatHi = uint32(len(want.Tags)), uint32(len(want.Spans)), uint32(len(want.Features))
			want.Examples = append(want.Examples, ex)
		}
		block, err := cache.NewEncoder(bits).Append(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		var got feature.Batch
		if err := cache.NewDecoder(bits).Decode(&got, cache.Block{Data: block}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDecodeAppends: a decoder adds to the contents of a batch, and does not use the indices of
// an earlier block.
func TestDecodeAppends(t *testing.T) {
	cfg := feature.Config{Bits: 18}
	whole := batches(t, cfg, text+text)[0]
	enc, dec := cache.NewEncoder(18), cache.NewDecoder(18)
	var got feature.Batch
	for range 2 {
		block, err := enc.Append([]byte("prefix"), batches(t, cfg, text)[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(&got, cache.Block{Data: block[len("prefix"):]}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(whole, &got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// TestEveryDamageIsNoticed flips each byte of a cache and truncates it at each length: the
// examples are never wrong.
func TestEveryDamageIsNoticed(t *testing.T) {
	key := cache.Key{Features: feature.Config{Bits: 18}, Input: "x"}
	path := write(t, key, cache.Text{}, batches(t, key.Features, text, text))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, damaged []byte) {
		t.Helper()
		r, err := cache.NewReader(bytes.NewReader(damaged), int64(len(damaged)), "train.cache", key)
		if err == nil {
			_, err = readAll(r, 18)
		}
		corrupt, ok := errors.AsType[*cache.CorruptError](err)
		if !ok {
			t.Errorf("%s: %v", what, err)
			return
		}
		if !strings.Contains(corrupt.Error(), "train.cache is damaged") || !strings.Contains(corrupt.Error(), "delete it, or build it again with stream.Config.KillCache") {
			t.Errorf("%s: %v", what, corrupt)
		}
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x41
		check(fmt.Sprintf("byte %d", i), damaged)
		check(fmt.Sprintf("cut to %d", i), whole[:i])
	}
	check("a second end", append(bytes.Clone(whole), whole[len(whole)-52:]...))
	check("something of vw", []byte("\x07\x00\x00\x00\x00\x00\x00\x009.11.9\x00c\x12\x00\x00\x00"))
}

func TestBlocksOutOfPlaceAreNoticed(t *testing.T) {
	key := cache.Key{Features: feature.Config{Bits: 18}}
	all := batches(t, key.Features, text, "1 | a\n", text)
	path := write(t, key, cache.Text{}, all)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(whole, []byte("blok"))
	second := first + 4 + bytes.Index(whole[first+4:], []byte("blok"))
	third := second + 4 + bytes.Index(whole[second+4:], []byte("blok"))
	for name, pieces := range map[string][][]byte{
		"missing": {whole[:first], whole[second:]},
		"swapped": {whole[:first], whole[second:third], whole[first:second], whole[third:]},
	} {
		damaged := bytes.Join(pieces, nil)
		r, err := cache.NewReader(bytes.NewReader(damaged), int64(len(damaged)), "c", key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(r, 18); err == nil {
			t.Errorf("%s block: no error", name)
		}
	}
}

func TestStaleCacheNamesTheDifference(t *testing.T) {
	key := cache.Key{Features: feature.Config{Bits: 18}, Input: "train.vw 17"}
	path := write(t, key, cache.Text{}, nil)
	for want, change := range map[string]func(k *cache.Key){
		"it was made with bits=18, not 20":                           func(k *cache.Key) { k.Features.Bits = 20 },
		"it was made with hash=strings, not all":                     func(k *cache.Key) { k.Features.HashAll = true },
		"it was made with hash_seed=0, not 3":                        func(k *cache.Key) { k.Features.HashSeed = 3 },
		"it was made with constant=true, not false":                  func(k *cache.Key) { k.Features.NoConstant = true },
		"it was made from other data, or the data has changed since": func(k *cache.Key) { k.Input = "train.vw 18" },
		"": func(k *cache.Key) { k.Features.Interactions = []string{"ab"} },
	} {
		other := key
		change(&other)
		r, err := cache.Open(path, other, nil)
		if want == "" {
			if err != nil {
				t.Error(err)
			} else if err := r.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		stale, ok := errors.AsType[*cache.StaleError](err)
		if !ok || stale.Reason() != want || err.Error() != "cache "+path+": "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	key.Input = ""
	r, err := cache.Open(path, key, nil) // any input
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestAbortLeavesTheOldCache(t *testing.T) {
	key := cache.Key{Features: feature.Config{Bits: 18}}
	path := write(t, key, cache.Text{Bytes: 5}, nil)
	w, err := cache.Create(path, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Abort(), w.Abort()); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	r, err := cache.Open(path, key, nil)
	if err != nil || r.Totals().Text.Bytes != 5 {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfTheFileSystemNameTheFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "c")
	key := cache.Key{Features: feature.Config{Bits: 18}}
	for _, open := range []func() error{
		func() error { _, err := cache.Open(missing, key, nil); return err },
		func() error { _, err := cache.Create(missing, key, nil); return err },
	} {
		err := open()
		if _, ok := errors.AsType[*fs.PathError](err); !ok || !strings.Contains(err.Error(), missing) {
			t.Errorf("got %v", err)
		}
	}
}

func TestInteractionsAreABug(t *testing.T) {
	b := batches(t, feature.Config{Bits: 18, Interactions: []string{"ab"}}, "1 |a x |b y\n")[0]
	defer func() {
		if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "BUG: cache: an example with 1 features outside") {
			t.Errorf("got %s", r)
		}
	}()
	_, err := cache.NewEncoder(18).Append(nil, b)
	t.Errorf("no panic, %v", err)
}

func TestNothingIsAllocatedPerBlock(t *testing.T) {
	b := batches(t, feature.Config{Bits: 18}, text)[0]
	enc, dec := cache.NewEncoder(18), cache.NewDecoder(18)
	var out feature.Batch
	block, err := enc.Append(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if block, err = enc.Append(block[:0], b); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := dec.Decode(&out, cache.Block{Data: block}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSmallBlocksAreJoined checks the examples, their order and the totals of a cache whose
// blocks have one example each, for every size under which blocks are joined.
func TestSmallBlocksAreJoined(t *testing.T) {
	cfg := feature.Config{Bits: 18}
	for _, join := range []int{0, 40, 100, 1 << 20} {
		path := filepath.Join(t.TempDir(), "c")
		w, err := cache.Create(path, cache.Key{Features: cfg}, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Join = join
		enc, want := cache.NewEncoder(18), 0
		var lines []string
		for i := range 60 {
			lines = append(lines, fmt.Sprintf("%d 't%d |a x y |b z:%d%s\n", i%2, i, i%5, strings.Repeat(" w", i%7*i%11)))
		}
		for _, line := range lines {
			b := batches(t, cfg, line)[0]
			want += len(b.Features)
			block, err := enc.Append(nil, b)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Append(block); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(cache.Text{}); err != nil {
			t.Fatal(err)
		}
		r, err := cache.Open(path, cache.Key{Features: cfg}, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := r.Totals()
		if total.Examples != 60 || total.Features != uint64(want) || join == 0 && total.Blocks != 60 || join == 1<<20 && total.Blocks != 1 {
			t.Errorf("joined under %d bytes: %+v, want 60 examples with %d features", join, total, want)
		}
		got, dec := new(feature.Batch), cache.NewDecoder(18)
		for {
			block, err := r.Next(nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := dec.Decode(got, block); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		all := batches(t, cfg, strings.Join(lines, ""))[0]
		if diff := cmp.Diff(all, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("joined under %d bytes:\n%s", join, diff)
		}
	}
}
