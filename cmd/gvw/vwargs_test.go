// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/train"
)

func noFiles(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// parse normalises a command line that is split at blanks.
func parse(line string, env ...string) (*cli.Settings, error) {
	return cli.Parse(commands().Learner, strings.Fields(line), env, noFiles)
}

// accepted has command lines that vw accepts, with the canonical arguments that gvw reads.
// TestTablesAgainstVW runs them by a real vw.
var accepted = map[string]string{
	"-b 18":                       "--bit_precision=18",
	"-b18":                        "--bit_precision=18",
	"--bit_precision 18":          "--bit_precision=18",
	"--bit_precision=18":          "--bit_precision=18",
	"-b 010":                      "--bit_precision=10",
	"-b +5":                       "--bit_precision=5",
	"-b 1 -b 1":                   "--bit_precision=1",
	"-b 1 -b 01":                  "--bit_precision=1",
	"-l0.3":                       "--learning_rate=0.3",
	"-l -0.5":                     "--learning_rate=-0.5",
	"-l-0.5":                      "--learning_rate=-0.5",
	"-l +0.5":                     "--learning_rate=0.5",
	"-l .5":                       "--learning_rate=0.5",
	"-l 1e-3":                     "--learning_rate=0.001",
	"--learning_rate=0.3 -l 0.30": "--learning_rate=0.3",
	"--l2=1e-3":                   "--l2=0.001",
	"--l2 1e-8":                   "--l2=1e-08",
	"-qab":                        "--quadratic=ab",
	"-q ab":                       "--quadratic=ab",
	"-q ab cd":                    "--quadratic=ab --quadratic=cd",
	"-q ab cd -t":                 "--testonly --quadratic=ab --quadratic=cd",
	"-q ab -q cd":                 "--quadratic=ab --quadratic=cd",
	"-qab cd":                     "--quadratic=ab --quadratic=cd",
	"--quadratic=ab cd":           "--quadratic=ab --quadratic=cd",
	"-q ab -q ab":                 "--quadratic=ab --quadratic=ab",
	"-q ::":                       "--quadratic=::",
	"-q a,":                       "--quadratic=a,",
	"-q=a":                        "--quadratic==a",
	"-q -b 10":                    "--quadratic=-b --quadratic=10",
	"-t -t":                       "--testonly",
	"-d a.vw -d a.vw":             "--data=a.vw",
	"-p stdout":                   "--predictions=stdout",
	"-P 30":                       "--progress=30",
	"-P 3.0":                      "--progress=3.0",
	"--hash all":                  "--hash=all",
}

// acceptedHere has command lines that only gvw accepts, or that vw reads differently.
var acceptedHere = map[string]string{
	"--unique_id 18446744073709551615": "--unique_id=18446744073709551615",
	"--bit-precision 18":               "--bit_precision=18",
	"-d a.vw -d b.vw":                  "--data=a.vw --data=b.vw",
	"-d -":                             "--data=-",
	"--cache_file x -k -c":             "--cache --cache_file=x --kill_cache",
	"--lost_after 90":                  "--lost_after=1m30s",
	"--lost_after 1m30s":               "--lost_after=1m30s",
}

// refused has command lines that vw refuses, too, with a part of gvw's message.
var refused = map[string]string{
	"-b 1 -b 2":                        "Disagreeing option values for 'bit_precision': '1' vs '2'",
	"-f a -f b":                        "Disagreeing option values for 'final_regressor': 'a' vs 'b'",
	"-b=18":                            "write -b 18 or --bit_precision=18",
	"-b 0x10":                          `"0x10" is not a whole number`,
	"-b abc":                           `-b/--bit_precision: "abc" is not a whole number from 1 on`,
	"-b -3":                            `"-3" is not a whole number from 1 on`,
	"-b":                               "-b/--bit_precision needs a value: B",
	"-b --quiet":                       "-b/--bit_precision needs a value: B",
	"--passes --":                      "--passes needs a value: N",
	"--bit_precision=":                 `"" is not a whole number`,
	"--hash_seed 4294967296":           "at most 4294967295",
	"--unique_id 99999999999999999999": "is too large",
	"-l nan":                           "is not a number",
	"-l inf":                           "is not a number",
	"-l 1e400":                         "is not a number",
	"-l 1x":                            "is not a number",
	"-l 0x1p3":                         "is not a number",
	"--final_regressor=":               "the value is empty",
	"-bfgs":                            "write --bfgs",
	"-ck":                              "-c takes no value; give each option its own dash",
	"--testonly=1":                     `--testonly takes no value, but "1" was given`,
	"-q":                               "-q/--quadratic needs a value: AB",
	"-q abc":                           "is not a pair of namespaces",
	"-q ab train.vw":                   `"train.vw" is not a pair of namespaces`,
	"--hash foo":                       `"foo" is not one of all, strings`,
	"--pass 1":                         "options cannot be abbreviated: write --passes",
	"--holdout":                        "write --holdout_off or --holdout_period or --holdout_after",
	"--pases 3":                        "--pases is no option: did you mean --passes?",
	"-z":                               "-z is no option",
	"--xyzzy":                          "--xyzzy is no option; see gvw --help all",
	"--workers 3":                      "gvw run -n N -- OPTIONS",
	"--start_timeout 0":                "a time above 0",
	"--start_timeout soon":             "is no time",
}

// refusedHere has command lines that vw accepts and gvw refuses: vw reads them in a way that
// a user hardly intends, or they have options that gvw lacks.
var refusedHere = map[string]string{
	"-i a -i b":               "one value only, but a and b were given",
	"-i a b":                  "one value only, but a and b were given",
	"-passes 3":               "write --passes (vw would read it as -p asses)",
	"-l 0.3 --l2 0 -l 0.4":    "Disagreeing option values for 'learning_rate': '0.3' vs '0.4'",
	"-b 0":                    `"0" is not a whole number from 1 on`,
	"-f -t":                   "-f/--final_regressor needs a value: FILE",
	"--hash_seed -4294967296": "is not a whole number",
	"--decay_learning_rate 0": "above 0",
	"-f=m":                    "write -f m or --final_regressor=m",
	"--cb 3":                  "--cb is a vw option that gvw does not have: gvw learns no contextual bandits",
	"--active":                "--active is a vw option that gvw does not have",
}

func TestArguments(t *testing.T) {
	for _, table := range []map[string]string{accepted, acceptedHere} {
		for line, want := range table {
			s, err := parse(line)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if got := strings.Join(s.Args(), " "); got != want {
				t.Errorf("%s: %s, want %s", line, got, want)
			}
		}
	}
}

func TestRefusedArguments(t *testing.T) {
	for _, table := range []map[string]string{refused, refusedHere} {
		for line, want := range table {
			_, err := parse(line)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
				continue
			}
			for _, e := range cli.Joined(err) {
				if _, ok := errors.AsType[*cli.UsageError](e); !ok {
					t.Errorf("%s: %T is no usage error", line, e)
				}
			}
		}
	}
}

