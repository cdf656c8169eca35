// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// compress compresses text in the format that the name indicates.
func compress(t testing.TB, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	switch filepath.Ext(name) {
	case ".gz":
		// Two members, as `cat a.gz b.gz` makes them.
		for _, s := range []string{text[:len(text)/2], text[len(text)/2:]} {
			w := gzip.NewWriter(&b)
			if _, err := w.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	case ".zst":
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<16))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		b.WriteString(text)
	}
	return b.Bytes()
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// linesOf splits text as the package does: the end of the text ends a line.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// readPart reads a part with reads of the given size.
func readPart(p Part, chunk int) (string, error) {
	r, err := p.Open(context.Background())
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	_, err = io.CopyBuffer(struct{ io.Writer }{&b}, struct{ io.Reader }{r}, make([]byte, chunk))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return b.String(), err
}

// The shards of any files are a partition of their lines, in order, for any number of ranks,
// compression and read size; a second reading gives the same.
func TestShardsPartition(t *testing.T) {
	dir := t.TempDir()
	var round int
	rapid.Check(t, func(rt *rapid.T) {
		round++
		line := rapid.StringMatching(`[ab|:]{0,12}\r?`)
		var names, want []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "files") {
			text := strings.Join(rapid.SliceOfN(line, 0, 9).Draw(rt, "lines"), "\n")
			if rapid.Bool().Draw(rt, "ends with a newline") && text != "" {
				text += "\n"
			}
			ext := rapid.SampledFrom([]string{".vw", ".vw", ".gz", ".zst"}).Draw(rt, "format")
			name := filepath.Join(dir, fmt.Sprintf("%d-%d%s", round, i, ext))
			writeFile(t, name, compress(t, name, text))
			names = append(names, name)
			want = append(want, linesOf(text)...)
		}
		total := rapid.IntRange(1, 12).Draw(rt, "ranks")
		chunk := rapid.IntRange(1, 40).Draw(rt, "chunk")
		kind := rapid.SampledFrom([]Kind{Bytes, Lines}).Draw(rt, "kind")
		order := rapid.Permutation([]int{0, 1, 2, 3}[:len(names)]).Draw(rt, "order")

		got := slices.Repeat([]string{"missing"}, len(want))
		seen := 0
		for rank := range total {
			parts, err := Split(t.Context(), Local{}, names, Shard{Kind: kind, Rank: rank, Total: total})
			if err != nil {
				rt.Fatal(err)
			}
			texts := make([]string, len(parts))
			// Read out of order: a part does not depend on the parts before it.
			for _, i := range order {
				if i < len(parts) {
					if texts[i], err = readPart(parts[i], chunk); err != nil {
						rt.Fatal(err)
					}
				}
			}
			var own []string
			for i, p := range parts {
				again, err := readPart(p, 1<<16)
				if err != nil {
					rt.Fatal(err)
				}
				if again != texts[i] {
					rt.Fatalf("rank %d, part %d: read twice: %q, then %q", rank, i, texts[i], again)
				}
				own = append(own, linesOf(again)...)
			}
			for i, l := range own {
				at := seen + i
				if kind == Lines {
					at = rank + i*total
				}
				if at >= len(want) {
					rt.Fatalf("rank %d of %d has line %q too many", rank, total, l)
				}
				got[at] = l
			}
			seen += len(own)
		}
		if seen != len(want) {
			rt.Fatalf("%d ranks hold %d lines together, want %d", total, seen, len(want))
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("lines (-want +got):\n%s", diff)
		}
	})
}

// Parts by bytes are as equal as lines permit: none differs by more than a line.
func TestBytesAreBalanced(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, n := range []int{100, 1, 250} {
		name := filepath.Join(dir, fmt.Sprint(i))
		writeFile(t, name, []byte(strings.Repeat("0123456789\n", n)))
		names = append(names, name)
	}
	const total, ranks = 351 * 11, 4
	for rank := range ranks {
		parts, err := Split(t.Context(), Local{}, names, Shard{Kind: Bytes, Rank: rank, Total: ranks})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range parts {
			text, err := readPart(p, 4096)
			if err != nil {
				t.Fatal(err)
			}
			n += len(text)
		}
		if n < total/ranks-11 || n > total/ranks+11 {
			t.Errorf("rank %d has %d of %d bytes", rank, n, total)
		}
	}
}

