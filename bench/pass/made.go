// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// made writes the data of learners whose labels no file of -data has to dir: costs.vw, lists.vw,
// classes.vw and ids.vw, madeLines each, the same in every run. An example has 40 of 5,000 words; each
// class prefers words of its own.
func made(dir string) error {
	for _, f := range []struct {
		name string
		line func(w *bufio.Writer, rng *rand.Rand, class int)
	}{
		{"costs.vw", func(w *bufio.Writer, rng *rand.Rand, class int) {
			for k := range madeClasses {
				cost := 0.0
				if k != class {
					cost = 1 + rng.Float64()
				}
				fmt.Fprintf(w, "%d:%.2f ", k+1, cost)
			}
		}},
		{"lists.vw", func(w *bufio.Writer, rng *rand.Rand, class int) {
			fmt.Fprint(w, class)
			if other := class + 1 + rng.IntN(madeClasses); other < madeClasses {
				fmt.Fprintf(w, ",%d", other)
			}
			fmt.Fprint(w, " ")
		}},
		{"classes.vw", func(w *bufio.Writer, _ *rand.Rand, class int) { fmt.Fprintf(w, "%d ", class+1) }},
		{"ids.vw", func(w *bufio.Writer, rng *rand.Rand, class int) {
			id := class + madeClasses*rng.IntN(200)
			fmt.Fprintf(w, "%d |m 0 i%d 1 j%d ", class%2*2-1, id, rng.IntN(500))
		}},
	} {
		if err := makeFile(filepath.Join(dir, f.name), f.line); err != nil {
			return err
		}
	}
	return nil
}

const (
	madeLines   = 50_000
	madeClasses = 10
)

// makeFile writes a file whose lines begin as begin writes them for a class.
func makeFile(name string, begin func(w *bufio.Writer, rng *rand.Rand, class int)) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	rng := rand.New(rand.NewPCG(1, 2))
	for range madeLines {
		class := rng.IntN(madeClasses)
		begin(w, rng, class)
		w.WriteString("|w")
		for range 40 {
			word := rng.IntN(5000)
			if rng.IntN(8) == 0 { // one of the class
				word = word/madeClasses*madeClasses + class
			}
			fmt.Fprintf(w, " w%d", word)
		}
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Close()
}
