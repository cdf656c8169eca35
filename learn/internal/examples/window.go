// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"math/bits"
	"math/rand/v2"

	"github.com/gvw-project/gvw/feature"
)

// window is the shuffle buffer, which puts examples into a random order. It collects examples up
// to its memory limit, visits them in an order drawn from (seed, rank, pass), and starts again.
// A shard larger than the buffer is shuffled in pieces. The pieces depend on the examples only, and
// not on their batches, so that a replacement visits the same order.
type window struct {
	limit, used int // bytes
	random      *rand.PCG
	examples    []waiting
	batches     []*feature.Batch // that own the examples, in order
}

type waiting struct {
	b    *feature.Batch
	ex   *feature.Example
	held bool
}

// DefaultShuffleMemory is 512 MiB, in bytes.
const DefaultShuffleMemory = 512 << 20

// ShuffleConfig is the order of the examples of one rank, in passes after the first.
type ShuffleConfig struct {
	Seed   uint64
	Memory int        // memory limit of a window, in bytes; 0: 512 MiB
	Rank   func() int // rank of this process, known when it has joined
}

// window returns the window of a pass.
func (c *ShuffleConfig) window(pass int) *window {
	w := &window{limit: c.Memory, random: rand.NewPCG(c.Seed, uint64(c.Rank())<<32|uint64(uint32(pass)))}
	if w.limit == 0 {
		w.limit = DefaultShuffleMemory
	}
	return w
}

// add adds an example, and visits all examples if the window is full.
func (w *window) add(p recycler, b *feature.Batch, ex *feature.Example, held bool, f Visit) error {
	if len(w.batches) == 0 || w.batches[len(w.batches)-1] != b {
		w.batches = append(w.batches, b)
	}
	w.examples = append(w.examples, waiting{b, ex, held})
	// An estimate: the record and its features, without tags.
	w.used += 64 + 8*ex.Count()
	if w.used < w.limit {
		return nil
	}
	if err := w.run(f); err != nil {
		return err
	}
	last := len(w.batches) - 1 // it may have further examples
	for _, old := range w.batches[:last] {
		p.Recycle(old)
	}
	w.batches = append(w.batches[:0], w.batches[last])
	return nil
}

// flush visits the remaining examples at the end of a pass.
func (w *window) flush(p recycler, f Visit) error {
	if w == nil {
		return nil
	}
	if err := w.run(f); err != nil {
		return err
	}
	for _, b := range w.batches {
		p.Recycle(b)
	}
	w.batches = nil
	return nil
}

// run visits the examples in a random order (Fisher-Yates).
func (w *window) run(f Visit) error {
	all := w.examples
	for i := len(all) - 1; i > 0; i-- {
		j, _ := bits.Mul64(w.random.Uint64(), uint64(i+1))
		all[i], all[j] = all[j], all[i]
	}
	for _, x := range all {
		if err := f(x.b, x.ex, x.held); err != nil {
			return err
		}
	}
	clear(all)
	w.examples, w.used = all[:0], 0
	return nil
}
