// SPDX-License-Identifier: Apache-2.0

package lda

import (
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/merand"
)

// Learner learns topics from batches of documents by stochastic variational inference. It must
// not be used by two goroutines at the same time.
type Learner struct {
	cfg     Config
	weights []float32 // λ - η, Topics floats per word
	alphas  []float64 // prior by topic
	alpha   []float32 // the same, of width floats; 0 after the last topic
	width   int       // Topics rounded up for the kernels

	t     float64   // batches so far, with InitialT
	total []float64 // sum over all words of the weights, by topic; nil: not known

	// Absent words decay when they occur again: level is the sum of log(1-ρ) over all batches,
	// and levels has its value when a word was last brought up to date.
	level  float64
	levels []float64

	batch batch
	prior prior
}

// New returns a learner whose weights are 0.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	l := &Learner{
		cfg: c, weights: make([]float32, c.Words*c.Topics), levels: make([]float64, c.Words),
		width: (c.Topics + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes, t: c.InitialT,
	}
	l.alpha, l.alphas = make([]float32, l.width), slices.Clone(c.Alphas)
	if l.alphas == nil {
		l.alphas = slices.Repeat([]float64{c.Alpha}, c.Topics)
	}
	l.prior = newPrior(c.Topics)
	l.takeAlphas()
	l.batch.rowOf = make([]uint32, c.Words)
	return l, nil
}

// Config returns the configuration, with its defaults.
func (l *Learner) Config() Config { return l.cfg }

// Weights returns λ - η: Topics floats for each word. It is the learner's own memory. Rows of
// absent words may be out of date: Materialize updates them. A caller that changes the weights
// calls Use afterwards.
func (l *Learner) Weights() []float32 { return l.weights }

// Use makes the learner continue with the weights w, which are up to date and have the same
// length as those before.
func (l *Learner) Use(w []float32) {
	if len(w) != len(l.weights) {
		panic(fmt.Sprintf("BUG: lda: %d weights for %d", len(w), len(l.weights)))
	}
	l.weights, l.total, l.level = w, nil, 0
	clear(l.levels)
}

// Draw sets the weights to vw's random start: exponentially distributed, with a mean that spreads
// 200 words of each document over all words and topics.
func (l *Learner) Draw() {
	k := l.cfg.Topics
	scale := float32(float32(float32(l.cfg.Documents)/float32(k))/float32(l.cfg.Words)) * 200
	stride := 1 // vw draws by the position of a weight in its table, whose rows have room for λ, its time and E[log β]
	for stride < 2*k+1 {
		stride *= 2
	}
	for w := range l.cfg.Words {
		state := merand.State(w * stride)
		row := l.weights[w*k:][:k]
		for i := range row {
			row[i] = float32(1-fmath.Log(float64(state.Float())+1e-6)) * scale
			state++ // as vw does
		}
	}
	l.Use(l.weights)
}

// Materialize brings the rows of all words up to date.
func (l *Learner) Materialize() {
	k := l.cfg.Topics
	for w, level := range l.levels {
		if level == l.level {
			continue
		}
		row := l.weights[w*k:][:k]
		decay := l.decay(level)
		for i := range row {
			row[i] *= decay
		}
	}
	l.level = 0
	clear(l.levels)
}

// decay returns the factor on the weights of a word that was up to date at a level. As in vw the
// rows of absent words stop to decay after a batch with ρ = 1.
func (l *Learner) decay(level float64) float32 {
	if d := l.level - level; d < 0 {
		return float32(fmath.Exp(d))
	}
	return 1
}

// Batches returns the number of batches so far, with InitialT.
func (l *Learner) Batches() float64 { return l.t }

// SetBatches continues after t batches.
func (l *Learner) SetBatches(t float64) { l.t = t }

// rate returns ρ of the next batch.
func (l *Learner) rate() float64 {
	return min(1, l.cfg.LearningRate*fmath.Exp(-l.cfg.PowerT*fmath.Log(l.t+1)))
}