// TestTablesAgainstVW checks the tables accepted and refused against a real vw.
func TestTablesAgainstVW(t *testing.T) {
	python := os.Getenv("GVW_VW_PYTHON")
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("no real vw: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
		}
		t.Skip("no real vw to compare with: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
	}
	probe, err := filepath.Abs(filepath.Join("testdata", "probe_vw.py"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte("1 | a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, table := range map[string]map[string]string{"ok": accepted, "error": refused} {
		var stdin bytes.Buffer
		var lines []string
		for line := range table {
			if strings.Contains(line, ".vw") {
				continue // the line names data of its own
			}
			b, err := json.Marshal(append([]string{"-d", "x.vw"}, strings.Fields(line)...))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
			stdin.Write(append(b, '\n'))
		}
		cmd := exec.CommandContext(t.Context(), python, probe)
		cmd.Dir, cmd.Stdin, cmd.Stderr = dir, &stdin, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		answers := regexp.MustCompile(`(?m)^(ok|error)\b.*$`).FindAllString(string(out), -1)
		if len(answers) != len(lines) {
			t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(lines), out)
		}
		for i, a := range answers {
			if !strings.HasPrefix(a, want) {
				t.Errorf("vw on %s: %s, the table says %s", lines[i], a, want)
			}
		}
	}
}

// All faults of a command line are reported at once.
func TestAllFaultsAreReported(t *testing.T) {
	_, err := parse("-b x --pases 3 -d a.vw --cb 2 -l y")
	for _, want := range []string{"-b/", "--pases", "--cb", "-l/"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestPositionalData(t *testing.T) {
	for line, want := range map[string]string{
		"train.vw -b 10 --passes 3": "--data=train.vw --passes=3 --bit_precision=10",
		"-b 10 train.vw":            "--data=train.vw --bit_precision=10",
		"-b 10 -- -odd-name":        "--data=-odd-name --bit_precision=10",
		"-":                         "--data=-",
		"-5":                        "--data=-5",
		"-t":                        "--testonly",
	} {
		s, err := parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if unread := train.FirstWordIsData(s); len(unread) > 0 {
			t.Errorf("%s: %v was not read", line, unread)
		}
		if got := strings.Join(s.Args(), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	// Of several files vw reads the first word that is not the value of an option.
	for line, want := range map[string][2]string{
		"a.vw b.vw c.vw":       {"a.vw", "b.vw c.vw"},
		"-d a.vw b.vw":         {"b.vw", "a.vw"},
		"-d a.vw -d c.vw b.vw": {"b.vw", "a.vw c.vw"},
		"-d a.vw -- b.vw":      {"b.vw", "a.vw"},
		"a.vw -- b.vw":         {"a.vw", "b.vw"},
	} {
		s, err := parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		unread := strings.Join(train.FirstWordIsData(s), " ")
		if got := strings.Join(s.All("data"), " "); got != want[0] || unread != want[1] {
			t.Errorf("%s: data %s, not read %s, want %s and %s", line, got, unread, want[0], want[1])
		}
	}
}

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		env  []string
		want string
		err  string
	}{
		"sets a flag":            {"", []string{"GVW_BIT_PRECISION=020"}, "--bit_precision=20", ""},
		"command line first":     {"-b 3", []string{"GVW_BIT_PRECISION=20"}, "--bit_precision=3", ""},
		"boolean":                {"", []string{"GVW_QUIET=1", "GVW_BFGS=0"}, "--quiet", ""},
		"boolean that is none":   {"", []string{"GVW_QUIET=loud"}, "", `GVW_QUIET: "loud" is neither 1 nor 0`},
		"list":                   {"", []string{"GVW_QUADRATIC=ab cd"}, "--quadratic=ab --quadratic=cd", ""},
		"file with a blank":      {"", []string{"GVW_DATA=my data.vw"}, "--data=my data.vw", ""},
		"data by position first": {"x.vw", []string{"GVW_DATA=y.vw"}, "", ""},
		"empty is unset":         {"", []string{"GVW_PASSES="}, "", ""},
		"bad value":              {"", []string{"GVW_PASSES=x"}, "", `GVW_PASSES: "x" is not a whole number`},
		"misspelled":             {"", []string{"GVW_PASES=3"}, "", "GVW_PASES: no option of this name: did you mean GVW_PASSES?"},
		"of another command":     {"", []string{"GVW_WORKERS=3", "GVW_LOG_DIR=x"}, "", ""},
		"not an option":          {"", []string{"GVW_FAULT=x", "GVW_LAUNCHER_FD=0", "GVW_SOMETHING=3", "HOME=/"}, "", ""},
		"no help from there":     {"", []string{"GVW_HELP=1"}, "", ""},
	} {
		s, err := parse(c.line, c.env...)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(s.Args(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestArgumentFiles(t *testing.T) {
	files := map[string]string{
		"a":      "-b 18 # bits\n# a whole line\n-f 'my model' --quiet @b\n",
		"b":      "-l\n0.5\r\n-q \"ab\"'' c\"d\"",
		"circle": "@circle",
		"open":   "-f\n'x",
	}
	read := func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return noFiles(name)
		}
		return []byte(text), nil
	}
	s, err := cli.Parse(commands().Learner, []string{"-d", "x", "@a"}, nil, read)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--data=x", "--bit_precision=18", "--quadratic=ab", "--quadratic=cd", "--final_regressor=my model", "--learning_rate=0.5", "--quiet"}
	if diff := cmp.Diff(want, s.Args()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for arg, want := range map[string]string{
		"@circle": "over 10 levels", "@open": "argument file open: line 2: the quote ' is not closed", "@none": "cannot read the argument file none",
	} {
		if _, err := cli.Parse(commands().Learner, []string{arg}, nil, read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
	if _, err := cli.Parse(commands().Learner, []string{"@none"}, nil, read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// Canonical arguments are parsed to the same canonical arguments.
func TestCanonicalIsAFixedPoint(t *testing.T) {
	words := []string{
		"-b18", "-l", "0.5", "-0.5", "-q", "ab", "::", "cd", "-d", "x.vw", "--", "-t", "--passes=3", "--hash", "all", "-k", "--quiet",
		"--lost_after", "5", "--termination", "1e-9", "y", "--hybrid=2:20", "-p", "stdout", "=", "-", "--holdout-off", "-C", "--nope",
	}
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(rt, "line")
		s, err := cli.Parse(commands().Learner, line, nil, noFiles)
		if err != nil {
			return
		}
		again, err := cli.Parse(commands().Learner, s.Args(), nil, noFiles)
		if err != nil {
			rt.Fatalf("%q: canonical %q: %v", line, s.Args(), err)
		}
		if !slices.Equal(s.Args(), again.Args()) {
			rt.Fatalf("%q: %q, then %q", line, s.Args(), again.Args())
		}
	})
}
