// SPDX-License-Identifier: Apache-2.0

package lda

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
)

// batch has the documents that Step processes together. Its memory is reused.
type batch struct {
	done bool // Step has processed it

	// Documents: document d has the words from ends[d-1] to ends[d].
	ends    []int
	lengths []float32 // sums of the counts
	index   []uint32  // of the word in words
	counts  []float32

	words []uint32 // the distinct words
	rowOf []uint32 // by word: its index in words, if that has the word

	table []float32 // e^E[log β] of the distinct words
	stats []float32 // sums over the documents of the words' shares

	// Results.
	gamma  []float32
	bounds []float64

	v, sum, old  []float32 // of one document, by topic
	shares, dots []float32 // of one document, by word
}

// Len returns the number of documents.
func (b *batch) Len() int { return len(b.ends) }

// clear forgets the documents.
func (b *batch) clear() {
	b.done = false
	b.ends, b.lengths, b.index, b.counts, b.words = b.ends[:0], b.lengths[:0], b.index[:0], b.counts[:0], b.words[:0]
}

// Len returns the number of documents in the batch.
func (l *Learner) Len() int { return l.batch.Len() }

// Add adds a document to the batch: its words, with their counts as values. The first call after
// Step begins a new batch. A document without words is a document, too.
func (l *Learner) Add(words []feature.Feature) error {
	b := &l.batch
	if b.done {
		b.clear()
	}
	for _, f := range words {
		if !finite(f.Value) {
			return fmt.Errorf("lda: the count of word %d is %v: counts are finite and not negative", f.Index, f.Value)
		}
		if int(f.Index) >= l.cfg.Words {
			return fmt.Errorf("lda: word %d: the model has %d words", f.Index, l.cfg.Words)
		}
	}
	length := float32(0)
	for _, f := range words {
		row := b.rowOf[f.Index]
		if int(row) >= len(b.words) || b.words[row] != f.Index {
			row = uint32(len(b.words))
			b.words = append(b.words, f.Index)
			b.rowOf[f.Index] = row
		}
		b.index, b.counts = append(b.index, row), append(b.counts, f.Value)
		length += f.Value
	}
	longest := max(len(b.shares), len(words))
	b.shares, b.dots = fit(b.shares, longest), fit(b.dots, longest)
	b.ends, b.lengths = append(b.ends, len(b.index)), append(b.lengths, length)
	return nil
}

// Gamma returns γ of document d after Step: the parameters of the Dirichlet distribution of its
// topics.
func (l *Learner) Gamma(d int) []float32 { return l.batch.gamma[d*l.width:][:l.cfg.Topics] }

// Bound returns a lower bound of the log-likelihood of document d after Step, as vw reports it:
// without the terms of β.
func (l *Learner) Bound(d int) float64 { return l.batch.bounds[d] }

// Length returns the number of words of document d: the sum of their counts.
func (l *Learner) Length(d int) float64 { return float64(l.batch.lengths[d]) }

// Infer infers the topics of one document, without learning from it. It sets gamma, of Topics
// floats, to the document's γ, and returns its Bound. A batch that has begun is lost.
func (l *Learner) Infer(gamma []float32, words []feature.Feature) (bound float64, err error) {
	l.batch.clear()
	err = l.Add(words)
	l.batch.done = true
	if err != nil {
		return 0, err
	}
	l.Step(false)
	copy(gamma, l.Gamma(0))
	return l.Bound(0), nil
}
