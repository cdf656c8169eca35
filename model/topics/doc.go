// SPDX-License-Identifier: Apache-2.0

// Package topics describes the topics of a model of --lda: their most probable words, prevalence,
// coherence and exclusivity, and how well they predict documents.
//
//	v, err := topics.ReadVocabulary(file, topics.ByLine, bits)
//	m, err := topics.New(model, v.Words())      // nil: all words of the model
//	report := m.Report(v, 10)
//	pairs := report.Pairs()                     // the coherence needs documents
//	pairs.Add(words)
//	report.Score(pairs)
//	os.Stdout.Write(report.AppendText(nil))
//
// # Measures
//
//   - The prevalence of a topic is its share of all tokens of the training, Σ_v (λ_kv - η) as a
//     part of this sum over all topics.
//   - The probability of a word is φ_kv = λ_kv / Σ_v λ_kv.
//   - The exclusivity of a word is φ_kv / Σ_j φ_jv: 1 if no other topic has it. That of a topic is
//     the mean over its top words.
//   - The coherence is the mean NPMI over all pairs of top words, ln(p_ij/(p_i·p_j)) / -ln p_ij
//     with shares p of documents that have the words: 1 if they occur only together, 0 if they are
//     independent, -1 if no document has both.
//   - [Completion] is the perplexity of held-out documents: tokens at even places determine the
//     topics of the document, those at odd places are predicted.
//
// # Vocabulary
//
// The words of a model are numbers. A [Vocabulary] has their names; several names may share a
// number because of hashing. A model of 2^b words has numbers for words that no document has,
// which have kept a part of their random start. Sums leave them out if the vocabulary is known.
//
// # Contract
//
// The package reads no files. Results depend only on model, vocabulary and documents.
package topics
