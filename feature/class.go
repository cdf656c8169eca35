// SPDX-License-Identifier: Apache-2.0

package feature

import "strings"

// labels returns the kind of labels for the key of a cache; empty: simple ones.
func (c *Config) labels() string {
	if c.Labels != ClassLabels || len(c.ClassNames) == 0 {
		return [...]string{"", "classes", "costs", "multilabels"}[c.Labels]
	}
	return "names:" + strings.Join(c.ClassNames, ",")
}

// classLabel reads the label of a class: [class [weight]].
func (b *Builder) classLabel(words *[labelWords][]byte, count int, text []byte) {
	if count > 2 {
		b.Fault("; the example has no label", "%d is too many tokens for the label of a class: %q", count, clip(text))
		return
	}
	if count > 1 {
		b.SetWeight(b.labelNumber(words[1]))
	}
	if count > 0 {
		b.ex.Label = b.class(words[0])
	}
}

// class returns the number of a class. vw takes -1 for an example without a label, and an
// unknown name for the label 0, which is no class.
func (b *Builder) class(word []byte) float32 {
	if len(b.classNames) > 0 {
		n, ok := b.classNames[string(word)]
		if !ok {
			b.Fault("; the label is that of no class", "%q is none of the named labels", clip(word))
			return 0
		}
		return n
	}
	n, ok := classNumber(word)
	if !ok {
		if string(word) != "-1" {
			b.Fault("; the example has no label", "%q is not the number of a class", clip(word))
		}
		return NoLabel
	}
	return float32(n)
}

// maxClass is the largest label that a float32 distinguishes from the next one.
const maxClass = 1 << 24

// numbered returns the numbers of named classes, from 1.
func numbered(names []string) map[string]float32 {
	m := make(map[string]float32, len(names))
	for i, name := range names {
		m[name] = float32(i + 1)
	}
	return m
}
