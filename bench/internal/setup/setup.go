// SPDX-License-Identifier: Apache-2.0

// Package setup builds the program that a benchmark measures and describes the machine's load.
package setup

import (
	"context"
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
	out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/gvw-project/gvw/cmd/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", name, err, out)
	}
	return bin, nil
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
