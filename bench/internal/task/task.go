// SPDX-License-Identifier: Apache-2.0

// Package task has the data sets of figures and the parameters of their experiments.
package task

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/learn/svm"
)

// Task is a data set with the parameters of its experiments.
type Task struct {
	Name     string
	Examples []svm.Example // in random order
	Size     int           // weights
	Lambda   float64
	Batch    int // examples between two rounds
	Rate     int // examples a second and rank
	Passes   int // over all examples, by all ranks together, at most
}

// String describes a task.
func (t Task) String() string {
	return fmt.Sprintf("%s: %d examples, %d weights, λ %g, batches of %d", t.Name, len(t.Examples), t.Size, t.Lambda, t.Batch)
}

// Text reads cocoa-text: 2,000 documents, unit-length tf-idf, more features than examples.
func Text(data string) (Task, error) {
	ex, err := Read(filepath.Join(data, "cocoa-text", "train.vw.gz"), nil)
	return Task{Name: "text", Examples: ex, Size: Number(ex), Lambda: 1e-3, Batch: 25, Rate: 2_500, Passes: 40}, err
}

// Splice reads the first windows of splice, as k-mers of 1 to 3 bases with their positions.
func Splice(data string) (Task, error) {
	const windows = 40_000
	n := 0
	ex, err := Read(filepath.Join(data, "splice", "ce-don-decoy.train.tsv.gz"), func(line string) (string, bool) {
		n++
		label, rest, _ := strings.Cut(line, "\t")
		_, sequence, _ := strings.Cut(rest, "\t")
		return Kmers(label, sequence), n <= windows
	})
	return Task{Name: "splice", Examples: ex, Size: Number(ex), Lambda: 1e-4, Batch: 250, Rate: 20_000, Passes: 8}, err
}

// Longest is the number of bases of the longest k-mers.
const Longest = 3

// Kmers returns a window in vw's text: each substring of up to Longest bases is a feature, named by its position. Their
// values are equal, and their vector has the length 1.
func Kmers(label, sequence string) string {
	count := 0
	for k := 1; k <= Longest; k++ {
		count += max(0, len(sequence)-k+1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s |p:%.6g", label, 1/math.Sqrt(float64(count)))
	for k := 1; k <= Longest; k++ {
		for i := 0; i+k <= len(sequence); i++ {
			fmt.Fprintf(&b, " %d%s", i+1, sequence[i:i+k])
		}
	}
	return b.String()
}

// Dense makes examples of 100 normal values, whose labels a random plane gives, a tenth of them wrongly.
func Dense() Task {
	const size, n = 100, 40_000
	rng := rand.New(rand.NewPCG(17, 1))
	plane := make([]float64, size)
	for i := range plane {
		plane[i] = rng.NormFloat64()
	}
	ex := make([]svm.Example, n)
	for i := range ex {
		side := 0.0
		features := make([]feature.Feature, size)
		for j := range features {
			x := rng.NormFloat64()
			side += x * plane[j]
			features[j] = feature.Feature{Index: uint32(j), Value: float32(x / 10)}
		}
		label := float32(1)
		if (side > 0) == (rng.Float64() < 0.1) {
			label = -1
		}
		ex[i] = svm.Example{Label: label, Weight: 1, Features: features}
	}
	return Task{Name: "dense", Examples: ex, Size: size, Lambda: 1e-4, Batch: 250, Rate: 20_000, Passes: 8}
}

// Read reads vw's text from a .gz file, each line changed by convert until it reports false, and shuffles it.
func Read(path string, convert func(line string) (string, bool)) ([]svm.Example, error) {
	r, err := hdfsio.Open(context.Background(), hdfsio.Local{}, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ex, err := parse(r, convert)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rand.New(rand.NewPCG(17, 2)).Shuffle(len(ex), func(i, j int) { ex[i], ex[j] = ex[j], ex[i] })
	return ex, nil
}

func parse(r io.Reader, convert func(line string) (string, bool)) ([]svm.Example, error) {
	p, err := feature.NewParser(feature.Config{Bits: 24})
	if err != nil {
		return nil, err
	}
	var b feature.Batch
	s := bufio.NewScanner(r)
	for n := int64(1); s.Scan(); n++ {
		line := s.Text()
		if convert != nil {
			more := false
			if line, more = convert(line); !more {
				break
			}
		}
		if err := p.AppendLine(&b, []byte(line), n); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	ex := make([]svm.Example, len(b.Examples))
	for i := range b.Examples {
		e := &b.Examples[i]
		ex[i] = svm.Example{Label: e.Label, Weight: 1, Features: append([]feature.Feature(nil), b.FeaturesOf(e)...)}
	}
	return ex, nil
}

// Number numbers the features of examples from 0 on, and returns how many there are. Ranks then send no
// weights that no feature has.
func Number(examples []svm.Example) (size int) {
	numbers := map[uint32]uint32{}
	for _, ex := range examples {
		for i, f := range ex.Features {
			n, ok := numbers[f.Index]
			if !ok {
				n = uint32(len(numbers))
				numbers[f.Index] = n
			}
			ex.Features[i].Index = n
		}
	}
	return len(numbers)
}
