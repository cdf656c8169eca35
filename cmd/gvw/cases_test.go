// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/sampled"
)

var record = flag.Bool("record", false, "record testdata/cases/recorded.json with the real vw (GVW_VW_PYTHON)")

// recordedFile holds what vw 9.11.9 did with the examples of the table. It is written
// by: GVW_VW_PYTHON=… go test ./cmd/gvw -run TestCasesAgainstVW -record
const recordedFile = "testdata/cases/recorded.json"

// vwOutcome is the outcome of an example, by vw or by gvw.
type vwOutcome struct {
	Example     string
	Code        int      // 1 for every error
	Predictions []string `json:",omitempty"`
	Like        string   `json:",omitempty"` // in the file: the example before it with the same predictions
}

// recordedOutcomes returns the recorded outcomes by example.
func recordedOutcomes(t *testing.T) map[string]vwOutcome {
	t.Helper()
	text, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []vwOutcome
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]vwOutcome{}
	for _, o := range list {
		if o.Like != "" {
			o.Predictions, o.Like = outcomes[o.Like].Predictions, ""
		}
		outcomes[o.Example] = o
	}
	return outcomes
}

// optionExample is the command line of an option that is accepted and does nothing.
func optionExample(o compat.Option, value string) string {
	return strings.TrimRight("-d train.vw --"+o.Name+" "+value, " ")
}

// exampleCommands splits an example. The last command writes predictions.
func exampleCommands(example string) [][]string {
	var all [][]string
	for command := range strings.SplitSeq(example, " ;; ") {
		all = append(all, strings.Fields(command))
	}
	last := len(all) - 1
	all[last] = append(all[last], "-p", "p")
	return all
}

// casesFolder copies the data of the examples into a new folder and makes it the current one.
func casesFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/cases")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// readPredictions returns the lines of the predictions.
func readPredictions(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// tryExample runs the commands of an example by gvw in this process, in the current folder,
// and returns the outcome and the stderr of the last command.
func tryExample(t *testing.T, example string, more ...string) (o vwOutcome, stderr string) {
	t.Helper()
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	os.Remove("p")
	o.Example = example
	for _, args := range exampleCommands(example) {
		var out, talk bytes.Buffer
		p := &program{Process: &cli.Process{Args: append(args, more...), Stdin: stdin, Stdout: &out, Stderr: &talk}}
		o.Code, stderr = p.main(), talk.String()
	}
	if o.Code == 0 {
		o.Predictions = readPredictions(t, "p")
	}
	return o, stderr
}

// oneIn is the number of cases of which a short run, such as that of the race detector,
// takes one.
const oneIn = 10

// TestCases checks that gvw treats each case as its class requires, and predicts as vw does.
func TestCases(t *testing.T) {
	recorded := recordedOutcomes(t)
	casesFolder(t)
	for _, c := range sampled.Short(t, compat.Cases(), 0, oneIn) {
		if c.Example == "" {
			if c.Class != compat.Refused || !strings.Contains(c.With, "span_server") {
				t.Errorf("%s: no example", c.Options)
			}
			continue
		}
		t.Run(c.Example, func(t *testing.T) {
			vw, ok := recorded[c.Example]
			if !ok {
				t.Fatal("not recorded: GVW_VW_PYTHON=… go test ./cmd/gvw -run TestCasesAgainstVW -record")
			}
			got, stderr := tryExample(t, c.Example)
			switch c.Class {
			case compat.Refused:
				if got.Code != 1 || !namesOption(stderr, strings.Fields(c.Options)) {
					t.Errorf("exit code %d, want 1 and a message that names the option:\n%s", got.Code, stderr)
				}
				return
			case compat.Silent:
				if strings.Contains(stderr, "gvw: ") {
					t.Errorf("want no note:\n%s", stderr)
				}
			case compat.Noted:
				checkNotes(t, stderr, &c)
			}
			if vw.Code != 0 {
				t.Fatalf("vw ends with %d: the case should be refused", vw.Code)
			}
			if got.Code != 0 {
				t.Fatalf("exit code %d:\n%s", got.Code, stderr)
			}
			want := vw.Predictions
			// The L-BFGS of gvw follows vw 7.10 (docs/bfgs.md), whose predictions differ from
			// the recorded ones. The option must still change nothing.
			if strings.Contains(c.Example, "--bfgs") {
				without, _ := tryExample(t, leaveOutOption(c.Example, strings.Fields(c.Options)))
				want = without.Predictions
			}
			comparePredictions(t, want, got.Predictions)
		})
	}
}

// TestAcceptedOptions checks the options that have no effect: gvw accepts each, with one note
// if its class is Noted, and predicts as without the option.
func TestAcceptedOptions(t *testing.T) {
	recorded := recordedOutcomes(t)
	casesFolder(t)
	var baseline []string
	for example, o := range recorded {
		if example == "-d train.vw" {
			baseline = o.Predictions
		}
	}
	for _, o := range sampled.Short(t, compat.All(), 0, oneIn) {
		if !o.Accepted() || o.Group == compat.Driver {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			var vw vwOutcome
			for example, r := range recorded {
				if example == optionExample(o, "") || strings.HasPrefix(example, optionExample(o, "")+" ") {
					vw = r
				}
			}
			if vw.Example == "" {
				t.Fatal("not recorded: GVW_VW_PYTHON=… go test ./cmd/gvw -run TestCasesAgainstVW -record")
			}
			comparePredictions(t, baseline, vw.Predictions)
			got, stderr := tryExample(t, vw.Example)
			if got.Code != vw.Code {
				t.Fatalf("exit code %d, want %d:\n%s", got.Code, vw.Code, stderr)
			}
			comparePredictions(t, vw.Predictions, got.Predictions)
			want := 0
			if o.Class == compat.Noted {
				want = 1
			}
			if n := strings.Count(stderr, "gvw: --"+o.Name+": "); n != want || strings.Count(stderr, "gvw: ") != want {
				t.Errorf("%d notes, want %d:\n%s", n, want, stderr)
			}
		})
	}
}

