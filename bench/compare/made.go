// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Shapes of the made data.
const (
	sparseNames = 1 << 20 // names of features of a namespace of the sparse data
	sparseHalf  = 37      // features of each of its two namespaces
	known       = 1 << 8  // names of the sparse data, the most frequent ones, on which the label depends
	denseNames  = 100
	noise       = 0.5 // standard deviation of what no feature explains
	seed        = 1
)

// makeData writes sparse.vw and dense.vw to dir, the same bytes for the same number of lines.
func makeData(dir string, lines int) error {
	for name, line := range map[string]func(b []byte, rng *rand.Rand) []byte{"sparse.vw": sparseLine, "dense.vw": denseLine} {
		if err := makeFile(filepath.Join(dir, name), lines, line); err != nil {
			return err
		}
	}
	return nil
}

func makeFile(path string, lines int, line func(b []byte, rng *rand.Rand) []byte) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	rng := rand.New(rand.NewPCG(seed, 2))
	var b []byte
	for range lines {
		b = append(line(b[:0], rng), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Close()
}

// sparseLine appends an example of two namespaces with 37 features each. Small numbers are more frequent than large ones, as
// words are, and every second feature has a value. The label depends on the frequent ones: one pass can learn it, so that
// losses of held-out examples mean something.
func sparseLine(b []byte, rng *rand.Rand) []byte {
	score := 0.0
	begin := len(b)
	for _, space := range "uv" {
		b = append(b, " |"...)
		b = append(b, byte(space))
		for k := range sparseHalf {
			n := int(math.Pow(sparseNames, rng.Float64())) // as frequent as words of this rank: 1/n
			if n < known {
				score += slope(n + int(space)*sparseNames)
			}
			b = strconv.AppendInt(append(b, ' ', byte(space)), int64(n), 10)
			if k%2 == 0 {
				b = strconv.AppendFloat(append(b, ':'), 0.1+0.9*rng.Float64(), 'f', 4, 64)
			}
		}
	}
	return labelled(b, begin, score, rng)
}

// denseLine appends an example with the same 100 features as all others.
func denseLine(b []byte, rng *rand.Rand) []byte {
	score := 0.0
	begin := len(b)
	b = append(b, " |f"...)
	for n := range denseNames {
		x := rng.NormFloat64()
		score += slope(n) * x
		b = strconv.AppendInt(append(b, ' ', 'f'), int64(n), 10)
		b = strconv.AppendFloat(append(b, ':'), x, 'f', 5, 64)
	}
	return labelled(b, begin, score, rng)
}

// slope returns the share of a feature in the score, between -1 and 1.
func slope(n int) float64 {
	return float64(uint32(n)*2654435761>>8)/(1<<23) - 1
}

// labelled puts the label before the features from begin on: the sign of the score with noise.
func labelled(b []byte, begin int, score float64, rng *rand.Rand) []byte {
	label := "1"
	if score+noise*rng.NormFloat64() < 0 {
		label = "-1"
	}
	b = append(b, label...)
	copy(b[begin+len(label):], b[begin:len(b)-len(label)])
	copy(b[begin:], label)
	return b
}
