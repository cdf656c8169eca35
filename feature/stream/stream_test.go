// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/internal/sampled"
)

// text returns a source in memory.
func text(name, s string) stream.Source {
	return stream.Source{
		Name:     name,
		Identity: name + s,
		Open:     func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil },
	}
}

// drawn returns n lines with something wrong here and there.
func drawn(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 'tag%d |a x%d:%v y%d", rng.IntN(3)-1, i, rng.IntN(100), rng.Float32(), rng.IntN(9))
		switch rng.IntN(8) {
		case 0:
			b.WriteString(" |b z:nan q")
		case 1:
			b.WriteString(" |c u v |a again")
		case 2:
			b.WriteString(strings.Repeat(" word", rng.IntN(200)))
		case 3:
			b.WriteString("\r\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// parsed returns the examples of the sources, parsed line by line.
func parsed(t testing.TB, cfg stream.Config, texts ...string) *feature.Batch {
	t.Helper()
	p, err := feature.NewParser(cfg.Feature)
	if err != nil {
		t.Fatal(err)
	}
	b := new(feature.Batch)
	for i, s := range texts {
		n, empty := int64(0), uint32(0)
		for line := range strings.Lines(s) {
			n++
			before, examples := len(b.Warnings), len(b.Examples)
			if err := p.AppendLine(b, []byte(line), n); err != nil {
				t.Fatal(err)
			}
			if empty++; len(b.Examples) > examples {
				b.Examples[examples].Before, empty = empty-1, 0
			}
			for k := range b.Warnings[before:] {
				b.Warnings[before+k].Source = cfg.Sources[i].Name
			}
		}
	}
	return b
}

// join appends the examples of b to all.
func join(all, b *feature.Batch) {
	tags, spans, features := uint32(len(all.Tags)), uint32(len(all.Spans)), uint32(len(all.Features))
	for _, ex := range b.Examples {
		ex.TagLo, ex.TagHi = ex.TagLo+tags, ex.TagHi+tags
		ex.SpanLo, ex.SpanHi = ex.SpanLo+spans, ex.SpanHi+spans
		ex.FeatLo, ex.FeatHi = ex.FeatLo+features, ex.FeatHi+features
		all.Examples = append(all.Examples, ex)
	}
	for _, s := range b.Spans {
		all.Spans = append(all.Spans, feature.Span{NS: s.NS, Lo: s.Lo + features, Hi: s.Hi + features})
	}
	all.Features = append(all.Features, b.Features...)
	all.Tags = append(all.Tags, b.Tags...)
	all.Warnings = append(all.Warnings, b.Warnings...)
}

// differ is a fast cmp.Diff for large equal batches.
func differ(want, got *feature.Batch) string {
	if slices.Equal(want.Examples, got.Examples) && slices.Equal(want.Spans, got.Spans) && slices.Equal(want.Features, got.Features) &&
		bytes.Equal(want.Tags, got.Tags) && slices.Equal(want.Warnings, got.Warnings) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// onePass reads a pass to its end, or to its error.
func onePass(t testing.TB, d *stream.Dataset) (*feature.Batch, error) {
	t.Helper()
	p, err := d.Pass(t.Context())
	if err != nil {
		return nil, err
	}
	all := new(feature.Batch)
	for {
		b, err := p.Next()
		if err == io.EOF {
			return all, p.Close()
		}
		if err != nil {
			if _, again := p.Next(); again != err {
				t.Errorf("Next after %v: %v", err, again)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			return all, err
		}
		if len(b.Examples) == 0 {
			t.Error("a batch without examples")
		}
		join(all, b)
		p.Recycle(b)
	}
}

func dataset(t testing.TB, cfg stream.Config) *stream.Dataset {
	t.Helper()
	d, err := stream.NewDataset(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustPass(t testing.TB, d *stream.Dataset) *feature.Batch {
	t.Helper()
	b, err := onePass(t, d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var bits18 = feature.Config{Bits: 18}

// TestOrderIsThatOfTheText: neither the number of workers nor the size of chunks
// nor the cache changes anything.
func TestOrderIsThatOfTheText(t *testing.T) {
	texts := []string{drawn(1, 700), "", "1 | unended", drawn(2, 300) + "-1 |a unended", "\n\n", "\r\n1 | x"}
	if sampled.UnderRace { // under the race detector, where each takes ten times as long
		t.Log("left out: chunks of 5000 bytes, and half of the pairs of interactions and workers")
	}
	for _, interactions := range [][]string{nil, {"aa", ":b"}} {
		for _, workers := range []int{1, 2, 7} {
			for _, chunk := range []int{1, 100, 5000, 0} {
				if chunk == 1 && (interactions != nil || workers != 7) {
					continue // a chunk a line costs time, once is enough
				}
				if sampled.UnderRace && (chunk == 5000 || (workers == 7) != (interactions == nil)) {
					continue
				}
				cfg := stream.Config{
					Feature:   feature.Config{Bits: 18, Interactions: interactions},
					Cache:     filepath.Join(t.TempDir(), "c"),
					Workers:   workers,
					ChunkSize: chunk,
					Passes:    3,
				}
				for i, s := range texts {
					cfg.Sources = append(cfg.Sources, text(fmt.Sprint("text", i), s))
				}
				want := parsed(t, cfg, texts...)
				d := dataset(t, cfg)
				for pass, plan := range []string{
					"creating cache_file = " + cfg.Cache,
					"using cache_file = " + cfg.Cache + "\nignoring text input in favor of cache input",
					"using cache_file = " + cfg.Cache + "\nignoring text input in favor of cache input",
				} {
					if got := d.Plan(); got != plan {
						t.Errorf("pass %d: plan %q", pass, got)
					}
					if diff := differ(want, mustPass(t, d)); diff != "" {
						t.Errorf("%d workers, chunks of %d, pass %d:\n%s", workers, chunk, pass, diff)
					}
					want.Warnings = nil // given once
				}
			}
		}
	}
}

func TestWithoutACacheTheTextIsReadAgain(t *testing.T) {
	cfg := stream.Config{Feature: bits18, Sources: []stream.Source{text("a.vw", drawn(3, 50))}, Passes: 2}
	want := parsed(t, cfg, drawn(3, 50))
	d := dataset(t, cfg)
	if got := d.Plan(); got != "using no cache" {
		t.Errorf("plan %q", got)
	}
	for range 2 {
		if diff := differ(want, mustPass(t, d)); diff != "" {
			t.Error(diff)
		}
		want.Warnings = nil
	}
}

func TestTextThatChangesBetweenPassesIsAnError(t *testing.T) {
	s := "1 | a\n"
	src := stream.Source{Name: "a.vw", Identity: "same", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
	d := dataset(t, stream.Config{Feature: bits18, Sources: []stream.Source{src}, Passes: 2})
	mustPass(t, d)
	s = "2 | a\n"
	_, err := onePass(t, d)
	if data, ok := errors.AsType[*stream.DataError](err); !ok || data.Source != "a.vw" || !strings.Contains(err.Error(), "the data changed between two passes") {
		t.Errorf("got %v", err)
	}
}

func TestShardIsThatOfTheText(t *testing.T) {
	texts := []string{drawn(1, 100), "1 | a", "\n\n"}
	cfg := stream.Config{Feature: bits18, Cache: filepath.Join(t.TempDir(), "c")}
	for _, s := range texts {
		cfg.Sources = append(cfg.Sources, text("t", s))
	}
	type shard struct {
		examples, bytes uint64
		crc             uint32
	}
	whole := strings.Join(texts, "")
	want := shard{101, uint64(len(whole)), crc32c(whole)}
	for range 2 { // text, then cache
		d := dataset(t, cfg)
		mustPass(t, d)
		var got shard
		if got.examples, got.bytes, got.crc = d.Shard(); got != want {
			t.Errorf("%s: got %+v, want %+v", d.Plan(), got, want)
		}
	}
}

func TestLifeOfACache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.cache")
	one, two := drawn(1, 20), drawn(2, 30)
	cfg := stream.Config{Feature: bits18, Cache: path, Sources: []stream.Source{text("a.vw", one)}}
	plan := func(want string) *stream.Dataset {
		t.Helper()
		d := dataset(t, cfg)
		if got, _, _ := strings.Cut(d.Plan(), " ="); got != want {
			t.Errorf("plan %q, want %q", d.Plan(), want)
		}
		return d
	}
	examples := func(d *stream.Dataset, want int) {
		t.Helper()
		if got := len(mustPass(t, d).Examples); got != want {
			t.Errorf("%d examples, want %d", got, want)
		}
	}

	if _, err := stream.NewDataset(stream.Config{Feature: bits18, Cache: path}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("no text, no cache: %v", err)
	}
	examples(plan("creating cache_file"), 20)
	examples(plan("using cache_file"), 20)

	cfg.Sources[0] = text("a.vw", two)
	d := plan("creating cache_file")
	if !strings.Contains(d.Plan(), "the data has changed since") {
		t.Errorf("plan %q", d.Plan())
	}
	examples(d, 30)

	cfg.Feature.Bits = 20
	examples(plan("creating cache_file"), 30)
	cfg.KillCache = true
	examples(plan("creating cache_file"), 30)
	cfg.KillCache = false

	// Without text any contents of the cache count, but they must fit the options.
	cfg.Sources = nil
	examples(plan("using cache_file"), 30)
	cfg.Feature.Interactions = []string{"ab"}
	examples(plan("using cache_file"), 30)
	cfg.Feature.Bits = 21
	_, err := stream.NewDataset(cfg)
	if stale, ok := errors.AsType[*cache.StaleError](err); !ok || stale.Part != "bits" {
		t.Errorf("got %v", err)
	}

	// Damage is an error, with or without text, until -k.
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, sources := range [][]stream.Source{nil, {text("a.vw", two)}} {
		cfg.Feature.Bits, cfg.Sources = 20, sources
		_, err := stream.NewDataset(cfg)
		if _, ok := errors.AsType[*cache.CorruptError](err); !ok || !strings.Contains(err.Error(), "KillCache") {
			t.Errorf("got %v", err)
		}
	}
	cfg.KillCache = true
	examples(plan("creating cache_file"), 30)

	// A flipped bit in a block is found while reading.
	if whole, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	cfg.KillCache = false
	_, err = onePass(t, plan("using cache_file"))
	if _, ok := errors.AsType[*cache.CorruptError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// TestAStreamIsCachedButNeverCompared: a cache cannot be compared with the text from a pipe.
func TestAStreamIsCachedButNeverCompared(t *testing.T) {
	stdin := text("stdin", "1 | a\n2 | b\n")
	stdin.Identity = ""
	opened := 0
	open := stdin.Open
	stdin.Open = func(ctx context.Context) (io.ReadCloser, error) { opened++; return open(ctx) }
	cfg := stream.Config{Feature: bits18, Sources: []stream.Source{stdin}, Cache: filepath.Join(t.TempDir(), "c"), Passes: 3}
	for round := range 2 {
		d := dataset(t, cfg)
		if plan := d.Plan(); !strings.HasPrefix(plan, "creating cache_file") || strings.Contains(plan, "the old one") != (round > 0) {
			t.Errorf("round %d: plan %q", round, plan)
		}
		for range 3 {
			if n := len(mustPass(t, d).Examples); n != 2 {
				t.Errorf("%d examples", n)
			}
		}
		if opened != round+1 {
			t.Errorf("opened %d times", opened)
		}
	}
	cfg.Sources = nil
	if n := len(mustPass(t, dataset(t, cfg)).Examples); n != 2 {
		t.Errorf("%d examples", n)
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	stdin := stream.Source{Name: "stdin", Open: func(context.Context) (io.ReadCloser, error) { return nil, io.EOF }}
	for want, cfg := range map[string]stream.Config{
		"no data: give a file, stdin or a cache":                                                     {Feature: bits18},
		"cache c cannot be rebuilt (stream.Config.KillCache) without data to make it from":           {Feature: bits18, Cache: "c", KillCache: true},
		"stdin can be read only once: 2 passes need a cache (stream.Config.Cache)":                   {Feature: bits18, Passes: 2, Sources: []stream.Source{stdin}},
		"-1 workers: want 0 (as many as cores) or more\nchunks of -1 bytes: want 0 (262144) or more": {Feature: bits18, Workers: -1, ChunkSize: -1, Sources: []stream.Source{stdin}},
	} {
		_, err := stream.NewDataset(cfg)
		if _, ok := errors.AsType[*stream.UsageError](err); !ok || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := stream.NewDataset(stream.Config{Cache: "c"}); err == nil || !strings.Contains(err.Error(), "0 bits") {
		t.Errorf("got %v", err)
	}
}

func TestErrorsNameSourceAndLine(t *testing.T) {
	short := feature.Config{Bits: 18, MaxLine: 20}
	pairs := feature.Config{Bits: 18, Interactions: []string{"aa"}}
	long := strings.Repeat("x", 21)
	broken := stream.Source{Name: "b.vw", Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("1 | a\n2 | b\n3 | c"), failing{})), nil
	}}
	for _, c := range []struct {
		name    string
		feature feature.Config
		chunk   int
		source  stream.Source
		line    int64 // 0: not a DataError
		text    string
	}{
		{"long line in a chunk", short, 0, text("a.vw", "1 | a\n"+long+"\n1 | b\n"), 2, "a.vw, line 2: at least 21 bytes long: want at most 20"},
		{"long line over chunks", short, 8, text("a.vw", "1 | a\n1 | b\n"+long+long), 3, "a.vw, line 3: at least 32 bytes long: want at most 20"},
		{"long last line", short, 0, text("a.vw", long), 1, "a.vw, line 1: at least 21 bytes long: want at most 20"},
		{"interactions", pairs, 0, text("a.vw", "\n1 | a\n2 |a"+strings.Repeat(" b", 12000)), 3, "a.vw, line 3: 72018001 features with interactions, the limit is 67108864"},
		{"read", bits18, 0, broken, 0, "cannot read b.vw, line 3: the disk is on fire"},
		{"open", bits18, 0, stream.Source{Name: "c.vw", Open: func(context.Context) (io.ReadCloser, error) { return nil, fs.ErrPermission }}, 0, "cannot open c.vw: permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cache")
			d := dataset(t, stream.Config{Feature: c.feature, ChunkSize: c.chunk, Cache: path, Sources: []stream.Source{text("first.vw", "1 | a\n"), c.source}})
			_, err := onePass(t, d)
			data, ok := errors.AsType[*stream.DataError](err)
			if err == nil || !strings.HasPrefix(err.Error(), c.text) || ok != (c.line > 0) || ok && data.Line != c.line {
				t.Errorf("got %v", err)
			}
			if left, err := filepath.Glob(path + "*"); err != nil || left != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	// The exact limit is fine, with and without a line end.
	for _, s := range []string{long[1:], long[1:] + "\n", long[1:] + "\n" + long[1:]} {
		mustPass(t, dataset(t, stream.Config{Feature: short, Sources: []stream.Source{text("a.vw", s)}}))
		mustPass(t, dataset(t, stream.Config{Feature: short, ChunkSize: 4, Sources: []stream.Source{text("a.vw", s)}}))
	}
	// Too many interactions of an example in a cache are found, too.
	cfg := stream.Config{Feature: bits18, Cache: filepath.Join(t.TempDir(), "c"), Sources: []stream.Source{text("a.vw", "2 |a"+strings.Repeat(" b", 12000))}}
	mustPass(t, dataset(t, cfg))
	cfg.Feature.Interactions = []string{"aa"}
	if _, err := onePass(t, dataset(t, cfg)); err == nil || !strings.HasPrefix(err.Error(), cfg.Cache+": 72018001 features") {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

// TestReaderWithoutProgressIsAnError, rather than a loop.
func TestReaderWithoutProgressIsAnError(t *testing.T) {
	src := stream.Source{Name: "a.vw", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(idle{}), nil }}
	if _, err := onePass(t, dataset(t, stream.Config{Feature: bits18, Sources: []stream.Source{src}})); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// The error of a reader ends a pass whose Next waits for a job, though lines are left that the
// reader has not handed on.
func TestAnErrorEndsAWaitingPass(t *testing.T) {
	const csv = "age,income,bought\n30,1000,1\n40,2000,0\n"
	for range 300 {
		in, out := io.Pipe()
		d := dataset(t, stream.Config{Feature: feature.Config{Bits: 10}, Sources: []stream.Source{{Name: "t.csv", Open: func(context.Context) (io.ReadCloser, error) { return in, nil }}}})
		go func() {
			_, _ = io.WriteString(out, csv) // the reader of the pass may close its end first
			_ = out.Close()
		}()
		_, err := onePass(t, d)
		if _, ok := errors.AsType[*stream.DataError](err); !ok {
			t.Fatalf("got %v, want an error about the format", err)
		}
	}
}

func TestLargeInteractionsComeInSeveralBatches(t *testing.T) {
	line := "1 |a" + strings.Repeat(" w", 100) + "\n" // 5050 products
	cfg := stream.Config{Feature: feature.Config{Bits: 18, Interactions: []string{"aa"}}, Sources: []stream.Source{text("a.vw", strings.Repeat(line, 30))}}
	p, err := dataset(t, cfg).Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batches, examples := 0, 0
	for {
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		batches++
		examples += len(b.Examples)
		if len(b.Features) > 1<<15+5200 {
			t.Errorf("%d features in a batch", len(b.Features))
		}
		p.Recycle(b)
	}
	if err := p.Close(); err != nil || batches != 5 || examples != 30 {
		t.Errorf("%d batches, %d examples, %v", batches, examples, err)
	}
}

func TestBatchesThatAreNotRecycledStayWhole(t *testing.T) {
	cfg := stream.Config{Feature: bits18, ChunkSize: 500, Sources: []stream.Source{text("a.vw", drawn(5, 500))}}
	p, err := dataset(t, cfg).Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var kept []*feature.Batch
	for b, err := p.Next(); err != io.EOF; b, err = p.Next() {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, b)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	got := new(feature.Batch)
	for _, b := range kept {
		join(got, b)
	}
	if diff := differ(parsed(t, cfg, drawn(5, 500)), got); diff != "" {
		t.Error(diff)
	}
}

// TestNothingIsAllocatedPerExample: a pass costs its goroutines and buffers, and
// a channel a chunk; examples nothing.
func TestNothingIsAllocatedPerExample(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	s := strings.Repeat("1 2 'tag |a x:0.5 y z |b u:1e3 v:0.123456789\n", 50000)
	cfg := stream.Config{Feature: feature.Config{Bits: 18, Interactions: []string{"ab"}}, Sources: []stream.Source{text("a.vw", s)}}
	path := filepath.Join(t.TempDir(), "c")
	for _, c := range []struct {
		plan, path string
		kill       bool
	}{{"using no cache", "", false}, {"creating", path, true}, {"using cache", path, false}} {
		cfg.Cache, cfg.KillCache = c.path, c.kill
		if n := testing.AllocsPerRun(3, func() {
			d := dataset(t, cfg)
			if !strings.HasPrefix(d.Plan(), c.plan) {
				t.Errorf("plan %q", d.Plan())
			}
			readOver(t, d)
		}); n > 1000 { // 50,000 examples
			t.Errorf("%s: %v allocations", c.plan, n)
		}
	}
}

// TestPassesShareMemory: a pass over a few examples does not take the memory of a chunk of text again.
func TestPassesShareMemory(t *testing.T) {
	d := dataset(t, stream.Config{Feature: feature.Config{Bits: 18}, Sources: []stream.Source{text("a.vw", strings.Repeat("1 |a x y z\n", 20))}})
	for range 3 {
		readOver(t, d)
	}
	const passes = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range passes {
		if n := readOver(t, d); n != 20 {
			t.Fatalf("got %d examples, want 20", n)
		}
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / passes; took > stream.DefaultChunk/2 {
		t.Errorf("a pass takes %d bytes, want less than half of a chunk, %d", took, stream.DefaultChunk)
	} else {
		t.Logf("a pass takes %d bytes", took)
	}
}

// readOver reads a pass and keeps nothing.
func readOver(t testing.TB, d *stream.Dataset) (examples int) {
	p, err := d.Pass(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		examples += len(b.Examples)
		p.Recycle(b)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return examples
}

func crc32c(s string) uint32 {
	return crc32.Checksum([]byte(s), crc32.MakeTable(crc32.Castagnoli))
}