// namesOption reports whether the last line of stderr names one of the options.
func namesOption(stderr string, options []string) bool {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := lines[len(lines)-1]
	return slices.ContainsFunc(options, func(o string) bool { return strings.Contains(last, "--"+o) })
}

// checkNotes checks that there is one note for each option of the case that the example has,
// and none under --quiet.
func checkNotes(t *testing.T, stderr string, c *compat.Case) {
	t.Helper()
	for option := range strings.FieldsSeq(c.Options) {
		o, _ := compat.Find(option)
		words := strings.Fields(c.Example)
		if !slices.Contains(words, "--"+option) && !slices.Contains(words, "-"+o.Short) {
			continue
		}
		note := regexp.MustCompile(`(?m)^gvw: --` + option + `\b.*` + regexp.QuoteMeta(c.Text) + `$`)
		if n := len(note.FindAllString(stderr, -1)); n != 1 {
			t.Errorf("%d notes of --%s, want one:\n%s", n, option, stderr)
		}
	}
	if _, stderr := tryExample(t, c.Example, "--quiet"); strings.Contains(stderr, "gvw: ") {
		t.Errorf("a note under --quiet:\n%s", stderr)
	}
}

// leaveOutOption removes options and their values from the last command of an example.
func leaveOutOption(example string, options []string) string {
	before, last := "", example
	if i := strings.LastIndex(example, " ;; "); i >= 0 {
		before, last = example[:i+4], example[i+4:]
	}
	for _, option := range options {
		o, _ := compat.Find(option)
		value := ""
		if o.Values != compat.None {
			value = ` \S+`
		}
		short := "--" + option
		if o.Short != "" {
			short = "-" + o.Short
		}
		last = regexp.MustCompile(` (--`+option+`|`+short+`)`+value).ReplaceAllString(last, "")
	}
	return before + last
}

// comparePredictions compares numbers to about six digits, the precision of vw's files, and
// other text exactly.
func comparePredictions(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d predictions, want %d", len(got), len(want))
	}
	split := func(r rune) bool { return r == ' ' || r == ':' }
	for i := range want {
		if slices.EqualFunc(strings.FieldsFunc(want[i], split), strings.FieldsFunc(got[i], split), close6) {
			continue
		}
		t.Errorf("prediction %d is %q, want %q", i+1, got[i], want[i])
	}
}

// close6 reports whether two words are equal, or are numbers that agree to six digits.
func close6(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return a == b
	}
	return math.Abs(x-y) <= 2e-5*max(1, math.Abs(x))
}

