// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/compatibility.md anew")

// docs/compatibility.md is up to date.
func TestPageIsCurrent(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "compatibility.md")
	if *update {
		if err := os.WriteFile(page, Page(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(Page()), string(got)); diff != "" {
		t.Errorf("docs/compatibility.md is out of date; write it again: go test ./internal/compat -update (-want +got):\n%s", diff)
	}
}

func TestListIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range All() {
		for _, name := range []string{o.Name, o.Short} {
			if name != "" && seen[name] {
				t.Errorf("%s occurs twice", name)
			}
			seen[name] = true
		}
		if !regexp.MustCompile(`^[A-Za-z0-9_]{2,}$`).MatchString(o.Name) {
			t.Errorf("%q is no long name", o.Name)
		}
		if (o.Accepted() || o.Class == Refused) && o.Remark == "" {
			t.Errorf("--%s is %v without a reason or a remedy", o.Name, o.Class)
		}
		if got, ok := Find(o.Name); !ok || got != o {
			t.Errorf("Find(%q) = %v, %v", o.Name, got, ok)
		}
	}
	if _, ok := Find("no_such_option"); ok {
		t.Error("Find returns an option that vw does not have")
	}
	if o, ok := FindShort("b"); !ok || o.Name != "bit_precision" || o.Values != One {
		t.Errorf("-b is %v, %v", o, ok)
	}
	if _, ok := FindShort(""); ok {
		t.Error("FindShort returns an option for the empty letter")
	}
}

// The list has the options that the real vw prints in its help.
func TestListAgainstVW(t *testing.T) {
	python := os.Getenv("GVW_VW_PYTHON")
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("no real vw: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
		}
		t.Skip("no real vw to compare with: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
	}
	cmd := exec.CommandContext(t.Context(), python, "-m", "vowpalwabbit", "--help")
	cmd.Stdin = bytes.NewReader(nil)
	help, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, help)
	}
	type shape struct {
		Short  string
		Values Values
	}
	want := map[string]shape{}
	for _, m := range regexp.MustCompile(`(?m)^    (?:-(\w), )?--(\S+)( arg(?:s\.\.\.)?)?`).FindAllStringSubmatch(string(help), -1) {
		want[strings.ReplaceAll(m[2], "-", "_")] = shape{m[1], map[string]Values{"": None, " arg": One, " args...": Many}[m[3]]}
	}
	got := map[string]shape{}
	for _, o := range All() {
		if o.Group == Driver {
			continue
		}
		got[o.Name] = shape{o.Short, o.Values}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vw's help and the list differ (-vw +list):\n%s", diff)
	}
}
