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

// OriginOf returns the origin of figures that are made now. Without a repository the commit is unknown. It ends in -dirty if a
// file differs from the commit, other than the figures: one command measures several of them.
func OriginOf(ctx context.Context, now time.Time) Origin {
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--exclude", "*").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
		changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", ":(top)", ":(top,exclude)docs/figures").Output()
		if err != nil || len(changed) > 0 {
			commit += "-dirty"
		}
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
