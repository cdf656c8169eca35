// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrote writes files of given names and texts to a new folder, and returns a pattern for them.
func wrote(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "part-*")
}

// compared returns the errors of three ranks, of which rank 2 reads other files than ranks 0 and 1.
func compared(t *testing.T, names, ofRank2 []string) (errs []error) {
	bubble(t, "job", func(t *testing.T) {
		c := newCluster(t, 3, Config{})
		errs = c.each(func(g *Group) error {
			config := DataConfig{Names: names, Rank: g.Rank(), Of: 3}
			if g.Rank() == 2 {
				config.Names = ofRank2
			}
			d, err := LoadData(context.Background(), config)
			if err != nil {
				return err
			}
			if err := d.Compare(context.Background(), g); err != nil {
				return err
			}
			return g.Done(context.Background())
		})
	})
	return errs
}

func TestCompareAcceptsEqualFiles(t *testing.T) {
	names := []string{wrote(t, map[string]string{"part-1": "a\n", "part-2": "b\n"})}
	for rank, err := range compared(t, names, names) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// All ranks return an error that names two ranks and the first difference. It is their own, or that of the first rank
// that has found one.
func TestCompareNamesTheFirstDifference(t *testing.T) {
	pattern := wrote(t, map[string]string{"part-1": "a\n", "part-2": "b\n", "part-3": "c\n"})
	first, second, third := strings.Replace(pattern, "*", "1", 1), strings.Replace(pattern, "*", "2", 1), strings.Replace(pattern, "*", "3", 1)
	for _, c := range []struct {
		names, ofRank2 []string
		file, is, of2  string
	}{
		{[]string{first, second}, []string{first, third}, "file 2", `"` + second + `" of 2 bytes`, `"` + third + `" of 2 bytes`},
		{[]string{first}, []string{first, third}, "file 2", "missing", `"` + third + `" of 2 bytes`},
		{[]string{pattern}, []string{first, second}, "file 3", `"` + third + `" of 2 bytes`, "missing"},
	} {
		errs := compared(t, c.names, c.ofRank2)
		var want []string
		for other := range 2 {
			want = append(want,
				fmt.Sprintf("rank %d and rank 2 have different data: %s is %s on rank %d and %s on rank 2", other, c.file, c.is, other, c.of2),
				fmt.Sprintf("rank 2 and rank %d have different data: %s is %s on rank 2 and %s on rank %d", other, c.file, c.of2, c.is, other))
		}
		for rank, err := range errs {
			if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(fmt.Sprint(err), w) }) {
				t.Errorf("rank %d: got %v, want one of\n%s", rank, err, strings.Join(want, "\n"))
			}
		}
	}
}

// A list that is too long to be sent has a digest of all of it.
func TestLongListsDiffer(t *testing.T) {
	a := &Data{}
	for range 5000 {
		a.files, a.sizes = append(a.files, strings.Repeat("x", 20)), append(a.sizes, 1)
	}
	b := &Data{files: a.files, sizes: append(append([]int64(nil), a.sizes[:4999]...), 2)}
	one, other := a.list(), b.list()
	if string(one) == string(other) || string(one[sha256.Size:]) != string(other[sha256.Size:]) || len(one) > sha256.Size+listSize {
		t.Fatalf("lists of %d and %d bytes: want equal names and other digests", len(one), len(other))
	}
	if got := difference(one, other, 0, 1); !strings.Contains(got, "files are equal, and later ones are not") {
		t.Errorf("got %q", got)
	}
}

// A rank is lost before it compares its files, and its replacement arrives while the others compare theirs.
func TestCompareWithAReplacement(t *testing.T) {
	names := []string{wrote(t, map[string]string{"part-1": "a\n"})}
	others := []string{wrote(t, map[string]string{"part-1": "a\nb\n"})}
	for want, second := range map[string][]string{"": names, "have different data": others} {
		bubble(t, "job", func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			c := newCluster(t, 3, Config{OnLoss: Wait})
			errs := c.each(func(g *Group) error {
				config := DataConfig{Names: names, Rank: g.Rank(), Of: 3}
				if g.Rank() == 2 {
					g.Close()
					time.Sleep(3 * time.Second)
					var err error
					if g, err = c.join(2, c.fabric.Host("spare")); err != nil {
						return err
					}
					config.Names = second
				}
				d, err := LoadData(ctx, config)
				if err != nil {
					return err
				}
				if err := d.Compare(ctx, g); err != nil {
					g.Close()
					cancel() // the others would wait for a further replacement
					return err
				}
				v, err := NewVector[float32](g, "v", 2, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
				if err != nil {
					return err
				}
				for v.Iteration() < 3 {
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
						return err
					}
				}
				return g.Done(ctx)
			})
			cancel()
			if err := errors.Join(errs...); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// A rank that joins a running job is compared with the rank whose values it takes.
func TestCompareWithALateRank(t *testing.T) {
	names := []string{wrote(t, map[string]string{"part-1": "a\n"})}
	others := []string{wrote(t, map[string]string{"part-1": "a\nb\n"})}
	for want, late := range map[string][]string{"": names, "rank 1 and rank 0 have different data: file 1 is": others} {
		bubble(t, "job", func(t *testing.T) {
			c := newCluster(t, 2, Config{OnLoss: Grow, Elastic: time.Second, Job: Job{UniqueID: 1, RunKey: "late"}})
			c.late = map[int]time.Duration{1: 4 * time.Second}
			ctx, joined := context.Background(), make(chan struct{})
			errs := c.each(func(g *Group) error {
				config := DataConfig{Names: names, Rank: g.Rank(), Of: 2}
				if g.Rank() == 1 {
					defer close(joined)
					defer g.Close() // else rank 0 would wait for it in a barrier that it has entered
					config.Names = late
				}
				d, err := LoadData(ctx, config)
				if err != nil {
					return err
				}
				if err := d.Compare(ctx, g); err != nil || g.Rank() == 1 {
					return err
				}
				for {
					select {
					case <-joined:
						return nil
					case <-time.After(time.Second):
						if err := g.Barrier(ctx); err != nil { // a call in which the late rank gets the values
							return err
						}
					}
				}
			})
			if err := errs[1]; want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
