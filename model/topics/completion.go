// SPDX-License-Identifier: Apache-2.0

package topics

import (
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// Completion measures how well a model predicts documents. Of the tokens of a document, in their
// order, those at even places determine its topics, by variational inference with the topics'
// mean φ. Those at odd places are predicted. A word that the model does not have, or hardly, has
// the probability 1e-12.
type Completion struct {
	m      *Model
	alphas []float64       // prior of each topic's share
	in     map[uint32]bool // words that count
	loss   float64         // Σ -ln p over the predicted tokens
	tokens float64

	even, odd  counts // scratch
	theta, exp []float64
	next, row  []float64
	rows       []float64
}

// counts are the tokens of a part of a document: words in the order of their first token.
type counts struct {
	words []uint32
	n     []float64
	at    map[uint32]int
}

const (
	leastProbability = 1e-12
	foldIterations   = 200
	foldChange       = 1e-4 // mean change of γ at which the inference ends
	digammaCut       = 49   // for an error of 3e-13
)

// NewCompletion returns a measurement without documents. alphas are the priors of the topics' shares,
// those of the model or others.
func (m *Model) NewCompletion(alphas []float64) *Completion {
	c := &Completion{m: m, alphas: alphas, in: make(map[uint32]bool, len(m.words))}
	for _, w := range m.words {
		c.in[w] = true
	}
	c.even.at, c.odd.at = map[uint32]int{}, map[uint32]int{}
	for _, s := range []*[]float64{&c.theta, &c.exp, &c.next, &c.row} {
		*s = make([]float64, m.k)
	}
	return c
}

func (c *counts) reset() {
	c.words, c.n = c.words[:0], c.n[:0]
	clear(c.at)
}

func (c *counts) add(word uint32, n int) {
	if n == 0 {
		return
	}
	i, ok := c.at[word]
	if !ok {
		i = len(c.words)
		c.at[word] = i
		c.words, c.n = append(c.words, word), append(c.n, 0)
	}
	c.n[i] += float64(n)
}

// Add adds a document. Its counts are rounded down. A document with fewer than two tokens does
// not count.
func (c *Completion) Add(words []feature.Feature) {
	loss, tokens := c.Of(words)
	c.loss += loss
	c.tokens += tokens
}

// Of returns the loss over the predicted tokens of a document, Σ -ln p, and their number, without
// adding the document.
func (c *Completion) Of(words []feature.Feature) (loss, tokens float64) {
	c.even.reset()
	c.odd.reset()
	place := 0
	for _, w := range words {
		n := int(min(max(w.Value, 0), 1<<30))
		first, second := &c.even, &c.odd
		if place%2 == 1 {
			first, second = second, first
		}
		first.add(w.Index, (n+1)/2)
		second.add(w.Index, n/2)
		place = (place + n) % 2
	}
	if len(c.even.words) == 0 || len(c.odd.words) == 0 {
		return 0, 0
	}
	c.infer()
	for i, word := range c.odd.words {
		p := 0.0
		for k, phi := range c.phi(c.row, word) {
			p += c.theta[k] * phi
		}
		loss -= float64(c.odd.n[i] * fmath.Log(p))
		tokens += c.odd.n[i]
	}
	return loss, tokens
}

// phi writes the probabilities of a word in all topics to dst, and returns it.
func (c *Completion) phi(dst []float64, word uint32) []float64 {
	known := c.in[word]
	for k := range dst {
		dst[k] = leastProbability
		if known {
			dst[k] = max(dst[k], c.m.probability(word, k))
		}
	}
	return dst
}

// infer sets theta to the mean shares of the topics by the tokens at even places.
func (c *Completion) infer() {
	k, tokens := c.m.k, 0.0
	c.rows = c.rows[:0]
	for i, word := range c.even.words {
		tokens += c.even.n[i]
		c.rows = append(c.rows, c.phi(c.row, word)...)
	}
	for j := range c.theta {
		c.theta[j] = c.alphas[j] + tokens/float64(k)
	}
	for range foldIterations {
		for j, g := range c.theta {
			c.exp[j], c.next[j] = fmath.Exp(fmath.Digamma(g, digammaCut)), c.alphas[j]
		}
		for i, n := range c.even.n {
			row, sum := c.rows[i*k:][:k], 0.0
			for j, phi := range row {
				sum += phi * c.exp[j]
			}
			for j, phi := range row {
				c.next[j] += n * phi * c.exp[j] / sum
			}
		}
		change := 0.0
		for j, g := range c.next {
			change += math.Abs(g - c.theta[j])
		}
		c.theta, c.next = c.next, c.theta
		if change/float64(k) < foldChange {
			break
		}
	}
	sum := 0.0
	for _, g := range c.theta {
		sum += g
	}
	for j := range c.theta {
		c.theta[j] /= sum
	}
}

// Perplexity returns exp of the mean -ln p of the predicted tokens, and their number; NaN if there
// are none.
func (c *Completion) Perplexity() (perplexity float64, tokens int) {
	return fmath.Exp(c.loss / c.tokens), int(c.tokens)
}
