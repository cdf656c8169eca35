// SPDX-License-Identifier: Apache-2.0

package lda

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/fmath"
)

// prior has what documents and the learning of α need of α.
type prior struct {
	logs     []float64 // ln Γ(α_k)
	digammas []float64 // ψ(α_k)
	sum      float64   // Σα
	logNorm  float64   // ln Γ(Σα) - Σ ln Γ(α_k)

	shares, step []float64 // of a batch, by topic: the sums of E[log θ], and the change of α
}

// priorCut is the cut of digammas of α and γ in float64.
const priorCut = 9

// newPrior returns the prior of k topics, whose α set takes.
func newPrior(k int) prior {
	numbers := make([]float64, 4*k)
	cut := func() (part []float64) {
		part, numbers = numbers[:k:k], numbers[k:]
		return part
	}
	return prior{logs: cut(), digammas: cut(), shares: cut(), step: cut()}
}

// set takes the priors of the topics.
func (p *prior) set(alpha []float32) {
	p.sum, p.logNorm = 0, 0
	for k, a := range alpha {
		p.logs[k], p.digammas[k] = fmath.Lgamma(float64(a)), fmath.Digamma(float64(a), priorCut)
		p.logNorm -= p.logs[k]
		p.sum += float64(a)
	}
	p.logNorm += fmath.Lgamma(p.sum)
}

// bound returns E[log p(θ)] - E[log q(θ)] for a document, and adds E[log θ] to shares, unless that
// is nil.
func (p *prior) bound(shares []float64, gamma, alpha []float32) float64 {
	sum := 0.0
	for _, g := range gamma {
		sum += float64(g)
	}
	norm := fmath.Digamma(sum, priorCut)
	bound := p.logNorm - fmath.Lgamma(sum)
	for k, g := range gamma {
		share := p.digammas[k] - norm
		if g == alpha[k] { // a topic that the document does not have
			bound += p.logs[k]
		} else {
			x := float64(g)
			share = fmath.Digamma(x, priorCut) - norm
			bound += float64((float64(alpha[k])-x)*share) + fmath.Lgamma(x)
		}
		if shares != nil {
			shares[k] += share
		}
	}
	return bound
}

// Alphas returns the priors of a document's shares of the topics. It is the learner's own memory.
func (l *Learner) Alphas() []float64 { return l.alphas }

// SetAlphas continues with these priors, one above 0 for each topic.
func (l *Learner) SetAlphas(alphas []float64) {
	if len(alphas) != len(l.alphas) {
		panic(fmt.Sprintf("BUG: lda: %d priors of %d topics", len(alphas), len(l.alphas)))
	}
	if !slices.Equal(l.alphas, alphas) {
		copy(l.alphas, alphas)
		l.takeAlphas()
	}
}

// takeAlphas computes what depends on alphas.
func (l *Learner) takeAlphas() {
	for k, a := range l.alphas {
		l.alpha[k] = float32(a)
	}
	l.prior.set(l.alpha[:l.cfg.Topics])
}

const (
	leastAlpha = 1e-6
	most       = 0.5 // largest part of an α by which a batch lowers it
)

// learnAlphas moves α by ρ towards the maximum of the likelihood of the batch's θ, by a step of
// Newton's method (Hoffman, Blei, Bach 2010, section 3.3; Minka 2000). The Hessian is a diagonal
// matrix and a constant, so the step costs as much as the gradient. Hoffman's program drops a step
// that makes an α negative; here it is shortened.
func (l *Learner) learnAlphas(rho float64) {
	p, sum := &l.prior, 0.0
	for _, a := range l.alphas {
		sum += a
	}
	norm, documents := fmath.Digamma(sum, priorCut), float64(l.batch.Len())
	gradients, inverses := 0.0, 1/fmath.Trigamma(sum)
	for k, a := range l.alphas {
		q := -1 / fmath.Trigamma(a)
		p.step[k] = norm - p.digammas[k] + p.shares[k]/documents // the gradient
		gradients += float64(p.step[k] * q)
		inverses += q
	}
	shift, scale := gradients/inverses, 1.0
	for k, a := range l.alphas {
		p.step[k] = float64(rho*(p.step[k]-shift)) / fmath.Trigamma(a)
		if down := -p.step[k]; down > float64(most*a) {
			scale = min(scale, float64(most*a)/down)
		}
	}
	for k := range l.alphas {
		l.alphas[k] = max(l.alphas[k]+float64(p.step[k]*scale), leastAlpha)
	}
	l.takeAlphas()
}
