// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// minMessages is the least number of messages with a word that is shown. A model of hashed
// features has no dictionary, so a rare word may share its weight with a frequent one.
const minMessages = 20

// strongest returns the n words of the training file with the greatest weights, which mark
// spam, and the n with the smallest, which mark ham.
func strongest(modelPath, train string, n int) (spam, ham []string, err error) {
	f, err := os.Open(modelPath)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r, err := model.Read(f, model.Limits{})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", modelPath, err)
	}
	counts, err := vocabulary(train)
	if err != nil {
		return nil, nil, err
	}
	cfg := feature.Config{Bits: r.Header.Bits}
	// The most frequent of the words that share a weight owns it.
	owner := map[uint32]word{}
	for w, count := range counts {
		w.count = count
		i := cfg.Index(w.namespace, w.name)
		if o, taken := owner[i]; !taken || w.compare(o) < 0 {
			owner[i] = w
		}
	}
	var all []word
	for i, w := range owner {
		if w.count >= minMessages {
			w.weight = r.Weights.Data[int(i)*max(r.Weights.Stride, 1)]
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b word) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.compare(b)) })
	n = min(n, len(all)/2)
	for i := range n {
		spam = append(spam, all[i].String())
		ham = append(ham, all[len(all)-1-i].String())
	}
	return spam, ham, nil
}

// word is a feature by its name.
type word struct {
	namespace, name string
	count           int
	weight          float32
}

// compare orders frequent words first.
func (w word) compare(o word) int {
	return cmp.Or(cmp.Compare(o.count, w.count), cmp.Compare(w.namespace, o.namespace), cmp.Compare(w.name, o.name))
}

// String returns the word, with a mark on words of the subject.
func (w word) String() string {
	if w.namespace == "s" {
		return "subject:" + w.name
	}
	return w.name
}

// vocabulary counts for each word the lines of vw text that contain it. The keys have neither
// count nor weight.
func vocabulary(path string) (map[word]int, error) {
	counts := map[word]int{}
	err := eachLine(path, func(line string) error {
		parts := strings.Split(line, "|")
		for _, part := range parts[1:] {
			fields := strings.Fields(part)
			if len(fields) == 0 {
				continue
			}
			namespace, _, _ := strings.Cut(fields[0], ":")
			for _, name := range fields[1:] {
				counts[word{namespace: namespace, name: name}]++
			}
		}
		return nil
	})
	return counts, err
}
