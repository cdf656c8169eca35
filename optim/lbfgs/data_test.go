// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/murmur3"

	"github.com/gvw-project/gvw/optim"
)

// point is an example of the test objective.
type point struct {
	label, weight float32
	index         []uint32
	value         []float32
}

// readPoints reads the simple part of vw's text format that the golden inputs
// use. Package feature has the real parser; a solver that is right only
// together with that one would be a poor solver.
func readPoints(t testing.TB, name string, bits uint) []point {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		file = shared(t, name)
	}
	var r io.Reader = bytes.NewReader(file)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	float := func(s string) float32 {
		v, err := strconv.ParseFloat(s, 32)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return float32(v)
	}
	mask := uint32(1)<<bits - 1
	var points []point
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		head, rest, _ := strings.Cut(sc.Text(), "|")
		p := point{weight: 1}
		words := strings.Fields(head)
		p.label = float(words[0])
		if len(words) > 1 {
			if w, err := strconv.ParseFloat(words[1], 32); err == nil {
				p.weight = float32(w)
			}
		}
		for _, part := range strings.Split(rest, "|") {
			words := strings.Fields(part)
			var ns uint32
			scale := float32(1)
			if !strings.HasPrefix(part, " ") {
				name, value, ok := strings.Cut(words[0], ":")
				if ok {
					scale = float(value)
				}
				ns, words = murmur3.SeedSum32(0, []byte(name)), words[1:]
			}
			for _, w := range words {
				feature, value, ok := strings.Cut(w, ":")
				x := float32(1)
				if ok {
					x = float(value)
				}
				h := murmur3.SeedSum32(ns, []byte(feature))
				if n, err := strconv.ParseUint(feature, 10, 32); err == nil {
					h = uint32(n) + ns
				}
				p.index = append(p.index, h&mask)
				p.value = append(p.value, scale*x)
			}
		}
		p.index = append(p.index, 11650396&mask)
		p.value = append(p.value, 1)
		points = append(points, p)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return points
}

// lossFunc returns a loss and its two derivatives with respect to p.
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
		if grad != nil {
			for j, v := range grad {
				dst.Gradient[j] = float32(v)
			}
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
