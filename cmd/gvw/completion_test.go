// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/manual"
)

// spelled returns every way to write the options of the table's command, "" for the learner.
func spelled(table *cli.Table, name string) (all []string) {
	sets := []*cli.FlagSet{table.Learner}
	if name != "" {
		sets = table.Command(name).Sets
	}
	for _, f := range sets {
		for _, s := range f.Specs {
			all = append(all, s.Spelled())
			if s.Alias != "" {
				all = append(all, "--"+s.Alias)
			}
			if s.Short != "" {
				all = append(all, "-"+s.Short)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The manual has a page for each command, with each of its options, and no fault that the
// formatter reports.
func TestManualIsComplete(t *testing.T) {
	t.Parallel()
	table := commands()
	p := manual.FromTable("gvw", summary, table)
	dir, pages := t.TempDir(), map[string]string{}
	for _, page := range p.Pages("v1.2.3", "2026-11-23") {
		pages[page.Name] = strings.ReplaceAll(string(page.Text), `\-`, "-")
		if err := os.WriteFile(filepath.Join(dir, page.Name), page.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := len(table.Commands) + 1; len(pages) != want {
		t.Errorf("%d pages, want %d", len(pages), want)
	}
	check := func(page, name string) {
		text := pages[page]
		for _, s := range spelled(table, name) {
			if strings.HasPrefix(s, "--") && !strings.Contains(text, `\fB`+s+`\fR`) && !isAlias(table, s) {
				t.Errorf("%s lacks %s", page, s)
			}
		}
	}
	check("gvw.1", "")
	for _, c := range table.Commands {
		check("gvw-"+c.Name+".1", c.Name)
		if !strings.Contains(pages["gvw.1"], ".BR gvw-"+c.Name+" (1)\n") {
			t.Errorf("gvw.1 lacks gvw %s", c.Name)
		}
		_, line, _ := strings.Cut(pages["gvw-"+c.Name+".1"], ".SH NAME\n")
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) < 5 || strings.HasSuffix(line, ".") {
			t.Errorf("the name of gvw %s: %q", c.Name, line)
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		needs(t, "mandoc")
	}
	for name := range pages {
		if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Errorf("mandoc: %v\n%s", err, out)
		}
	}
}

// isAlias reports whether an option is the second name of another one, whose help has it.
func isAlias(table *cli.Table, name string) bool {
	return slices.ContainsFunc(table.Specs(), func(s *cli.Spec) bool { return "--"+s.Alias == name })
}

// completionOf writes the script of a shell to a file.
func completionOf(t *testing.T, shell, file string) string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		needs(t, shell)
	}
	p := manual.FromTable("gvw", summary, commands())
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(p.Completion(shell)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// bash offers every command, the options of each, and the values of an option.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	script := completionOf(t, "bash", "gvw")
	table := commands()
	lines := []string{"gvw\tEMPTY", "gvw\t-"}
	var names []string
	for _, c := range table.Commands {
		names = append(names, c.Name)
		lines = append(lines, "gvw\t"+c.Name+"\t-")
	}
	rest := len(lines)
	tests := []struct{ line, want string }{
		{"gvw\trun\t-n\t4\t--\t--bit", "--bit_precision"},
		{"gvw\ttrain.vw\t--link\tEMPTY", "identity logistic glf1 poisson"},
		{"gvw\trun\t--\t--link\t=\tid", "identity"},
		{"gvw\trun\t--\t--link\t=", "identity logistic glf1 poisson"},
		{"gvw\thadoop\tEMPTY", "split slots"},
		{"gvw\t-d\ttr", ""},       // files
		{"gvw\t--passes\tEM", ""}, // a number
	}
	for _, test := range tests {
		lines = append(lines, test.line)
	}
	cmd := exec.Command("bash", "testdata/complete.bash", script)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(out), "\n")
	if len(got) != len(lines)+1 {
		t.Fatalf("%d lines, want %d", len(got), len(lines)+1)
	}
	if diff := cmp.Diff(names, strings.Fields(got[0])); diff != "" {
		t.Error(diff)
	}
	for i, name := range append([]string{""}, names...) {
		offered := strings.Fields(got[i+1])
		slices.Sort(offered)
		if diff := cmp.Diff(spelled(table, name), slices.Compact(offered), cmp.Transformer("empty", func(s []string) string { return fmt.Sprint(s) })); diff != "" {
			t.Errorf("gvw %s: %s", name, diff)
		}
	}
	for i, test := range tests {
		if got[rest+i] != test.want {
			t.Errorf("%q: got %q, want %q", test.line, got[rest+i], test.want)
		}
	}
}

// fish offers every command, and the options of each.
func TestFishCompletion(t *testing.T) {
	t.Parallel()
	script := completionOf(t, "fish", "gvw.fish")
	table := commands()
	ask := "source " + script + "\n"
	lines := []string{"gvw ", "gvw --", "gvw run -n 4 -- --bit", "gvw --link "}
	for _, c := range table.Commands {
		lines = append(lines, "gvw "+c.Name+" --")
	}
	for _, line := range lines {
		ask += "complete -C '" + line + "'; echo END\n"
	}
	cmd := exec.Command("fish", "--no-config")
	cmd.Stdin, cmd.Dir = strings.NewReader(ask), t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	offered := map[string][]string{}
	for i, part := range strings.Split(strings.TrimSuffix(string(out), "END\n"), "END\n") {
		for line := range strings.Lines(part) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			offered[lines[i]] = append(offered[lines[i]], word)
		}
	}
	for _, c := range table.Commands {
		if !slices.Contains(offered["gvw "], c.Name) {
			t.Errorf("fish lacks %s", c.Name)
		}
	}
	for _, name := range append([]string{""}, offeredNames(table)...) {
		line := strings.Join(strings.Fields("gvw "+name+" --"), " ")
		for _, s := range spelled(table, name) {
			if strings.HasPrefix(s, "--") && !slices.Contains(offered[line], s) {
				t.Errorf("%q: fish lacks %s", line, s)
			}
		}
	}
	for line, want := range map[string]string{"gvw run -n 4 -- --bit": "--bit_precision", "gvw --link ": "poisson"} {
		if !slices.Contains(offered[line], want) {
			t.Errorf("%q: got %q, want %s among them", line, offered[line], want)
		}
	}
}

// needs skips the test for want of a program, or fails it where all must be present.
func needs(t *testing.T, tool string) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatalf("REQUIRE_ALL=1, and there is no %s", tool)
	}
	t.Skipf("needs %s", tool)
}

func offeredNames(table *cli.Table) (all []string) {
	for _, c := range table.Commands {
		all = append(all, c.Name)
	}
	return all
}

// zsh offers every command and option.
func TestZshCompletion(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(completionOf(t, "zsh", "_gvw"))
	table := commands()
	for line, want := range map[string][]string{
		"gvw ":                  offeredNames(table),
		"gvw --":                spelled(table, ""),
		"gvw run --":            spelled(table, "run"),
		"gvw hadoop ":           {"split", "slots"},
		"gvw run -n 4 -- --bit": {"--bit_precision"},
		"gvw x --link=":         {"identity", "logistic", "glf1", "poisson"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a shell that waits for its terminal does not end
		defer cancel()
		out, err := exec.CommandContext(ctx, "zsh", "-f", "testdata/complete.zsh", dir, line).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := strings.Fields(string(out))
		for _, word := range want {
			if strings.HasPrefix(word, "-") != strings.HasPrefix(word, "--") {
				continue // not for a line that ends with two dashes
			}
			if !slices.Contains(got, word) {
				t.Errorf("%q: got %q, want %s among them", line, got, word)
			}
		}
	}
}
