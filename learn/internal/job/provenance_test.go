// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// provenanceOf returns the origin of a state made from a text and a model. unread leaves the text
// unread, as in a rank that replaces another one.
func provenanceOf(t *testing.T, text, model string, unread bool) *Provenance {
	t.Helper()
	data, err := stream.NewDataset(stream.Config{
		Feature: feature.Config{Bits: 10},
		Sources: []stream.Source{{Name: "text", Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &Provenance{Data: data, Basis: NewBasis()}
	if _, err := io.WriteString(o.Basis, model); err != nil {
		t.Fatal(err)
	}
	if unread {
		return o
	}
	pass, err := data.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := pass.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		pass.Recycle(b)
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// A state is refused if it was made from other data or from another model. A rank that has not
// read its data yet cannot compare the data.
func TestProvenance(t *testing.T) {
	const text = "1 | a\n-1 | b\n"
	w := snapshot.Encode(nil)
	provenanceOf(t, text, "model", false).Code(&w, 3)
	for name, c := range map[string]struct {
		reader *Provenance
		want   string
	}{
		"the same":      {provenanceOf(t, text, "model", false), ""},
		"unread":        {provenanceOf(t, text, "model", true), ""},
		"other data":    {provenanceOf(t, "1 | a\n-1 | c\n", "model", false), "this rank has 2 examples in 13 bytes"},
		"less data":     {provenanceOf(t, "1 | a\n", "model", false), "this rank has 1 examples in 6 bytes"},
		"another model": {provenanceOf(t, text, "other", false), "a model of CRC "},
	} {
		r := snapshot.Decode(w.Bytes())
		c.reader.Code(&r, 3)
		_, refused := errors.AsType[*ProvenanceError](r.Err())
		switch {
		case c.want == "" && r.Err() != nil:
			t.Errorf("%s: %v", name, r.Err())
		case c.want != "" && (!refused || !strings.Contains(r.Err().Error(), c.want) || !strings.HasPrefix(r.Err().Error(), "rank 3: ")):
			t.Errorf("%s: got %v, want rank 3 and %q", name, r.Err(), c.want)
		}
		if c.want == "" && len(r.Bytes()) > 0 {
			t.Errorf("%s: %d bytes are left", name, len(r.Bytes()))
		}
	}
	r := snapshot.Decode(w.Bytes())
	if SkipProvenance(&r); r.Err() != nil || len(r.Bytes()) > 0 {
		t.Errorf("after a skip %d bytes are left, error %v", len(r.Bytes()), r.Err())
	}
}