// TestCasesAgainstVW compares a share of the recorded outcomes with those of the real vw, and all
// of them in make test-long. With -record it records them.
func TestCasesAgainstVW(t *testing.T) {
	python := os.Getenv("GVW_VW_PYTHON")
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" || *record {
			t.Fatal("no real vw: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
		}
		t.Skip("no real vw to compare with: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
	}
	target, err := filepath.Abs(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string]vwOutcome
	if !*record {
		recorded = recordedOutcomes(t)
	}
	vw := startVW(t, python)
	casesFolder(t)

	examples := []string{"-d train.vw"}
	for _, c := range compat.Cases() {
		if c.Example != "" && !slices.Contains(examples, c.Example) {
			examples = append(examples, c.Example)
		}
	}
	values := sampleValues(t, python)
	for _, o := range compat.All() {
		if o.Accepted() && o.Group != compat.Driver {
			examples = append(examples, optionExample(o, values[o.Name]))
		}
	}
	var outcomes []vwOutcome
	for i, example := range examples {
		if !*record && i%vwShare != 0 {
			continue
		}
		o := vw.try(t, example)
		want := recorded[example]
		if !*record && strings.Contains(example, "--svrg") {
			// vw begins a stage of --svrg when its parser reaches the end of the data, so predictions
			// differ from run to run.
			want.Predictions, o.Predictions = nil, nil
		}
		if !*record && !cmp.Equal(want, o) {
			t.Errorf("%s\n(-recorded +vw)\n%s", example, cmp.Diff(want, o))
		}
		outcomes = append(outcomes, o)
	}
	if !*record {
		return
	}
	for i := len(outcomes) - 1; i >= 0; i-- {
		o := &outcomes[i]
		same := func(other vwOutcome) bool { return slices.Equal(other.Predictions, o.Predictions) }
		if first := slices.IndexFunc(outcomes, same); first < i && o.Predictions != nil {
			o.Like, o.Predictions = outcomes[first].Example, nil
		}
	}
	text, err := json.MarshalIndent(outcomes, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sampleValues returns a valid value for each option of vw that takes one: vw's help has the
// type of the value, or the choices.
func sampleValues(t *testing.T, python string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, "-m", "vowpalwabbit", "--help")
	cmd.Stdin = bytes.NewReader(nil)
	help, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, help)
	}
	values := map[string]string{}
	entry := regexp.MustCompile(`(?ms)^    (?:-\w, )?--(\S+) arg(.*?)(?:^    -|^\[|\z)`)
	kind := regexp.MustCompile(`type:\s+([\w\[\]]+)`)
	choices := regexp.MustCompile(`choices\s+\{([^,}]*)`)
	for text := string(help); ; {
		m := entry.FindStringSubmatchIndex(text)
		if m == nil {
			return values
		}
		name, rest := strings.ReplaceAll(text[m[2]:m[3]], "-", "_"), text[m[4]:m[5]]
		value := "q"
		switch k := kind.FindStringSubmatch(rest); {
		case choices.MatchString(rest):
			value = strings.TrimSpace(choices.FindStringSubmatch(rest)[1])
		case k == nil:
		case k[1] == "int" || k[1] == "uint":
			value = "2"
		case k[1] == "float":
			value = "0.25"
		}
		if values[name] == "" {
			values[name] = value
		}
		text = text[m[5]:]
	}
}

// vwProcess is a Python process with vw's library loaded. It forks for each command line,
// since loading the library takes longer than a run.
type vwProcess struct {
	in  *json.Encoder
	out *bufio.Scanner
}

// startVW starts the process, which ends with the test.
func startVW(t *testing.T, python string) *vwProcess {
	t.Helper()
	script, err := filepath.Abs("../../tests/testdata/vwfork.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the context may have ended it
	})
	p := &vwProcess{in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	if !p.out.Scan() {
		t.Fatalf("vwfork.py does not start: %v", p.out.Err())
	}
	return p
}

// try runs an example in the current folder.
func (p *vwProcess) try(t *testing.T, example string) vwOutcome {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	os.Remove("p")
	o := vwOutcome{Example: example}
	for _, args := range exampleCommands(example) {
		if err := p.in.Encode(map[string]any{"dir": dir, "args": args, "log": filepath.Join(dir, "vw.log")}); err != nil {
			t.Fatal(err)
		}
		if !p.out.Scan() {
			t.Fatalf("vwfork.py has ended: %v", p.out.Err())
		}
		o.Code = 0
		if p.out.Text() != "0" {
			o.Code = 1 // also if a signal has ended vw
		}
	}
	if o.Code == 0 {
		o.Predictions = readPredictions(t, "p")
	}
	return o
}
