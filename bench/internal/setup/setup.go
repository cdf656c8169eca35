// SPDX-License-Identifier: Apache-2.0

// Package setup builds the program that a benchmark measures and describes the machine's load.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Build builds the program cmd/NAME of this tree in dir and returns its path.
func Build(ctx context.Context, dir, name string) (string, error) {
	bin := filepath.Join(dir, name)
	if err := BuildTo(ctx, bin, "github.com/gvw-project/gvw/cmd/"+name); err != nil {
		return "", err
	}
	return bin, nil
}

// BuildTo builds the program bin of a package or a file. bin is a copy of the file that the linker has written, as an
// installed program is: the start of that file takes up to a quarter more CPU time, since it lies in small pieces in the
// page cache.
func BuildTo(ctx context.Context, bin, source string) error {
	linked := bin + ".linked"
	out, err := exec.CommandContext(ctx, "go", "build", "-o", linked, source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot build %s: %w\n%s", filepath.Base(bin), err, out)
	}
	program, err := os.ReadFile(linked)
	if err == nil {
		err = os.WriteFile(bin, program, 0o700)
	}
	return errors.Join(err, os.Remove(linked))
}

// BuildTool builds a program of another module, which tools/go.mod requires, in dir and returns its path.
func BuildTool(ctx context.Context, dir, module string) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find go.mod: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	bin := filepath.Join(dir, "tool")
	cmd := exec.CommandContext(ctx, "go", "build", "-modfile=tools/go.mod", "-o", bin, module)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", module, err, out)
	}
	return bin, nil
}

// Machine returns the number of processors and their load, as one line of text.
func Machine() string { return fmt.Sprintf("%d CPUs, load %s", runtime.NumCPU(), Load()) }

// Load returns the load average of the last minute.
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
