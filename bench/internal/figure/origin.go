// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Origin is where and when a figure was made.
type Origin struct{ Commit, Machine, Date string }

// OriginOf returns the origin of figures that are made now. Without a repository the commit is unknown.
func OriginOf(ctx context.Context, now time.Time) Origin {
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	return Origin{commit, fmt.Sprintf("%s/%s, %d processors%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processorName()), now.UTC().Format(time.DateOnly)}
}

// processorName returns the name of the processor after a comma, where Linux has it.
func processorName() string {
	in, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer in.Close()
	for s := bufio.NewScanner(in); s.Scan(); {
		if key, name, _ := strings.Cut(s.Text(), ":"); strings.TrimSpace(key) == "model name" {
			return ", " + strings.TrimSpace(name)
		}
	}
	return ""
}
