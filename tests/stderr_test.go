// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record what the real vw writes (needs GVW_VW_PYTHON)")

// stderrSets are options for which scripts parse stderr. OWN is the program's own name.
var stderrSets = []string{
	"",
	"-p OWN.pred",
	"-r OWN.raw -p OWN.pred",
	"-f OWN.model",
	"-t",
	"-t -i model",
	"-t -i model -p OWN.pred",
	"-i model --loss_function logistic",
	"--loss_function logistic --binary",
	"--loss_function logistic --link logistic -P 5",
	"--loss_function hinge -P 3.0",
	"--loss_function quantile --quantile_tau 0.3",
	"--min_prediction -0.2 --max_prediction 0.5",
	"--ftrl",
	"--ftrl --ftrl_alpha 0.1 --ftrl_beta 0.5 -q ab",
	"--pistol",
	"--coin",
	"--freegrad --restart --project --radius 2",
	"--freegrad --audit",
	"-q ab",
	"-q ::",
	"-q :a --ftrl",
	"--cubic abc --interactions aab",
	"--interactions a:b -q ab",
	"--ngram 2 --skips a1",
	"--feature_limit a2",
	"--ignore a --ignore_linear b -q bc",
	"--keep a --keep b",
	"--noconstant --sgd -l 0.1",
	"--adaptive --power_t 0.3 --initial_t 1",
	"--l1 1e-3 --l2 1e-4",
	"--dictionary words --dictionary a:words",
	"--pistol --audit",
	"--classweight 1:2",
	"--passes 3 -k --cache_file OWN.cache",
	"--passes 3 -k --cache_file OWN.cache --holdout_off",
	"--passes 4 -k --cache_file OWN.cache --holdout_period 4 --early_terminate 1",
	"--cache_file OWN.cache",
	"--cache_file OWN.cache --passes 2 -t -i model",
	"--bfgs --passes 3 -k --cache_file OWN.cache --holdout_off --l2 2",
	"--conjugate_gradient --passes 2 -k --cache_file OWN.cache --holdout_off --l2 2",
	"-b 22 --random_weights --random_seed 3",
	"CLASSES --oaa 3",
	"CLASSES --oaa 3 --probabilities --loss_function logistic -q a:",
	"CLASSES --oaa 3 --scores -p OWN.pred",
	"CLASSES --oaa 3 --classweight 1:2",
	"CLASSES --oaa 3 --coin --passes 2 -k --cache_file OWN.cache",
	"CLASSES --oaa 3 --ftrl --invert_hash OWN.names",
	"STDIN",
	"STDIN -t -i model -p /dev/stdout",
}

// TestStderrIsVWs compares all of stderr, byte for byte, with what the real vw writes
// and, without one, has written (-update records it). Lines of gvw's own ("gvw: …",
// "level=…"), and of vw's log ("[info] …"), which vw writes to stdout, are left out; so
// are the names of models, which differ.
func TestStderrIsVWs(t *testing.T) {
	t.Parallel()
	const recording = "testdata/stderr.txt"
	dir := newAnyCase(t, nil).dir
	gvw(t, dir, "-d", "sign", "-f", "model", "--quiet")
	var vw *forkedVW
	if *update || os.Getenv("GVW_VW_PYTHON") != "" || os.Getenv("REQUIRE_ALL") == "1" {
		vw = startForkedVW(t)
	}
	recorded := map[string]string{}
	if !*update {
		for part := range strings.SplitSeq(readFile(t, recording), "### ") {
			options, text, _ := strings.Cut(part, "\n")
			recorded[options] = text
		}
	}
	var b strings.Builder
	for _, options := range stderrSets {
		data, stdin := "sign", false
		args := strings.Fields(options)
		if len(args) > 0 {
			switch args[0] {
			case "CLASSES":
				data, args = "class", args[1:]
			case "STDIN":
				stdin, args = true, args[1:]
			}
		}
		with := func(who string) []string {
			all := []string{"-d", data}
			if stdin {
				all[1] = "/dev/stdin"
			}
			for _, a := range args {
				all = append(all, strings.ReplaceAll(a, "OWN", who))
			}
			return all
		}
		text := func(who, stderr string) string {
			lines := slices.DeleteFunc(strings.SplitAfter(stderr, "\n"), ownLine.MatchString)
			return strings.ReplaceAll(strings.Join(lines, ""), " = "+who+".", " = OWN.")
		}
		want, known := recorded[options]
		if vw != nil {
			var in string
			if stdin {
				in = data
			}
			_, _, stderr := vw.runApart(t, dir, with("vw"), in)
			if got := text("vw", stderr); *update {
				fmt.Fprintf(&b, "### %s\n%s", options, got)
				continue
			} else if got != want {
				t.Errorf("%q: vw writes other text than is recorded (go test -run TestStderrIsVWs ./tests -update):\n%s", options, firstDifference(want, got))
			}
		} else if !known {
			t.Fatalf("%q is not recorded", options)
		}
		var in *os.File
		if stdin {
			f, err := os.Open(filepath.Join(dir, data))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			in = f
		}
		own := with("gvw")
		if strings.Contains(options, "--bfgs") || strings.Contains(options, "--conjugate_gradient") {
			own = append(own, "--bfgs_semantics", "vw9")
		}
		r := startWith(t, dir, in, nil, gvwBin, own...).wait()
		if got := text("gvw", r.stderr); got != want {
			t.Errorf("%q: gvw writes other text than vw:\n%s", options, firstDifference(got, want))
		}
		if inside := tableAndSummary.FindString(r.stderr); strings.Contains(inside, "level=") {
			t.Errorf("%q: a line of the log is inside the table:\n%s", options, inside)
		}
	}
	if *update {
		writeFile(t, recording, b.String())
	}
}

// ownLine is a line that only one of the programs writes to stderr.
var ownLine = regexp.MustCompile(`^(gvw: |level=|\[(info|warning|error)\] )`)

// tableAndSummary matches the header of the table to the end of the summary.
var tableAndSummary = regexp.MustCompile(`(?s)average  since.*total feature number = [0-9]+\n`)
