// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	repository = "../.."
	manifests  = repository + "/packaging/kubernetes"
)

// programs is the directory of both programs, built as for an image: static, for Linux.
var programs string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	if programs = os.Getenv(envPrograms); programs != "" {
		return m.Run() // in namespaces of its own: see inNamespaces
	}
	dir, err := os.MkdirTemp("", "gvw-containers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	cmd := exec.Command("go", "build", "-o", dir, "./cmd/gvw", "./cmd/spanning_tree")
	cmd.Dir = filepath.FromSlash(repository)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if text, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", cmd.Args, err, text)
		return 1
	}
	return m.Run()
}

// missing skips a test for want of something; with REQUIRE_ALL=1 it fails it.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal("REQUIRE_ALL=1, and this ", why)
	}
	t.Skip(why)
}
