// SPDX-License-Identifier: Apache-2.0

package topics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Report describes the topics of a model.
type Report struct {
	Words      int      `json:"words"`                // number of words that count
	Shared     int      `json:"shared_names"`         // names that share a word with another
	Alpha      float32  `json:"alpha"`                // prior of topics in a document; their mean if they were learned
	Eta        float32  `json:"eta"`                  // prior of words in a topic
	Documents  int      `json:"documents,omitempty"`  // that the coherence is of; 0: there is none
	Coherence  *float64 `json:"coherence,omitempty"`  // mean over the topics; nil: unknown
	Perplexity *float64 `json:"perplexity,omitempty"` // of held-out tokens; nil: unknown
	HeldOut    int      `json:"held_out,omitempty"`   // number of these tokens
	Topics     []Topic  `json:"topics"`               // by prevalence
}

// Topic is one topic of a Report.
type Topic struct {
	Topic       int      `json:"topic"`           // its number, from 0
	Alpha       float32  `json:"alpha,omitempty"` // learned prior of its share in a document; 0: not learned
	Prevalence  float64  `json:"prevalence"`
	Exclusivity float64  `json:"exclusivity"`
	Coherence   *float64 `json:"coherence,omitempty"` // NPMI; nil: unknown
	Top         []Word   `json:"top"`                 // by probability
}

// Word is one of the most probable words of a topic.
type Word struct {
	Name        string  `json:"word"`
	Index       uint32  `json:"index"`
	Probability float64 `json:"probability"`
	Exclusivity float64 `json:"exclusivity"`
}

// Report describes the topics by their n most probable words. v may be nil.
func (m *Model) Report(v *Vocabulary, n int) *Report {
	r := &Report{Words: len(m.words), Shared: v.Shared(), Alpha: float32(m.topics.Alpha()), Eta: float32(m.eta)}
	for k, share := range m.prevalence() {
		t := Topic{Topic: k, Prevalence: share}
		if m.topics.LearnsAlpha() {
			t.Alpha = float32(m.alphas[k])
		}
		for _, word := range m.top(k, n) {
			all := 0.0
			for j := range m.k {
				all += m.probability(word, j)
			}
			p := m.probability(word, k)
			t.Top = append(t.Top, Word{Name: v.Name(word), Index: word, Probability: p, Exclusivity: p / all})
			t.Exclusivity += p / all
		}
		if len(t.Top) > 0 {
			t.Exclusivity /= float64(len(t.Top))
		}
		r.Topics = append(r.Topics, t)
	}
	slices.SortStableFunc(r.Topics, func(a, b Topic) int { return -cmp.Compare(a.Prevalence, b.Prevalence) })
	return r
}

// AppendJSON appends the report as JSON, indented, with a line feed at its end.
func (r *Report) AppendJSON(dst []byte) ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(append(dst, text...), '\n'), err
}

// lines returns what is known of the whole model, one sentence a line.
func (r *Report) lines() []string {
	learned := ""
	if r.learnedAlpha() {
		learned = " (mean of learned ones)"
	}
	lines := []string{fmt.Sprintf("%d topics, %d words, alpha %g%s, eta %g", len(r.Topics), r.Words, r.Alpha, learned, r.Eta)}
	if r.Shared > 0 {
		lines = append(lines, fmt.Sprintf("%d names share their word with another: more bits would separate them", r.Shared))
	}
	if r.Coherence != nil {
		lines = append(lines, fmt.Sprintf("mean NPMI %.3f over %d documents", *r.Coherence, r.Documents))
	}
	if r.Perplexity != nil {
		lines = append(lines, fmt.Sprintf("perplexity %.2f of %d held-out tokens", *r.Perplexity, r.HeldOut))
	}
	return lines
}

// npmi returns a coherence as text.
func npmi(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *x)
}

// learnedAlpha reports whether the topics have learned priors.
func (r *Report) learnedAlpha() bool { return len(r.Topics) > 0 && r.Topics[0].Alpha > 0 }

// AppendText appends the report as a table.
func (r *Report) AppendText(dst []byte) []byte {
	dst = append(dst, strings.Join(r.lines(), "\n")...)
	learned := r.learnedAlpha()
	dst = append(dst, "\n\n"...)
	if learned {
		dst = fmt.Appendf(dst, "%9s ", "alpha")
	}
	dst = fmt.Appendf(dst, "%5s %10s %7s %11s  words\n", "topic", "prevalence", "NPMI", "exclusivity")
	for _, t := range r.Topics {
		if learned {
			dst = fmt.Appendf(dst, "%9.4g ", t.Alpha)
		}
		dst = fmt.Appendf(dst, "%5d %9.1f%% %7s %11.3f ", t.Topic, 100*t.Prevalence, npmi(t.Coherence), t.Exclusivity)
		for _, w := range t.Top {
			dst = append(append(dst, ' '), w.Name...)
		}
		dst = append(dst, '\n')
	}
	return dst
}
