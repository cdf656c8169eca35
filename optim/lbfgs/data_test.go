// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim"
)

// point is an example of the test objective.
type point struct {
	label, weight float32
	index         []uint32
	value         []float32
}

// readPoints reads vw text from testdata or from the reference data.
func readPoints(t testing.TB, name string, bits uint) []point {
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
		points []point
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
			q := point{label: ex.Label, weight: ex.Weight}
			for _, f := range b.FeaturesOf(ex) {
				q.index = append(q.index, f.Index)
				q.value = append(q.value, f.Value)
			}
			points = append(points, q)
		}
	}
	return points
}

// lossFunc returns a loss and its two derivatives with respect to p, in
// float64: the optima that other methods find are computed with the same.
type lossFunc func(p, y float64) (l, d1, d2 float64)

func logistic(p, y float64) (l, d1, d2 float64) {
	s := 1 / (1 + math.Exp(y*p))
	return math.Log1p(math.Exp(-y * p)), -y * s, s * (1 - s)
}

func squared(p, y float64) (l, d1, d2 float64) { return (p - y) * (p - y), 2 * (p - y), 2 }

// objective returns the sums over points. lo and hi clip predictions.
func objective(points []point, loss lossFunc, lo, hi float64) optim.ObjectiveFunc {
	predict := func(x []float32, p *point) float64 {
		var sum float32
		for i, j := range p.index {
			sum += float32(x[j] * p.value[i])
		}
		return float64(sum)
	}
	return func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		dst.Loss, dst.Weight, dst.Curvature = 0, 0, 0
		var grad, diag []float64
		if req.Kind != optim.Curvature {
			grad = make([]float64, len(req.X))
			diag = make([]float64, len(req.X))
		}
		for k := range points {
			p := &points[k]
			w := float64(p.weight)
			l, d1, d2 := loss(max(lo, min(hi, predict(req.X, p))), float64(p.label))
			dst.Loss += w * l
			dst.Weight += w
			if req.Kind == optim.Curvature {
				dx := predict(req.Dir, p)
				dst.Curvature += w * d2 * dx * dx
				continue
			}
			for i, j := range p.index {
				v := float64(p.value[i])
				grad[j] += w * d1 * v
				diag[j] += w * d2 * v * v
			}
		}
		for j, v := range grad {
			dst.Gradient[j] = float32(v)
		}
		if req.Kind == optim.First {
			for j, v := range diag {
				dst.Diagonal[j] = float32(v)
			}
		}
		return nil
	}
}

// labelRange returns the range of predictions of squared loss: that of the
// labels, with 0.
func labelRange(points []point) (lo, hi float64) {
	for i := range points {
		lo, hi = min(lo, float64(points[i].label)), max(hi, float64(points[i].label))
	}
	return lo, hi
}
