// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// labelKind is the kind of labels in a text.
type labelKind int

const (
	realLabels labelKind = iota
	signLabels           // -1, 1
	countLabels
	classLabels // 1, 2, 3
	costLabels  // costs of classes 1, 2, 3
	listLabels  // lists of classes 0, 1, 2
)

// drawText returns n lines of vw's text with all of its syntax, and the same lines with the
// named features of each namespace in another order.
func drawText(rng *rand.Rand, n int, kind labelKind) (text, permuted string) {
	var a, b strings.Builder
	for i := range n {
		line, other := drawLine(rng, kind)
		if i == 0 && rng.IntN(4) == 0 {
			line, other = "\ufeff"+line, "\ufeff"+other
		}
		end := "\n"
		if rng.IntN(20) == 0 {
			end = "\r\n"
		}
		if rng.IntN(25) == 0 {
			end += "\n" // an empty line
		}
		a.WriteString(line + end)
		b.WriteString(other + end)
	}
	return a.String(), b.String()
}

func drawLine(rng *rand.Rand, kind labelKind) (line, permuted string) {
	var a, b strings.Builder
	head := drawHead(rng, kind)
	a.WriteString(head)
	b.WriteString(head)
	for _, ns := range drawNamespaces(rng) {
		a.WriteString("|" + ns)
		b.WriteString("|" + ns)
		features := drawFeatures(rng)
		other := shuffled(rng, features)
		for i, f := range features {
			a.WriteString(blank(rng) + f)
			b.WriteString(" " + other[i])
		}
		if rng.IntN(8) == 0 { // anonymous features are numbered in order, so they keep their places
			more := fmt.Sprintf(" :%.2g :%.2g", rng.NormFloat64(), rng.Float64())
			a.WriteString(more)
			b.WriteString(more)
		}
		a.WriteString(" ")
		b.WriteString(" ")
	}
	if rng.IntN(15) == 0 { // a malformed feature invalidates the rest of the line
		end := []string{"z:1x z2", "z::1 z2", "z:nan z2", "z: z2", "|b:1x z", "|:1 z", "z|b z"}[rng.IntN(7)]
		return a.String() + end, b.String() + end
	}
	return strings.TrimRight(a.String(), " "), strings.TrimRight(b.String(), " ")
}

// shuffled returns features in another order. Features of one name keep their order, because
// the second one learns from the result of the first.
func shuffled(rng *rand.Rand, features []string) []string {
	name := func(f string) string { n, _, _ := strings.Cut(f, ":"); return n }
	out := slices.Clone(features)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	next := map[string]int{}
	for i, f := range out {
		for k := next[name(f)]; ; k++ {
			if name(features[k]) == name(f) {
				out[i], next[name(f)] = features[k], k+1
				break
			}
		}
	}
	return out
}

func blank(rng *rand.Rand) string {
	switch rng.IntN(40) {
	case 0:
		return "  "
	case 1:
		return "\t"
	}
	return " "
}

// drawHead returns some of label, weight, initial prediction and tag.
func drawHead(rng *rand.Rand, kind labelKind) string {
	if rng.IntN(30) == 0 && kind < classLabels {
		return []string{"", " ", "'unlabeled ", "tag", "1 2 3 4 ", "one ", "1e0 "}[rng.IntN(7)]
	}
	label := ""
	switch kind {
	case realLabels:
		label = fmt.Sprintf("%.3g", 2*rng.NormFloat64())
	case signLabels:
		label = []string{"-1", "1", "+1", "1.0", "-1.000"}[rng.IntN(5)]
	case countLabels:
		label = fmt.Sprint(rng.IntN(6))
	case costLabels:
		for k := range 3 {
			if rng.IntN(5) > 0 {
				label += fmt.Sprintf("%d:%.2g ", k+1, 2*rng.Float64())
			}
		}
		return label + []string{"", "'a_tag "}[rng.IntN(2)]
	case listLabels:
		return []string{"0", "1", "0,2", "1,2", "0,1,2", ""}[rng.IntN(6)] + []string{" ", " 'a_tag "}[rng.IntN(2)]
	case classLabels:
		label = fmt.Sprint(1 + rng.IntN(3))
		if rng.IntN(6) == 0 {
			label += []string{" 2", " 0.5"}[rng.IntN(2)]
		}
		return label + []string{" ", " 'a_tag "}[rng.IntN(2)]
	}
	if rng.IntN(6) == 0 {
		label += []string{" 2", " 0.5", " 1e-1", " 0"}[rng.IntN(4)]
		if rng.IntN(3) == 0 {
			label += fmt.Sprintf(" %.2g", 0.3*rng.NormFloat64())
		}
	}
	switch rng.IntN(8) {
	case 0:
		label += " 'a_tag"
	case 1:
		return label + " touching"
	}
	return label + " "
}

// drawNamespaces returns the beginnings of a line's namespaces; some occur twice, some have a
// factor.
func drawNamespaces(rng *rand.Rand) []string {
	names := []string{"a", "b", "c", "ab", "", "user", "A", "é"}
	out := make([]string, 1+rng.IntN(3))
	for i := range out {
		name := names[min(rng.IntN(12), len(names)-1)%len(names)]
		if name != "" && rng.IntN(8) == 0 {
			name += []string{":2", ":0.5", ":-1", ":1e-1"}[rng.IntN(4)]
		}
		out[i] = name
	}
	return out
}

func drawFeatures(rng *rand.Rand) []string {
	out := make([]string, rng.IntN(8))
	for i := range out {
		name := []string{"x", "y", "price", "w", "Zürich", "a-b", "longer_name_than_8", "", "0x"}[min(rng.IntN(14), 8)]
		f := fmt.Sprintf("%s%d", name, rng.IntN(15))
		switch rng.IntN(12) {
		case 0, 1, 2:
			f += fmt.Sprintf(":%.3g", rng.NormFloat64())
		case 3:
			f += fmt.Sprintf(":%.7f", rng.Float64())
		case 4:
			f += []string{":0", ":1.", ":.5", ":-.25", ":1e-2", ":2E0", ":+3", ":0x10", ":12345678e-7"}[rng.IntN(9)]
		case 5:
			f += []string{":red", ":blue", ":a|b"[:2], ":x:y"}[rng.IntN(4)]
		}
		out[i] = f
	}
	return out
}
