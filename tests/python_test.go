// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"archive/zip"
	"debug/elf"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPythonPackage builds the wheel with the programs under test and runs the tests of the
// package, with mypy, against the installed wheel.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "sklearn", "scipy", "pandas", "pytest", "mypy")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wheel := buildWheel(t, root, dir, filepath.Dir(gvwBin))
	if !testing.Short() {
		again := buildWheel(t, root, t.TempDir(), filepath.Dir(gvwBin))
		if string(mustRead(t, wheel)) != string(mustRead(t, again)) {
			t.Error("two builds of the wheel differ")
		}
	}
	site := filepath.Join(dir, "site")
	mustRun(t, root, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", site, wheel)
	env := []string{"PYTHONPATH=" + site, "PATH=" + filepath.Join(site, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "OMP_NUM_THREADS=1"}
	if out := mustRun(t, dir, env, "gvw", "version"); !strings.HasPrefix(out, "gvw ") {
		t.Errorf("gvw version: %s", out)
	}
	if testing.Short() {
		t.Log("sampled: without a second build, mypy, and most checks of scikit-learn")
		const some = "not test_contract or check_fit_idempotent or check_estimators_pickle or check_sample_weights"
		t.Log(mustRun(t, filepath.Join(root, "python"), env, python, "-m", "pytest", "-q", "-k", some))
		return
	}
	t.Log(mustRun(t, filepath.Join(root, "python"), env, python, "-m", "pytest", "-q"))
	mustRun(t, filepath.Join(root, "python"), env, python, "-m", "mypy", "--cache-dir", filepath.Join(dir, "mypy"), "gvw", "backend")
}

// TestWheelIsPortable builds the wheel as for a release: it is small, and its programs need no
// library of the system, so they load with any version of glibc.
func TestWheelIsPortable(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("sampled: builds both programs")
	}
	pythonWith(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	wheel := buildWheel(t, root, t.TempDir(), "")
	const limit = 15 << 20
	if info, err := os.Stat(wheel); err != nil || info.Size() > limit {
		t.Errorf("%s: %v, %d bytes, want at most %d", wheel, err, info.Size(), limit)
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	programs := 0
	for _, f := range archive.File {
		if !strings.Contains(f.Name, ".data/scripts/") {
			continue
		}
		programs++
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		file, err := elf.NewFile(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := file.ImportedLibraries()
		if err != nil || len(libraries) != 0 || file.Section(".interp") != nil || file.Machine != elf.EM_X86_64 {
			t.Errorf("%s: libraries %q, %v, machine %v: want a static program for x86-64", f.Name, libraries, err, file.Machine)
		}
		if f.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v", f.Name, f.Mode())
		}
	}
	if programs != 2 {
		t.Errorf("%d programs in the wheel, want 2", programs)
	}
}

// TestWheelOnOtherMachines builds the wheel without git, and in a checkout that git refuses to read.
// The wheel is for glibc and for musl.
func TestWheelOnOtherMachines(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// Python itself, since a script that chooses one may need PATH.
	python := strings.TrimSpace(mustRun(t, root, nil, pythonWith(t), "-c", "import sys; print(sys.executable)"))
	const name = "gvw-0.0.dev0-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
	for kind, programs := range map[string]map[string]string{
		"no git":       {},
		"refusing git": {"git": "exit 128"},
	} {
		bin, dir := t.TempDir(), t.TempDir()
		programs["go"] = `echo "$@" >"` + bin + `/calls"
while [ "$1" != -o ]; do shift; done
echo program >"$2/gvw"
echo program >"$2/spanning_tree"`
		for program, text := range programs {
			if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		out := mustRun(t, root, []string{"PATH=" + bin, "GVW_VERSION=", "GVW_PROGRAMS="}, python, filepath.Join("python", "backend", "gvw_build.py"), dir)
		if strings.TrimSpace(out) != name {
			t.Errorf("%s: the wheel is %s, want %s", kind, out, name)
		}
		if calls := readFile(t, filepath.Join(bin, "calls")); !strings.Contains(calls, " -buildvcs=false ") {
			t.Errorf("%s: go %s", kind, calls)
		}
		archive, err := zip.OpenReader(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		wheel, err := fs.ReadFile(archive, "gvw-0.0.dev0.dist-info/WHEEL")
		if err != nil || !strings.HasSuffix(string(wheel), "\nTag: py3-none-manylinux2014_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n") {
			t.Errorf("%s: WHEEL is %q, %v", kind, wheel, err)
		}
	}
}

// TestInterruptedBuildLeavesNoWheel ends a build by a limit on the size of files.
func TestInterruptedBuildLeavesNoWheel(t *testing.T) {
	t.Parallel()
	python := pythonWith(t)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 64 && exec "$@"`, "sh", python, filepath.Join("..", "python", "backend", "gvw_build.py"), dir)
	cmd.Env = append(os.Environ(), "GVW_PROGRAMS="+filepath.Dir(gvwBin))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "File too large") {
		t.Errorf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("the build has left %v, %v", left, err)
	}
}

// buildWheel writes the wheel into dir. programs is the directory of both programs; empty: they
// are built as for a release.
func buildWheel(t *testing.T, root, dir, programs string) string {
	t.Helper()
	out := mustRun(t, root, []string{"GVW_PROGRAMS=" + programs}, "python3", filepath.Join("python", "backend", "gvw_build.py"), dir)
	return filepath.Join(dir, strings.TrimSpace(out))
}

// mustRun runs a program, which must succeed, and returns its stdout.
func mustRun(t *testing.T, dir string, env []string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok && !strings.Contains(words[0], string(os.PathSeparator)) {
			cmd.Path = filepath.Join(filepath.SplitList(path)[0], words[0])
			cmd.Err = nil
		}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", words, err, out, &stderr)
	}
	return string(out)
}

// pythonWith returns a Python that has the packages. Without one the test is skipped.
func pythonWith(t *testing.T, packages ...string) string {
	t.Helper()
	why := "is for Linux on amd64, as the wheel"
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		why = "needs a Python with " + strings.Join(packages, ", ") + " (GVW_VW_PYTHON; make test sets one up)"
		for _, python := range []string{os.Getenv("GVW_VW_PYTHON"), "python3"} {
			if path, err := exec.LookPath(python); err == nil && exec.Command(path, "-c", "import sys, "+strings.Join(append(packages, "os"), ", ")).Run() == nil {
				path, err := filepath.Abs(path)
				if err != nil {
					t.Fatal(err)
				}
				return path
			}
		}
	}
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal("REQUIRE_ALL=1, and this " + why)
	}
	t.Skip(why)
	return ""
}
