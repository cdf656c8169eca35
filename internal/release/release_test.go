// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRelease makes the files of one platform twice, with the same bytes, and installs and
// removes the Debian package in a directory of its own.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("sampled: links both programs twice")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the test runs the programs for Linux on amd64")
	}
	for _, tool := range []string{"git", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			needs(t, tool)
		}
	}
	first, second := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, out := range []string{first, second} {
		if err := run("v9.8.7", out, []string{"linux/amd64"}); err != nil {
			t.Fatal(err)
		}
	}
	sums, again := read(t, first, "SHA256SUMS"), read(t, second, "SHA256SUMS")
	if sums != again {
		t.Errorf("two releases differ:\n%s\n%s", sums, again)
	}
	for _, name := range []string{"gvw-v9.8.7-linux-amd64.tar.gz", "gvw-v9.8.7-linux-amd64.spdx.json", "gvw_9.8.7_amd64.deb", "gvw-9.8.7-1.x86_64.rpm", "gvw-9.8.7-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl"} {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("SHA256SUMS has no %s:\n%s", name, sums)
		}
	}
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = first
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, text)
	}
	var bill struct{ Packages []spdxPackage }
	if err := json.Unmarshal([]byte(read(t, first, "gvw-v9.8.7-linux-amd64.spdx.json")), &bill); err != nil || len(bill.Packages) < 3 {
		t.Errorf("the list of modules has %d packages, %v", len(bill.Packages), err)
	}
	if err := run("v9.8.7", first, nil); err == nil || !strings.Contains(err.Error(), "want an empty directory") {
		t.Errorf("a second release in the same directory: %v", err)
	}
	t.Run("Debian package", func(t *testing.T) { installs(t, filepath.Join(first, "gvw_9.8.7_amd64.deb")) })
	t.Run("RPM package", func(t *testing.T) { readsAsRPM(t, filepath.Join(first, "gvw-9.8.7-1.x86_64.rpm")) })
	t.Run("archive", func(t *testing.T) {
		out, err := exec.Command("tar", "-tzf", filepath.Join(first, "gvw-v9.8.7-linux-amd64.tar.gz")).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"man/gvw.1", "man/gvw-run.1", "man/spanning_tree.8", "completions/gvw.bash", "completions/_gvw", "completions/spanning_tree.fish"} {
			if !strings.Contains(string(out), "gvw-v9.8.7-linux-amd64/"+name+"\n") {
				t.Errorf("the archive has no %s:\n%s", name, out)
			}
		}
	})
}

// systemFiles are files of both packages, besides completions of zsh, which Debian keeps elsewhere.
var systemFiles = []string{
	"usr/bin/gvw", "usr/bin/spanning_tree", "usr/lib/systemd/system/spanning_tree.service", "usr/lib/sysusers.d/gvw.conf",
	"usr/share/man/man1/gvw.1.gz", "usr/share/man/man1/gvw-search.1.gz", "usr/share/man/man8/spanning_tree.8.gz",
	"usr/share/bash-completion/completions/gvw", "usr/share/bash-completion/completions/spanning_tree",
	"usr/share/fish/vendor_completions.d/gvw.fish", "usr/share/doc/gvw/copyright",
}

// readsAsRPM checks the package by rpm: digests, files, their owners and scripts, and by rpmlint.
func readsAsRPM(t *testing.T, path string) {
	if _, err := exec.LookPath("rpm"); err != nil {
		needs(t, "rpm")
	}
	rpm := func(words ...string) string {
		t.Helper()
		cmd := exec.Command("rpm", append(words, path)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("rpm %q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	rpm("--checksig", "--nosignature")
	files := strings.Split(rpm("-qpl", "--nosignature"), "\n")
	for _, name := range append([]string{"usr/share/zsh/site-functions/_gvw"}, systemFiles...) {
		if !slices.Contains(files, "/"+name) {
			t.Errorf("the package has no /%s: %q", name, files)
		}
	}
	if got := rpm("-qp", "--nosignature", "--queryformat", "%{NAME} %{VERSION} %{RELEASE} %{ARCH} [%{FILEUSERNAME}]"); strings.ReplaceAll(got, "root", "") != "gvw 9.8.7 1 x86_64 " {
		t.Errorf("rpm -qp: %s", got)
	}
	if text := rpm("-qp", "--nosignature", "--scripts"); !strings.Contains(text, "systemd-sysusers gvw.conf") || !strings.Contains(text, "disable --now spanning_tree.service") {
		t.Errorf("scripts: %s", text)
	}
	if _, err := exec.LookPath("rpmlint"); err != nil {
		needs(t, "rpmlint")
	}
	out, _ := exec.Command("rpmlint", path).CombinedOutput()                                                    // it fails for want of a signature, too
	accepted := regexp.MustCompile(`E: (statically-linked-binary|no-signature|no-changelogname-tag|no-binary)`) // it looks for tags of rpmbuild
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " E: ") && !accepted.MatchString(line) {
			t.Errorf("rpmlint: %s", line)
		}
	}
	if !strings.Contains(string(out), "1 packages and 0 specfiles checked") {
		t.Errorf("rpmlint has checked nothing:\n%s", out)
	}
}

// installs installs the package with dpkg in a new root, runs gvw, and removes the package.
func installs(t *testing.T, deb string) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		needs(t, "dpkg")
	}
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := func(words ...string) {
		t.Helper()
		words = append([]string{"--root=" + root, "--log=/dev/null", "--force-not-root", "--force-script-chrootless", "--force-architecture"}, words...)
		if text, err := exec.Command("dpkg", words...).CombinedOutput(); err != nil {
			t.Fatalf("dpkg %q: %v\n%s", words, err, text)
		}
	}
	dpkg("--install", deb)
	out, err := exec.Command(filepath.Join(root, "usr/bin/gvw"), "version").Output()
	if text := string(out); err != nil || !strings.HasPrefix(text, "gvw v9.8.7 go") {
		t.Errorf("gvw version: %v, %s", err, text)
	}
	dpkg("--verify", "gvw")
	verifies(t, root)
	for _, name := range append([]string{"usr/share/zsh/vendor-completions/_gvw"}, systemFiles...) {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	offered, err := exec.Command("bash", "-c", `. "$1" && COMP_WORDS=(gvw sea) COMP_CWORD=1 && _gvw && echo "${COMPREPLY[@]}"`, "bash", filepath.Join(root, "usr/share/bash-completion/completions/gvw")).Output()
	if err != nil || string(offered) != "search\n" {
		t.Errorf("the completion of bash: %v, %q", err, offered)
	}
	dpkg("--remove", "gvw")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/gvw")); !os.IsNotExist(err) {
		t.Errorf("after the removal: %v", err)
	}
}