func TestShareDoesNotOverflow(t *testing.T) {
	const size = 1<<62 + 12345
	last := int64(0)
	for k := range 10001 {
		at := share(size, k, 10000)
		if at < last {
			t.Fatalf("share(%d) = %d, less than the one before, %d", k, at, last)
		}
		last = at
	}
	if last != size {
		t.Errorf("the last share ends at %d, want %d", last, int64(size))
	}
}

func TestShardValidate(t *testing.T) {
	for _, s := range []Shard{{Kind: Bytes}, {Kind: Lines, Rank: 2, Total: 2}, {Kind: Bytes, Rank: -1, Total: 1}, {Kind: 7}} {
		if err := s.Validate(); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	if err := (Shard{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for _, k := range []Kind{Bytes, Lines} {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := ParseKind("words"); err == nil {
		t.Error(`ParseKind("words"): no error`)
	}
}

// Identities differ where texts may differ: by share, file or content.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeFile(t, a, []byte("1 |a x\n1 |a y\n"))
	writeFile(t, b, []byte("1 |b x\n1 |b y\n"))
	id := func(s Shard, names ...string) string {
		parts, err := Split(t.Context(), Local{}, names, s)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]string, len(parts))
		for i, p := range parts {
			all[i] = p.Identity
		}
		return strings.Join(all, "\n")
	}
	seen := map[string]string{}
	note := func(what, identity string) {
		if identity == "" {
			t.Errorf("%s: no identity", what)
		}
		if other, dup := seen[identity]; dup {
			t.Errorf("%s has the identity of %s", what, other)
		}
		seen[identity] = what
	}
	note("a", id(Shard{}, a))
	note("b", id(Shard{}, b))
	note("both", id(Shard{}, a, b))
	note("both by bytes, rank 0", id(Shard{Kind: Bytes, Rank: 0, Total: 2}, a, b))
	note("both by bytes, rank 1", id(Shard{Kind: Bytes, Rank: 1, Total: 2}, a, b))
	note("both by lines, rank 0", id(Shard{Kind: Lines, Rank: 0, Total: 2}, a, b))
	note("both by lines, rank 1", id(Shard{Kind: Lines, Rank: 1, Total: 2}, a, b))
	writeFile(t, a, []byte("1 |a x\n1 |a yy\n"))
	note("a grown", id(Shard{}, a))
	note("both by lines, rank 0, a grown", id(Shard{Kind: Lines, Rank: 0, Total: 2}, a, b))
	if got, again := id(Shard{}, a), id(Shard{}, a); got != again {
		t.Errorf("identities of one file: %q, then %q", got, again)
	}
}

// A read error in the middle of a shard is returned, for every kind of shard.
func TestShardReadersPassErrorsOn(t *testing.T) {
	broken := func() io.ReadCloser {
		return io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("aa\nbb\ncc\n"))))
	}
	for name, r := range map[string]io.Reader{
		"cut":  newCutReader(broken(), 0, 3, 9),
		"deal": &dealReader{r: broken(), rank: 1, total: 2, counted: func(int64) {}},
	} {
		if _, err := io.ReadAll(r); err != iotest.ErrTimeout {
			t.Errorf("%s: %v, want %v", name, err, iotest.ErrTimeout)
		}
	}
}

func TestShardReadersDoNotAllocate(t *testing.T) {
	text := strings.Repeat("1 |a foo bar:3\n", 1000)
	buf := make([]byte, 4096)
	src := strings.NewReader("")
	for name, reset := range map[string]func() io.Reader{
		"cut": func() func() io.Reader {
			c := newCutReader(io.NopCloser(src), 0, 0, 0)
			return func() io.Reader {
				src.Reset(text)
				c.pos, c.lo, c.hi, c.inside, c.done = 0, 1000, 9000, false, false
				return c
			}
		}(),
		"deal": func() func() io.Reader {
			d := &dealReader{r: io.NopCloser(src), rank: 1, total: 3, counted: func(int64) {}}
			return func() io.Reader { src.Reset(text); d.line = 0; return d }
		}(),
	} {
		allocs := testing.AllocsPerRun(10, func() {
			r := reset()
			for {
				if _, err := r.Read(buf); err != nil {
					return
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations for a text", name, allocs)
		}
	}
}
