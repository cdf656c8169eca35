// SPDX-License-Identifier: Apache-2.0

package topics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/model"
)

// Model is a topic model with the sums over its words.
type Model struct {
	topics *model.Topics
	k      int
	eta    float64
	alphas []float64 // of each topic
	words  []uint32  // words that count, ascending
	sums   []float64 // of each topic: Σ λ over the words
}

// New returns a model whose words are those given, in ascending order, or all of t if words is
// nil. It returns an error for numbers that no training yields.
func New(t *model.Topics, words []uint32) (*Model, error) {
	m := &Model{topics: t, k: int(t.LDA), eta: t.Eta(), words: words, sums: make([]float64, t.LDA)}
	var err error
	if m.alphas, err = t.Alphas(); err != nil {
		return nil, err
	}
	if words == nil {
		m.words = make([]uint32, 1<<t.Bits)
		for i := range m.words {
			m.words[i] = uint32(i)
		}
	}
	for _, word := range m.words {
		if uint64(word) >= 1<<t.Bits {
			return nil, fmt.Errorf("topics: word %d of the vocabulary, but the model has 2^%d words", word, t.Bits)
		}
		for k, x := range m.row(word) {
			if !(x >= 0 && x <= math.MaxFloat32) {
				return nil, fmt.Errorf("topics: word %d has %v in topic %d, want a finite number from 0 on: the model is damaged", word, x, k)
			}
			m.sums[k] += float64(x) + m.eta
		}
	}
	return m, nil
}

// Alphas returns the prior of a document's share of each topic.
func (m *Model) Alphas() []float64 { return m.alphas }

// row returns λ - η of a word.
func (m *Model) row(word uint32) []float32 { return m.topics.Weights[int(word)*m.k:][:m.k] }

// probability returns φ of a word in a topic.
func (m *Model) probability(word uint32, topic int) float64 {
	return (float64(m.row(word)[topic]) + m.eta) / m.sums[topic]
}

// prevalence returns the share of all tokens that each topic has.
func (m *Model) prevalence() []float64 {
	shares, total := make([]float64, m.k), 0.0
	for k, sum := range m.sums {
		shares[k] = max(0, sum-m.eta*float64(len(m.words)))
		total += shares[k]
	}
	for k := range shares {
		if shares[k] /= total; total == 0 {
			shares[k] = 1 / float64(m.k) // no training yet
		}
	}
	return shares
}

// top returns the n most probable words of a topic; of equals, the one with the lower number
// first.
func (m *Model) top(topic, n int) []uint32 {
	words := slices.Clone(m.words)
	slices.SortFunc(words, func(a, b uint32) int {
		return cmp.Or(-cmp.Compare(m.row(a)[topic], m.row(b)[topic]), cmp.Compare(a, b))
	})
	return words[:min(n, len(words))]
}

// AppendTable appends a line for each word: its name and λ in each topic, with all digits.
func (m *Model) AppendTable(dst []byte, v *Vocabulary) []byte {
	for _, word := range m.words {
		dst = append(dst, v.Name(word)...)
		for _, x := range m.row(word) {
			dst = fmt.Appendf(dst, " %.9g", float64(x)+m.eta)
		}
		dst = append(dst, '\n')
	}
	return dst
}
