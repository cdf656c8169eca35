// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package packages

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// debianPython is the Python of Debian's packages.
const debianPython = "/usr/bin/python3"

// limit bounds the tests of a file, which start a cluster.
const limit = 20 * time.Minute

// TestPackages runs the tests of each file with the installed wheel.
func TestPackages(t *testing.T) {
	python := os.Getenv("GVW_PLACES_PYTHON")
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and GVW_PLACES_PYTHON names no Python with PySpark and Ray: make test-places sets one up")
		}
		t.Skip("GVW_PLACES_PYTHON names no Python with PySpark and Ray: make test-places sets one up")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wheel := filepath.Join(dir, strings.TrimSpace(run(t, root, nil, "python3", filepath.Join("python", "backend", "gvw_build.py"), dir)))
	site := filepath.Join(dir, "site")
	run(t, root, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", site, wheel)
	env := append(os.Environ(), "PYTHONPATH="+site, "SPARK_LOCAL_IP=127.0.0.1", "OMP_NUM_THREADS=1")
	files, err := filepath.Glob("test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("files of tests: %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".py"), func(t *testing.T) {
			python := python
			if file == "test_torchrun.py" && exec.Command(python, "-c", "import torch").Run() != nil {
				python = debianPython // it has Debian's PyTorch, without CUDA
				if err := exec.Command(python, "-c", "import torch, numpy, pytest").Run(); err != nil {
					if os.Getenv("REQUIRE_ALL") == "1" {
						t.Fatalf("REQUIRE_ALL=1, and %s has no PyTorch (%v): make test-places installs python3-torch", python, err)
					}
					t.Skipf("%s has no PyTorch (%v): make test-places installs python3-torch", python, err)
				}
			}
			t.Log(run(t, ".", env, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=0", file))
		})
	}
}

// run runs a program, which must succeed, and returns its stdout.
func run(t *testing.T, dir string, env []string, words ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var stderr strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = dir, env, &stderr, time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", words, err, out, &stderr)
	}
	return string(out)
}
