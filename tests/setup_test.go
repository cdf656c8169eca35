// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Debian packages are installed only with consent: by make setup, or in a CI. Otherwise the
// script prints their names and the command.
func TestPackagesAreInstalledOnlyWithConsent(t *testing.T) {
	bash := lookPath(t, "bash")
	for name, c := range map[string]struct {
		env       []string
		user      string
		packages  []string
		installed string // arguments of apt-get
		ok        bool
		says      string
	}{
		"no consent":      {nil, "0", []string{"here", "away"}, "", false, "missing: away (for the test). Install with: make setup, or as root: apt-get install"},
		"nothing missing": {nil, "0", []string{"here"}, "", true, ""},
		"CI is not true":  {[]string{"CI=false"}, "0", []string{"away"}, "", false, "make setup"},
		"a CI":            {[]string{"CI=true"}, "0", []string{"here", "away"}, "install -y -q --no-install-recommends away\n", true, "installing away"},
		"make setup":      {[]string{"GVW_INSTALL=1"}, "0", []string{"away"}, "install -y -q --no-install-recommends away\n", true, "installing away"},
		"without root":    {[]string{"GVW_INSTALL=1"}, "1000", []string{"away"}, "sudo install -y -q --no-install-recommends away\n", true, "installing away"},
		"an old list":     {[]string{"GVW_INSTALL=1", "OLD=1"}, "0", []string{"away"}, "install -y -q --no-install-recommends away\nupdate -q\ninstall -y -q --no-install-recommends away\n", true, "installing away"},
		"cannot be had":   {[]string{"GVW_INSTALL=1", "NONE=1"}, "0", []string{"away"}, "install -y -q --no-install-recommends away\nupdate -q\n", false, "installing away"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			calls := filepath.Join(dir, "calls")
			for program, text := range map[string]string{
				"id":   `echo ` + c.user,
				"dpkg": `[ "$2" = here ]`,
				"sudo": `AS=sudo exec "$@"`,
				"env":  `while [ "${1#*=}" != "$1" ]; do export "$1"; shift; done; exec "$@"`,
				"apt-get": `echo ${AS:-} "$@" >>` + calls + `
[ -z "${NONE:-}" ] || exit 100
[ -z "${OLD:-}" ] || [ "$1" = update ] || grep -q update ` + calls,
				"grep": `exec ` + lookPath(t, "grep") + ` "$@"`,
			} {
				writeFile(t, filepath.Join(dir, program), "#!"+bash+"\n"+text+"\n")
				if err := os.Chmod(filepath.Join(dir, program), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(bash, append([]string{"../scripts/install.sh", "the test"}, c.packages...)...)
			cmd.Env = append([]string{"PATH=" + dir}, c.env...)
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.ok || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, %q; want success %v, and %q", err, out, c.ok, c.says)
			}
			got, _ := os.ReadFile(calls) // none: no calls
			if string(got) != c.installed {
				t.Errorf("apt-get was called with %q, want %q", got, c.installed)
			}
		})
	}
}

// setup-vw.sh removes only an environment that it has made. It uses any that has vw.
func TestSetupVWKeepsAnEnvironment(t *testing.T) {
	bash := lookPath(t, "bash")
	// The file no-vw is in the environments that lack vw.
	const python = `#!/bin/sh
case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-c "*vowpalwabbit*) ! [ -e "$(dirname "$0")/no-vw" ] ;;
esac
`
	for name, c := range map[string]struct {
		files   []string // of .venv
		code    int
		says    string
		removed bool
	}{
		"none":                {nil, 0, "", false},
		"with vw":             {[]string{"bin/python"}, 0, "", false},
		"without vw":          {[]string{"bin/python", "bin/no-vw"}, 1, "GVW_VW_PYTHON", false},
		"of the script":       {[]string{"bin/python", ".made-by-setup-vw"}, 0, "", false},
		"that is out of date": {[]string{"bin/python", "bin/no-vw", ".made-by-setup-vw"}, 0, "", true},
		"of a killed script":  {[]string{".made-by-setup-vw"}, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			venv := filepath.Join(dir, ".venv")
			for _, d := range []string{filepath.Join(dir, "scripts"), filepath.Join(venv, "bin")} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, filepath.Join(dir, "scripts", "setup-vw.sh"), readFile(t, "../scripts/setup-vw.sh"))
			writeFile(t, filepath.Join(dir, "own"), python)
			writeFile(t, filepath.Join(venv, "precious"), "")
			for _, f := range c.files {
				writeFile(t, filepath.Join(venv, f), python)
			}
			if c.files == nil {
				if err := os.RemoveAll(venv); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range []string{filepath.Join(dir, "own"), filepath.Join(venv, "bin", "python")} {
				if err := os.Chmod(f, 0o755); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(bash, filepath.Join(dir, "scripts", "setup-vw.sh"))
			cmd.Env = append(os.Environ(), "GVW_PYTHON="+filepath.Join(dir, "own"))
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, _ := cmd.Output() // an error: the exit code is checked below
			if got := cmd.ProcessState.ExitCode(); got != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Fatalf("exit code %d, want %d with %q:\n%s", got, c.code, c.says, &stderr)
			}
			if c.code == 0 && strings.TrimSpace(string(out)) != filepath.Join(venv, "bin", "python") {
				t.Errorf("it prints %q", out)
			}
			if _, err := os.Stat(filepath.Join(venv, "precious")); c.files != nil && os.IsNotExist(err) != c.removed {
				t.Errorf("removed %v, want %v", os.IsNotExist(err), c.removed)
			}
			if _, err := os.Stat(filepath.Join(venv, ".made-by-setup-vw")); (c.removed || c.files == nil) && err != nil {
				t.Errorf("the new environment has no mark: %v", err)
			}
		})
	}
}

// Only one script installs Debian packages.
func TestOneScriptInstallsPackages(t *testing.T) {
	for _, pattern := range []string{"../scripts/*", "../.ci/*", "../Makefile"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if fi, err := os.Stat(file); err != nil || fi.IsDir() || filepath.Base(file) == "install.sh" {
				continue
			}
			if strings.Contains(readFile(t, file), "apt-get") {
				t.Errorf("%s calls apt-get: call scripts/install.sh", file)
			}
		}
	}
}
