// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/pipe"
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
	maltpipe "github.com/gvw-project/gvw/malt/pipe"
	"github.com/gvw-project/gvw/model"
)

// exitCode returns the exit code for an error, by which scripts distinguish kinds of failures.
// An error may match several rows, since errors wrap others. The first match counts, so the
// order of the rows is part of the interface.
func exitCode(err error) int {
	if e, ok := errors.AsType[cli.ExitCoder](err); ok {
		return e.ExitCode()
	}
	if errors.Is(err, verbs.ErrNotBuilt) {
		return cli.ExitUsage
	}
	// A fenced attempt counts as lost and not as refused: its command line is valid, and a
	// launcher may start another attempt.
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.AttemptFenced {
		return cli.ExitLost
	}
	for _, k := range []struct {
		is   func(error) bool
		code int
	}{
		{is[*cli.UsageError], cli.ExitUsage},
		{is[*learn.UsageError], cli.ExitUsage},
		{is[*stream.UsageError], cli.ExitUsage},
		{is[*verbs.SetupError], cli.ExitUsage},
		{is[*protocol.RefusedError], cli.ExitRefused},
		{is[*checkpoint.CheckpointMismatchError], cli.ExitRefused},
		{is[*learn.ProvenanceError], cli.ExitRefused},
		{is[*rundir.RunIDConflictError], cli.ExitRefused},
		{is[*rundir.MissingError], cli.ExitRefused},
		{is[*allreduce.MismatchError], cli.ExitRefused},
		{is[*auth.Error], cli.ExitRefused},
		{is[*hdfsio.DataError], cli.ExitData},
		{is[*allreduce.LostError], cli.ExitLost},
		{is[*protocol.LostError], cli.ExitLost},
		{is[*allreduce.DeadlineError], cli.ExitDeadline},
		{is[*protocol.StartError], cli.ExitDeadline},
		{is[*protocol.ServerError], cli.ExitLost},
		{is[*hdfsio.Error], cli.ExitIO},
		{is[*fs.PathError], cli.ExitIO},
		{is[*learn.DataError], cli.ExitData},
		{is[*model.FormatError], cli.ExitData},
		{is[*cache.CorruptError], cli.ExitData},
		{is[*cache.StaleError], cli.ExitData},
		{is[*feature.LimitError], cli.ExitData},
		{is[*stream.DataError], cli.ExitData},
		{is[*pipe.DataError], cli.ExitData},
		{is[*maltpipe.DataError], cli.ExitData},
		{is[*net.OpError], cli.ExitIO},
		{is[*os.SyscallError], cli.ExitIO},
		{is[syscall.Errno], cli.ExitIO},
	} {
		if k.is(err) {
			return k.code
		}
	}
	return cli.ExitIO // errors of no listed type come from files and connections
}

// is reports whether the chain of err has an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
