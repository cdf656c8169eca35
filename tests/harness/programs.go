// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// EnvPrograms names a directory that has both programs already, so that packages of tests need not link them again.
const EnvPrograms = "GVW_TEST_PROGRAMS"

// Programs returns the directory of the named programs. It is built, the value of EnvPrograms, if that is not empty;
// otherwise it is dir, into which Programs builds them.
func Programs(ctx context.Context, built, dir string, names ...string) (string, error) {
	if built != "" {
		return built, nil
	}
	args := []string{"build", "-o", dir}
	for _, name := range names {
		args = append(args, "github.com/gvw-project/gvw/cmd/"+name)
	}
	if err := Go(ctx, nil, args...); err != nil {
		return "", fmt.Errorf("cannot build the programs: %w", err)
	}
	return dir, nil
}

// Go runs the go command, with variables in addition to those of the test.
func Go(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(cmd.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
