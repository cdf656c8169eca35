// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// trickle is a reader that returns one of its parts in each Read, the next one only when the examples before it have
// been learned from.
type trickle []string

func (r *trickle) Read(b []byte) (int, error) {
	synctest.Wait()
	if len(*r) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*r)[0])
	*r = (*r)[1:]
	return n, nil
}

// An empty line of CSV or JSON is the same error, however the reads divide the text.
func TestEmptyLinesAreErrorsInEveryRead(t *testing.T) {
	for _, c := range []struct {
		name, format string
		parts        []string
	}{
		{"csv, middle", FormatCSV, []string{"_label,x\n1,2\n", "\n", "0,3\n"}},
		{"csv, after the header", FormatCSV, []string{"_label,x\n", "\r\n", "0,3\n"}},
		{"csv, end", FormatCSV, []string{"_label,x\n1,2\n", "\n"}},
		{"json, middle", FormatJSON, []string{"{\"_label\": 1, \"x\": 2}\n", "\n", "{\"_label\": 0, \"x\": 3}\n"}},
		{"json, end", FormatJSON, []string{"{\"_label\": 1, \"x\": 2}\n", "\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(parts ...string) (err error) {
				synctest.Test(t, func(t *testing.T) {
					in := Input{Name: "in", Open: func(context.Context) (io.ReadCloser, error) {
						r := trickle(parts)
						return io.NopCloser(&r), nil
					}}
					_, err = Run(t.Context(), Config{Data: DataConfig{Inputs: []Input{in}, Format: c.format}})
				})
				return err
			}
			want := run(strings.Join(c.parts, ""))
			if want == nil {
				t.Fatal("got no error of one read")
			}
			if got := run(c.parts...); got == nil || got.Error() != want.Error() {
				t.Errorf("got %v, want that of one read: %v", got, want)
			}
		})
	}
}
