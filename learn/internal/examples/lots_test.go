// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// A panic of start ends the pass, which does not wait for the lot that no goroutine has.
func TestPanicOfStart(t *testing.T) {
	t.Parallel()
	data, err := stream.NewDataset(stream.Config{
		Feature: feature.Config{Bits: 18},
		Sources: []stream.Source{{Name: "x", Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("1 | a\n")), nil
		}}},
		Passes: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{Data: data}
	defer func() {
		if got := recover(); got != "no room" {
			t.Errorf("got %v, want the panic of start", got)
		}
	}()
	err = r.Lots(t.Context(), 4, func(*Lot) { panic("no room") }, func(*Lot, int) error { return nil })
	t.Errorf("Lots returned %v", err)
}
