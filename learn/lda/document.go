// SPDX-License-Identifier: Apache-2.0

package lda

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/kernels"
)

// document infers the topics of the document of length words that are from … to-1 of the batch. It sets
// gamma, leaves the shares of the words and the document's e^E[log θ] in the batch, and returns
// the bound. It adds E[log θ] to shares, unless that is nil.
func (l *Learner) document(gamma []float32, shares []float64, length float64, from, to int) float64 {
	b := &l.batch
	b.old = fit(b.old, l.width)
	rows := kernels.Rows{Table: b.table, Index: b.index[from:to], Weight: b.counts[from:to]}
	for k := range gamma {
		gamma[k] = 1
	}
	// The sum of γ is the same from the first iteration on. Before it all topics are equal, and their
	// scale has no effect.
	scale := float32(fmath.Exp(-fmath.Digamma(l.prior.sum+length, l.cut())))
	for range l.cfg.Iterations {
		copy(b.v, gamma)
		l.expDigammas(b.v)
		for k, x := range b.v {
			b.v[k] = max(float32(x*scale), least)
		}
		rows.Divide(b.shares, b.dots, b.v)
		rows.Combine(b.sum, b.shares)
		change, sum := float32(0), float32(0)
		for k := range l.cfg.Topics {
			g := float32(b.sum[k]*b.v[k]) + l.alpha[k]
			change += float32(math.Abs(float64(g - gamma[k])))
			gamma[k] = g
			sum += g
		}
		if change <= float32(float32(l.cfg.Epsilon)*sum) {
			break
		}
	}
	return weightedLogs(b.dots, rows.Weight) + l.prior.bound(shares, gamma[:l.cfg.Topics], l.alpha)
}

// cut returns the cut of the digamma.
func (l *Learner) cut() float64 {
	if l.cfg.Precise {
		return preciseCut
	}
	return 9
}

// weightedLogs returns the sum of weight·ln(x). Most weights are small whole numbers, for which it
// multiplies the x's and takes the logarithm of the product.
func weightedLogs(x, weight []float32) float64 {
	const low = 1e-200 // one more factor, of 1e-20 to the 4th power at least, does not underflow
	sum, product := 0.0, 1.0
	for i, w := range weight {
		v := float64(x[i])
		switch w {
		case 1:
			product *= v
		case 2:
			product *= float64(v * v)
		case 3:
			product *= float64(float64(v*v) * v)
		case 4:
			s := float64(v * v)
			product *= float64(s * s)
		default:
			sum += float64(float64(w) * fmath.Log(v))
		}
		if product < low || product > 1/low {
			sum += fmath.Log(product)
			product = 1
		}
	}
	return sum + fmath.Log(product)
}
