// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/gvw-project/gvw/bench/internal/task"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/svm"
	"github.com/gvw-project/gvw/model"
)

// problem is logistic regression on a data set: the least mean log loss + λ/2‖w‖² over all weights, that of the constant
// feature included.
type problem struct {
	task.Task
	about string // the data set in words
	links bool   // jobs run behind network links, too
	file  string // its text
}

// newProblem reads or draws a data set.
func newProblem(data, name string) (p problem, err error) {
	if name == "url-like" {
		return urlProblem(4_000, 200_000), nil
	}
	p = problem{about: name, Task: task.Task{Name: name, Lambda: 1e-4}}
	if p.Examples, err = task.Read(filepath.Join(data, name, "train.vw.gz"), nil); err != nil {
		return p, err
	}
	if name == "kdd99" {
		p.about = "50,000 examples of kdd99, log(1+x), columns divided by their maxima"
		p.Examples = p.Examples[:50_000]
		scaleColumns(p.Examples)
	}
	p.Size = task.Number(p.Examples)
	return p, nil
}

// scaleColumns replaces each value by log(1+x), divided by the largest one of its feature.
func scaleColumns(examples []svm.Example) {
	most := map[uint32]float32{}
	for _, ex := range examples {
		for i := range ex.Features {
			f := &ex.Features[i]
			f.Value = float32(math.Log1p(float64(f.Value)))
			most[f.Index] = max(most[f.Index], f.Value)
		}
	}
	for _, ex := range examples {
		for i := range ex.Features {
			if f := &ex.Features[i]; most[f.Index] > 0 {
				f.Value /= most[f.Index]
			}
		}
	}
}

// urlProblem draws n examples like those of URLs: they have many more features than examples, most of them rare.
// names is the largest number of features.
func urlProblem(n, names int) problem {
	const size = 100
	rng := rand.New(rand.NewPCG(17, 3))
	truth := make([]float64, names)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	p := problem{about: "drawn", links: true, Task: task.Task{Name: "url-like", Lambda: 1e-4, Examples: make([]svm.Example, n)}}
	for i := range p.Examples {
		score, features := 0.0, []feature.Feature{{Index: uint32(names), Value: 1}} // the constant
		for range size {
			f := uint32(float64(names) * math.Pow(rng.Float64(), 3))
			if !slices.ContainsFunc(features, func(x feature.Feature) bool { return x.Index == f }) {
				features = append(features, feature.Feature{Index: f, Value: 0.1})
				score += truth[f]
			}
		}
		label := float32(-1)
		if rng.Float64() < 1/(1+math.Exp(-score/2)) {
			label = 1
		}
		p.Examples[i] = svm.Example{Label: label, Weight: 1, Features: features}
	}
	p.Size = task.Number(p.Examples)
	return p
}

func (p *problem) String() string {
	return fmt.Sprintf("%s: %d examples, %d features, λ %g", p.about, len(p.Examples), p.Size, p.Lambda)
}

// bits returns the number of bits of an index.
func (p *problem) bits() int { return bits.Len(uint(p.Size - 1)) }

// write writes the examples as text whose words are the indices. One feature is the constant of the parser.
func (p *problem) write(name string) error {
	p.file = name
	return p.text(name, " |", 0)
}

// writeLibSVM writes the examples in the format of LIBSVM, whose indices begin at 1.
func (p *problem) writeLibSVM(name string) error { return p.text(name, "", 1) }

func (p *problem) text(name, mark string, first uint32) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, ex := range p.Examples {
		w.WriteString(strconv.Itoa(int(ex.Label)) + mark)
		fs := slices.Clone(ex.Features)
		slices.SortFunc(fs, func(a, b feature.Feature) int { return int(a.Index) - int(b.Index) })
		for _, x := range fs {
			fmt.Fprintf(w, " %d:%g", x.Index+first, x.Value)
		}
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// shard returns the examples of a rank, which are contiguous in the file.
func (p *problem) shard(rank int) []svm.Example {
	n := len(p.Examples)
	return p.Examples[rank*n/ranks : (rank+1)*n/ranks]
}

// objective returns the objective of weights.
func (p *problem) objective(w []float32) float64 {
	const parts = 8
	var sums [parts]float64
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			n := len(p.Examples)
			for _, ex := range p.Examples[part*n/parts : (part+1)*n/parts] {
				margin := 0.0
				for _, f := range ex.Features {
					margin += float64(w[f.Index]) * float64(f.Value)
				}
				margin *= float64(ex.Label)
				sums[part] += math.Log1p(math.Exp(-math.Abs(margin))) + max(0, -margin)
			}
		})
	}
	all.Wait()
	total := 0.0
	for _, s := range sums {
		total += s
	}
	norm := 0.0
	for _, v := range w {
		norm += float64(v) * float64(v)
	}
	return total/float64(len(p.Examples)) + p.Lambda/2*norm
}

// objectiveOf returns the objective of a model.
func (p *problem) objectiveOf(name string) (float64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	m, err := model.Read(f, model.Limits{})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	w := make([]float32, p.Size)
	for i := range w {
		w[i] = m.Weights.Data[i*m.Weights.Stride]
	}
	return p.objective(w), nil
}
