// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// peers returns the other systems that this machine has, and those that it lacks, with reasons.
func peers(ctx context.Context, cfg Config) (found []system, absent []Absent) {
	for _, look := range []func(context.Context, Config) (system, error){openMPI, mpich, xgboost, vw} {
		s, err := look(ctx, cfg)
		if missing, ok := errors.AsType[*missingError](err); ok {
			absent = append(absent, Absent{missing.system, missing.why})
			continue
		}
		if err != nil {
			absent = append(absent, Absent{"a peer", err.Error()})
			continue
		}
		found = append(found, s)
	}
	return found, absent
}

// missingError names a peer that is not installed and how to get it.
type missingError struct{ system, why string }

func (e *missingError) Error() string { return e.system + ": " + e.why }

// speaks returns the first of several programs whose --version contains a word. Open MPI and
// MPICH both install a program named mpirun.
func speaks(ctx context.Context, word string, names ...string) (string, bool) {
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := grouped(exec.CommandContext(ctx, path, "--version")).CombinedOutput()
		if err == nil && strings.Contains(string(out), word) {
			return path, true
		}
	}
	return "", false
}

// program runs a peer's program to its end and parses the batches that its rank 0 reports.
func program(ctx context.Context, cmd *exec.Cmd) ([]Batch, error) {
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w: %s", err, lastWords(talk.String()))
	}
	return parseBatches(out.Bytes())
}

// sizesArg formats sizes as an argument of a peer's program.
func sizesArg(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
