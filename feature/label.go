// SPDX-License-Identifier: Apache-2.0

package feature

import "github.com/gvw-project/gvw/feature/internal/number"

// labelWords is the greatest number of words in vw's simple label: label, importance weight and
// initial prediction.
const labelWords = 3

// Label reads the text of a label: [label [weight [initial]]], separated by
// blanks.
func (b *Builder) Label(text []byte) {
	var words [labelWords][]byte
	count := 0
	for i := 0; ; count++ {
		var word []byte
		if word, i = nextWord(text, i); word == nil {
			break
		}
		if count < labelWords {
			words[count] = word
		}
	}
	b.simpleLabel(&words, count, text)
}

// SetLabel sets the label.
func (b *Builder) SetLabel(v float32) { b.ex.Label = v }

// SetInitial sets the initial prediction.
func (b *Builder) SetInitial(v float32) { b.ex.Initial = v }

// SetWeight sets the importance weight. vw does not learn from an example with
// a weight below 0, but counts it.
func (b *Builder) SetWeight(v float32) {
	if v < 0 || v != v {
		b.Fault("; the example is predicted, not learned from", "invalid importance weight (%g); importance weights must be non-negative", v)
	}
	if v != v {
		v = 0
	}
	b.ex.Weight = v
}

// nextWord returns the word that begins at text[i] or after blanks; nil: none.
func nextWord(text []byte, i int) (word []byte, next int) {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	start := i
	for i < len(text) && text[i] != ' ' {
		i++
	}
	if start == i {
		return nil, i
	}
	return text[start:i], i
}

// simpleLabel reads a label, of the configured kind, from the first words of
// text, of which it has count.
func (b *Builder) simpleLabel(words *[labelWords][]byte, count int, text []byte) {
	if b.labels != SimpleLabels {
		b.otherLabel(words, count, text)
		return
	}
	if count > labelWords {
		b.Warn("%d is too many tokens for a simple label: %q; the example has no label", count, clip(text))
		return
	}
	if count > 0 {
		b.ex.Label = b.labelNumber(words[0])
	}
	if count > 1 {
		b.SetWeight(b.labelNumber(words[1]))
	}
	if count > 2 {
		b.ex.Initial = b.labelNumber(words[2])
	}
}

// labelNumber reads one number of the label.
func (b *Builder) labelNumber(word []byte) float32 {
	v, n := number.Parse(word)
	if n == 0 || v != v {
		b.Warn("%q is not a good float, replacing with 0", clip(word))
		return 0
	}
	return v
}
