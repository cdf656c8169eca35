// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/examples"
)

// counting returns a cursor over n examples with the labels 1, 2, …, and the labels that it has visited.
func counting(t *testing.T, n int) (*cursor, *[]float32) {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d | a\n", i+1)
	}
	data, err := stream.NewDataset(stream.Config{
		Feature: feature.Config{Bits: 4},
		Sources: []stream.Source{{Name: "text", Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text.String())), nil
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	visited := new([]float32)
	c := &cursor{read: &examples.Reader{Data: data, Name: "text"}, visit: func(_ *feature.Batch, ex *feature.Example, _ bool) error {
		*visited = append(*visited, ex.Label)
		return nil
	}}
	t.Cleanup(c.close)
	return c, visited
}

// labels returns lo+1 … hi.
func labels(lo, hi int) (all []float32) {
	for i := lo; i < hi; i++ {
		all = append(all, float32(i+1))
	}
	return all
}

// Parts of a pass have the examples between their ends, also empty parts, and a cursor that begins in the middle
// visits only the rest. Contexts end with their part.
func TestPartsOfAPass(t *testing.T) {
	const n = 1000
	for _, from := range []int{0, 10} {
		c, visited := counting(t, n)
		ends := []int{10, 10, 700, 999, whole}
		at := 0
		for i, end := range ends {
			if at < from {
				at = end
				continue
			}
			*visited = nil
			ctx, cancel := context.WithCancel(t.Context())
			err := c.part(ctx, 0, at, end)
			if cancel(); err != nil {
				t.Fatal(err)
			}
			if want := labels(at, min(end, n)); !slices.Equal(*visited, want) {
				t.Errorf("part %d: %d examples, want %d from %d on", i, len(*visited), len(want), at)
			}
			at = end
		}
		if c.next != nil {
			t.Error("the pass is open after its end")
		}
	}
}

// An empty shard has empty parts. One that is shorter than it was is an error, and so is a context that ends.
func TestPassesThatEnd(t *testing.T) {
	c, _ := counting(t, 0)
	for _, end := range []int{0, 0, whole} {
		if err := c.part(t.Context(), 0, 0, end); err != nil {
			t.Error(err)
		}
	}
	c, _ = counting(t, 5)
	if err := c.part(t.Context(), 1, 0, 7); err == nil || !strings.Contains(err.Error(), "text: pass 2 ended before its example 8") {
		t.Errorf("got %v, want an error about example 8", err)
	}
	c, _ = counting(t, 5)
	mark := errors.New("mark")
	c.visit = func(*feature.Batch, *feature.Example, bool) error { return mark }
	if err := c.part(t.Context(), 0, 0, whole); !errors.Is(err, mark) {
		t.Errorf("got %v, want the visit's error", err)
	}
	c, _ = counting(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.part(ctx, 0, 0, 2); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.part(t.Context(), 0, 2, whole); err != nil {
		t.Errorf("the end of the context of an earlier part: %v", err)
	}
}
