// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProcessorsChangeNoByte trains with 1, 2, 4 and 7 processors, and so as many
// workers that parse: predictions and model are the same bytes.
func TestProcessorsChangeNoByte(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{
		"sgd":    "--loss_function logistic --passes 3 -k --cache_file C -q ab",
		"lbfgs":  "--loss_function logistic --bfgs --l2 1 --passes 6 -k --cache_file C --holdout_off",
		"hybrid": "--loss_function logistic --hybrid 2:5 --l2 1 -k --cache_file C",
		"oaa":    "--oaa 3 --passes 2 -k --cache_file C",
		"ngrams": "--ngram a2 --affix +2b --loss_function hinge --l1 1e-4",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
			if name == "oaa" {
				text = strings.ReplaceAll(text, "-1 |", "2 |")
			}
			text = strings.Repeat(text, 10) // several chunks
			var first map[string]string
			for _, processors := range []string{"1", "2", "4", "7"} {
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, "data"), text)
				args := append([]string{"-d", "data", "-f", "model", "-p", "predictions"}, strings.Fields(options)...)
				cmd := exec.Command(gvwBin, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOMAXPROCS="+processors)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s processors: %v\n%s", processors, err, out)
				}
				got := map[string]string{}
				for _, file := range []string{"model", "predictions"} {
					got[file] = readFile(t, filepath.Join(dir, file))
				}
				if first == nil {
					first = got
				}
				for file, text := range got {
					if text == "" || text != first[file] {
						t.Errorf("%s with %s processors: %d bytes, not the same as with 1", file, processors, len(text))
					}
				}
			}
		})
	}
}
