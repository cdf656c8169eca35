// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/checkpoint"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/rundir"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
)

func TestExitCodes(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"usage":                          {cli.Usagef("x"), 1},
		"the learner's usage":            {&learn.UsageError{Text: "x"}, 1},
		"the reader's usage":             {&stream.UsageError{Reason: "x"}, 1},
		"no RDMA device":                 {fmt.Errorf("rank 1: %w", &verbs.SetupError{Err: io.EOF}), 1},
		"data":                           {&learn.DataError{Name: "x"}, 2},
		"a damaged model":                {&model.FormatError{Kind: io.ErrUnexpectedEOF}, 2},
		"a damaged cache":                {&cache.CorruptError{}, 2},
		"a stale cache":                  {&cache.StaleError{}, 2},
		"a line":                         {&stream.DataError{Err: &feature.LimitError{}}, 2},
		"compressed data":                {&stream.DataError{Err: &hdfsio.DataError{}}, 2},
		"a lost peer":                    {&protocol.LostError{}, 3},
		"a lost peer, seen by a link":    {&allreduce.LostError{}, 3},
		"a deadline":                     {&allreduce.DeadlineError{}, 4},
		"a missing file":                 {&hdfsio.Error{Err: missing}, 5},
		"a file that cannot be read":     {&stream.DataError{Err: &hdfsio.Error{Err: syscall.EIO}}, 5},
		"a model that cannot be read":    {&model.FormatError{Kind: &hdfsio.Error{Err: syscall.EIO}}, 5},
		"a path":                         {missing, 5},
		"a refused connection":           {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, 5},
		"refused":                        {&protocol.RefusedError{}, 6},
		"given up alive":                 {&protocol.RefusedError{Code: protocol.AttemptFenced}, 3},
		"another run's place":            {&rundir.RunIDConflictError{}, 6},
		"nothing in the run's place":     {&rundir.MissingError{}, 6},
		"another job's checkpoint":       {&checkpoint.CheckpointMismatchError{Why: io.EOF}, 6},
		"another job's state":            {&learn.ProvenanceError{}, 6},
		"ranks that do not agree":        {&allreduce.MismatchError{}, 6},
		"SIGINT":                         {cli.Signalled(os.Interrupt), 130},
		"SIGTERM":                        {cli.Signalled(syscall.SIGTERM), 143},
		"a worker's":                     {&cli.ExitError{Code: 4}, 4},
		"anything":                       {errors.New("x"), 5},
		"the cause, not the cleaning up": {errors.Join(cli.Usagef("x"), missing), 1},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got := exitCode(fmt.Errorf("while learning: %w", c.err)); got != c.want {
			t.Errorf("%s, wrapped: %d, want %d", name, got, c.want)
		}
	}
}
