// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/optimtest"
)

// readPoints reads vw text from testdata or from the reference data.
func readPoints(t testing.TB, name string, bits uint) []optimtest.Point {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		file = shared(t, name)
	}
	if strings.HasSuffix(name, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if file, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	p, err := feature.NewParser(feature.Config{Bits: bits})
	if err != nil {
		t.Fatal(err)
	}
	var (
		b      feature.Batch
		points []optimtest.Point
		number int64
	)
	for line := range bytes.Lines(file) {
		number++
		b.Reset()
		if err := p.AppendLine(&b, bytes.TrimSuffix(line, []byte("\n")), number); err != nil {
			t.Fatal(err)
		}
		for i := range b.Examples {
			ex := &b.Examples[i]
			q := optimtest.Point{Label: ex.Label, Weight: ex.Weight}
			for _, f := range b.FeaturesOf(ex) {
				q.Index = append(q.Index, f.Index)
				q.Value = append(q.Value, f.Value)
			}
			points = append(points, q)
		}
	}
	return points
}
