// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/malt"
)

// shares are the examples that a rank of a job has in memory: those of its shares of the data.
type shares struct {
	data     *malt.Data
	format   stream.Config
	counts   []int             // labelled examples of each share of the job
	examples map[int][]example // of each share that this rank has
	warnings []feature.Warning
}

// kept is the number of examples of a batch, which is freed as a whole.
const kept = 256

// survey passes all labelled examples to see, and keeps those of one share. sample has some of all examples,
// at most most, in random order and drawn by seed.
func (s *shares) survey(ctx context.Context, own, total int, seed uint64, most int, see func(example) error) (sample []example, err error) {
	keep, drawn := keeper{}, rand.New(rand.NewPCG(seed, 0))
	s.counts = make([]int, total)
	all := 0
	err = s.each(ctx, func(line malt.Line, ex example, again func(*feature.Batch) error) error {
		s.warnings = append(s.warnings, ex.Warnings...)
		if !ex.learnable() {
			return nil
		}
		s.counts[line.Share]++
		all++
		if err := see(ex); err != nil {
			return &stream.DataError{Source: line.File, Line: int64(line.Number), Err: err}
		}
		at := len(sample)
		if at == most {
			at = drawn.IntN(all)
		}
		if at < most {
			b := &feature.Batch{}
			if err := again(b); err != nil {
				return err
			}
			if at == len(sample) {
				sample = append(sample, example{})
			}
			sample[at] = example{b, &b.Examples[0], ex.number}
		}
		if line.Share == own {
			return keep.add(ex.number, again)
		}
		return nil
	})
	drawn.Shuffle(len(sample), func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
	s.examples = map[int][]example{own: keep.all()}
	return sample, err
}

// own keeps the examples of the given shares, and returns those shares that it has read now.
func (s *shares) own(ctx context.Context, shares []int) (read []int, err error) {
	for share := range s.examples {
		if !slices.Contains(shares, share) {
			delete(s.examples, share)
		}
	}
	keep := map[int]*keeper{}
	for _, share := range shares {
		if s.examples[share] == nil {
			read, keep[share] = append(read, share), &keeper{}
		}
	}
	if len(read) == 0 {
		return nil, nil
	}
	err = s.each(ctx, func(line malt.Line, ex example, again func(*feature.Batch) error) error {
		if k := keep[line.Share]; k != nil && ex.learnable() {
			return k.add(ex.number, again)
		}
		return nil
	})
	for share, k := range keep {
		s.examples[share] = k.all()
	}
	return read, err
}

// mine returns the examples that this rank has, by share.
func (s *shares) mine() (out []example) {
	for share := range s.counts {
		out = append(out, s.examples[share]...)
	}
	return out
}

// each parses all lines, and calls use with each example; again parses its line once more, into another batch.
// The example is valid until the next one.
func (s *shares) each(ctx context.Context, use func(line malt.Line, ex example, again func(*feature.Batch) error) error) error {
	var parser stream.Lines
	var err error
	if s.format.Format.New != nil {
		parser, err = s.format.Format.New(s.format.Feature)
	} else {
		parser, err = feature.NewParser(s.format.Feature)
	}
	if err != nil {
		return err
	}
	scratch, number := &feature.Batch{}, 0
	for line, err := range s.data.All(ctx) {
		if err != nil {
			return err
		}
		again := func(b *feature.Batch) error { return parser.AppendLine(b, line.Text, int64(line.Number)) }
		scratch.Reset()
		if err := again(scratch); err != nil {
			return &stream.DataError{Source: line.File, Line: int64(line.Number), Err: err}
		}
		for i := range scratch.Warnings {
			scratch.Warnings[i].Source = line.File
		}
		if len(scratch.Examples) == 0 {
			continue
		}
		number++
		if err := use(line, example{scratch, &scratch.Examples[0], number}, again); err != nil {
			return err
		}
	}
	return nil
}

// keeper keeps examples, in batches that grow no more once their examples have addresses.
type keeper struct {
	examples []example
	batch    *feature.Batch
	numbers  []int // of the examples of batch
}

// add keeps the example of a line.
func (k *keeper) add(number int, parse func(*feature.Batch) error) error {
	if k.batch == nil {
		k.batch = &feature.Batch{}
	}
	k.numbers = append(k.numbers, number)
	if err := parse(k.batch); err != nil {
		return err
	}
	if len(k.numbers) == kept {
		k.flush()
	}
	return nil
}

// flush gives the examples of the batch addresses, and frees the room that it has left.
func (k *keeper) flush() {
	if k.batch == nil {
		return
	}
	b := &feature.Batch{
		Examples: slices.Clone(k.batch.Examples), Spans: slices.Clone(k.batch.Spans),
		Features: slices.Clone(k.batch.Features), Tags: slices.Clone(k.batch.Tags),
	}
	for i, number := range k.numbers {
		k.examples = append(k.examples, example{b, &b.Examples[i], number})
	}
	k.batch.Reset()
	k.numbers = k.numbers[:0]
}

// all returns all examples.
func (k *keeper) all() []example {
	k.flush()
	return slices.Clip(k.examples)
}