// TestUnitIsHardened checks the unit of spanning_tree by systemd's own measure of exposure,
// from 0 to 10.
func TestUnitIsHardened(t *testing.T) {
	t.Parallel()
	if exec.Command("systemd-analyze", "security", "--help").Run() != nil {
		needs(t, "systemd-analyze")
	}
	unit, err := filepath.Abs("../../packaging/spanning_tree.service")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit).CombinedOutput(); err != nil {
		t.Errorf("an exposure above 2.0: %v\n%s", err, text)
	}
}

// systemd does not kill a server that waits for the end of its jobs.
func TestUnitHasNoStopTimeout(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../../packaging/spanning_tree.service")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(unit), "\nTimeoutStopSec=infinity\n") {
		t.Error("spanning_tree.service has no TimeoutStopSec=infinity: after another time systemd kills a server whose jobs run")
	}
}

// A stop that the operator has asked for is no failure of the unit, also the one at once. systemd takes an exit with these
// codes, unlike an end by the signals themselves, for a failure.
func TestUnitStopsWithoutFailure(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../../packaging/spanning_tree.service")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(unit), "\nSuccessExitStatus=")
	line, _, _ := strings.Cut(after, "\n")
	for _, code := range []string{"130", "143"} { // of SIGINT and of the second SIGTERM, which the scripts of spanning_tree check
		if !slices.Contains(strings.Fields(line), code) {
			t.Errorf("got SuccessExitStatus=%s, want one with %s: systemd marks a server that was told to stop at once as failed", line, code)
		}
	}
}

// verifies checks the installed unit by systemd, and its command by the program. systemd ignores what it
// does not understand, with a warning.
func verifies(t *testing.T, root string) {
	t.Helper()
	if exec.Command("systemd-analyze", "verify", "--help").Run() != nil {
		needs(t, "systemd-analyze")
	}
	const name = "spanning_tree.service"
	verify := func() string {
		cmd := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", "--root="+root, name)
		text, err := cmd.CombinedOutput()
		if err != nil && len(text) == 0 {
			t.Fatalf("%q: %v", cmd.Args, err)
		}
		return string(text)
	}
	if text := verify(); text != "" {
		t.Errorf("the unit: %s", text)
	}
	path := filepath.Join(root, "usr/lib/systemd/system", name)
	unit, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	worse := strings.Replace(string(unit), "Restart=on-failure", "Restart=on-failures", 1)
	if err := os.WriteFile(path, []byte(worse), 0o644); err != nil {
		t.Fatal(err)
	}
	if text := verify(); !strings.Contains(text, "on-failures") {
		t.Errorf("a fault in the unit is not found: %q", text)
	}
	if err := os.WriteFile(path, unit, 0o644); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(unit), "\nExecStart=")
	command, _, _ := strings.Cut(after, "\n")
	words := append(strings.Fields(command), "--version") // the options are parsed first
	if text, err := exec.Command(filepath.Join(root, words[0]), words[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", words, err, text)
	}
}

func TestVersionsOfReleases(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "0.2.0", "v1", "v1.2.3 "} {
		if err := run(version, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "want one such as v0.2.0") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// needs skips the test for want of a program, or fails it where all must be present.
func needs(t *testing.T, tool string) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatalf("REQUIRE_ALL=1, and there is no %s", tool)
	}
	t.Skipf("needs %s", tool)
}
