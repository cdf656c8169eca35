// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestOptionsOnNamespaces trains with every option on namespaces with gvw and with vw:
// predictions and table are the same, and each reads the other's model without repeating the
// options.
func TestOptionsOnNamespaces(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	text := namespaceText()
	for _, c := range sampled.Short(t, []struct{ options, unkept string }{
		{"-q ab --cubic abc --interactions abcd", ""},
		{"-q :: --ignore d", ""},
		{"--cubic ::: --keep abc -b 14", ""},
		{"-q :: -q aa --leave_duplicate_interactions", "--leave_duplicate_interactions"},
		{"--interactions aab --interactions baba --permutations", "--permutations"},
		{"-q ab --ignore_linear ab", ""},
		{"-q ab --ignore_linear a --sgd -l 0.05", ""},
		{"-q ab --ignore_linear a --invariant -l 0.1", ""},
		{"--cubic aab --ngram a2 --invariant -l 0.1", ""},
		{"--cubic aab --permutations --invariant -l 0.1", "--permutations"},
		{"-q :: --ignore_linear bc --normalized -l 0.5", ""},
		{"--redefine x:=ab --redefine :=c -q xx", ""},
		{`-q \x20a --ignore b`, ""},
		{"--ngram 2 --skips 1", ""},
		{"--ngram a3 --ngram b2 --skips a2 -q ab", ""},
		{"--affix +2a,-3,+1b --spelling b --spelling _ -b 22", ""},
		{"--affix +1a --spelling a -q \\x84b --cubic \\x85ab --hash all", ""},
		{"--feature_limit 3 --feature_limit a2 -q ab", "--feature_limit 3 --feature_limit a2"},
		{"--feature_limit 1 --ngram 2 -q ab --cubic aab --invariant -l 0.1", "--feature_limit 1 --ngram 2"},
		{"--feature_limit 2 --cubic aab -q bc --permutations --ignore_linear b --invariant -l 0.1", "--feature_limit 2 --permutations"},
		{"-C 0.7", ""},
		{"-C 0.7 --sgd -l 0.1", ""},
		{"--chain_hash --hash_seed 3 --noconstant --ngram 2 --affix -2", ""},
		{"--ngram 3 --affix +1,-1b --spelling a -q :: --cubic abc --ignore_linear b --ignore c --permutations --sgd -l 0.02", "--permutations"},
	}, 0, 5) {
		t.Run(c.options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "x.vw"), text)
			train := append(strings.Fields("-d x.vw"), strings.Fields(c.options)...)
			got := gvw(t, dir, append(train, "-f", "ours", "-p", "p.ours")...)
			want := realRun(t, dir, vw, append(train, "-f", "theirs", "-p", "p.theirs")...)
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			comparePredictionsTo(t, read("p.ours"), read("p.theirs"), tolWeight)
			compareTable(t, got.stderr, want.stderr)

			test := append(strings.Fields("-d x.vw -t --quiet"), strings.Fields(c.unkept)...)
			realRun(t, dir, vw, append(test, "-i", "ours", "-p", "vw.ours")...)
			gvw(t, dir, append(test, "-i", "ours", "-p", "gvw.ours")...)
			gvw(t, dir, append(test, "-i", "theirs", "-p", "gvw.theirs")...)
			comparePredictionsTo(t, read("gvw.ours"), read("vw.ours"), tolWeight)
			comparePredictionsTo(t, read("gvw.theirs"), read("vw.ours"), tolWeight)
		})
	}
}

// namespaceText draws lines with the syntax that the options affect: repeated or missing
// namespaces, namespaces that share a first byte, anonymous features, text as values,
// namespaces with a value.
func namespaceText() string {
	rng := rand.New(rand.NewPCG(11, 7))
	words := strings.Fields("red green blue zip.Code-9 A1b2 x y north south 12 7 éa long_name_of_a_feature")
	var b strings.Builder
	for range 300 {
		fmt.Fprintf(&b, "%.2f", rng.Float64())
		if rng.IntN(4) == 0 {
			fmt.Fprintf(&b, " %.1f", 0.5+rng.Float64())
		}
		for range 1 + rng.IntN(5) {
			ns := []string{"a", "ab", "b", "c", "d", "", "big"}[rng.IntN(7)]
			b.WriteString(" |" + ns)
			if ns != "" && rng.IntN(6) == 0 {
				b.WriteString(":0.5")
			}
			for range rng.IntN(6) {
				w := words[rng.IntN(len(words))]
				switch rng.IntN(8) {
				case 0:
					fmt.Fprintf(&b, " %s:%.2f", w, rng.NormFloat64())
				case 1:
					fmt.Fprintf(&b, " %s:%s", w, words[rng.IntN(4)])
				case 2:
					fmt.Fprintf(&b, " :%.2f", 1+rng.Float64())
				default:
					b.WriteString(" " + w)
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
