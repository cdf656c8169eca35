// SPDX-License-Identifier: Apache-2.0

// Package lda learns topics from documents: latent Dirichlet allocation by stochastic variational
// inference (Hoffman, Blei, Bach 2010; Hoffman et al. 2013), as vw's --lda does it.
//
// A topic is a distribution over words, with the Dirichlet posterior λ. A document is a mixture of
// topics, with the Dirichlet posterior γ. A [Learner] has λ, and processes batches of documents:
//
//	l, err := lda.New(lda.Config{Topics: 20, Words: 1 << 14, Documents: 3000, PowerT: 0.5, InitialT: 1})
//	l.Draw()                  // a random start
//	err = l.Add(words)        // a document, for each of the batch
//	l.Step(true)              // infer the topics of each document, then learn
//	l.Gamma(0), l.Bound(0)    // results of the first document
//	l.Materialize()
//	l.Weights()               // λ - η
//
// [Learner.Infer] infers the topics of one document with finished topics, which [Learner.Use] has
// set:
//
//	bound, err := l.Infer(gamma, words)
//
// # The step
//
// For each document γ is iterated from 1 until it changes by less than Epsilon:
//
//	γ_k = α + Σ_w n_w·φ_wk,  φ_wk ∝ e^E[log θ_k]·e^E[log β_kw]
//
// Then λ ← (1-ρ)·λ + ρ·(η + D/B·Σ_d n_dw·φ_dwk) for a batch of B documents. In terms of λ - η,
// which the learner stores, words that the batch does not have are multiplied by 1-ρ. That
// happens when they occur again, by one factor for all the batches that they have missed. Sums over
// the words are kept from batch to batch. So a step costs as much as the words of its batch.
//
// # Contract
//
// The package does not read files and does not know of ranks. The same documents in the same
// order give the same bits on every machine. After the buffers have grown, Add and Step do not
// allocate.
package lda