// Step processes the documents of the batch: their topics are inferred, and if learns is set the
// weights move by ρ towards what the batch suggests. The results of the documents stay available
// until the next call of Add.
func (l *Learner) Step(learns bool) {
	b := &l.batch
	b.done = true
	if b.Len() == 0 {
		return
	}
	l.expect()
	stats := b.stats[:0]
	if learns {
		stats = fit(b.stats, len(b.words)*l.width)
		clear(stats)
		b.stats = stats
	}
	b.gamma = fit(b.gamma, b.Len()*l.width)
	b.bounds = fit(b.bounds, b.Len())
	var shares []float64 // sums of E[log θ]
	if learns && l.cfg.LearnAlpha {
		shares = l.prior.shares
		clear(shares)
	}
	from := 0
	for d, to := range b.ends {
		b.bounds[d] = l.document(b.gamma[d*l.width:][:l.width], shares, l.Length(d), from, to)
		if learns {
			rows := kernels.Rows{Table: b.table, Index: b.index[from:to], Weight: b.counts[from:to]}
			rows.Add(stats, b.shares, b.v)
		}
		from = to
	}
	if learns {
		rho := l.rate()
		l.update(stats, rho)
		if shares != nil {
			l.learnAlphas(rho)
		}
	}
}

// expect brings the rows of the batch's words up to date and computes their e^E[log β].
func (l *Learner) expect() {
	b, k := &l.batch, l.cfg.Topics
	if l.total == nil {
		l.total = make([]float64, k)
		for row := l.weights; len(row) > 0; row = row[k:] {
			for i, x := range row[:k] {
				l.total[i] += float64(x)
			}
		}
	}
	b.table = fit(b.table, len(b.words)*l.width)
	b.v = fit(b.v, l.width)
	b.sum = fit(b.sum, l.width)
	eta := float32(l.cfg.Eta)
	norm := b.v[:k] // of each topic
	for i, total := range l.total {
		norm[i] = float32(fmath.Exp(-fmath.Digamma(total+float64(l.cfg.Words)*l.cfg.Eta, preciseCut)))
	}
	for r, w := range b.words {
		from, to := l.weights[int(w)*k:][:k], b.table[r*l.width:][:l.width]
		if l.levels[w] != l.level {
			decay := l.decay(l.levels[w])
			for i := range from {
				from[i] *= decay
			}
			l.levels[w] = l.level
		}
		for i, x := range from {
			to[i] = x + eta
		}
		clear(to[k:])
	}
	l.expDigammas(b.table)
	for at := 0; at < len(b.table); at += l.width {
		row := b.table[at:][:l.width]
		for i, x := range norm {
			row[i] = max(float32(row[i]*x), least)
		}
		clear(row[k:])
	}
}

// update moves the weights of the batch's words to those that the batch suggests, and lets those
// of the others decay later.
func (l *Learner) update(stats []float32, rho float64) {
	b, k := &l.batch, l.cfg.Topics
	l.t++
	l.level += fmath.Log(1 - rho)
	keep, scale := float32(1-rho), float32(rho*l.cfg.Documents/float64(b.Len()))
	for i := range l.total {
		l.total[i] *= 1 - rho
	}
	for r, w := range b.words {
		row, u, s := l.weights[int(w)*k:][:k], b.table[r*l.width:][:k], stats[r*l.width:][:k]
		for i := range row {
			more := float32(float32(u[i]*s[i]) * scale)
			row[i] = float32(row[i]*keep) + more
			l.total[i] += float64(more)
		}
		l.levels[w] = l.level
	}
}

// fit returns a slice of n elements in the memory of s, or in larger memory. Its contents are
// undefined.
func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// least is vw's lower bound of e^E[log θ] and e^E[log β].
const least = 1e-10

// preciseCut is the cut of the digamma in float64.
const preciseCut = 49

// expDigammas sets x to e^ψ(x).
func (l *Learner) expDigammas(x []float32) {
	if !l.cfg.Precise {
		kernels.ExpDigammas(x, x)
		return
	}
	for i, v := range x {
		x[i] = 0
		if v > 0 {
			x[i] = float32(fmath.Exp(fmath.Digamma(float64(v), preciseCut)))
		}
	}
}

// finite reports whether x is a count of a word.
func finite(x float32) bool { return x >= 0 && x <= math.MaxFloat32 }
