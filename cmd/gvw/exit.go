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
	"github.com/gvw-project/gvw/internal/rundir"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
)

// Exit codes; 130 and 143 are a shell's for SIGINT and SIGTERM.
const (
	exitUsage    = 1
	exitData     = 2
	exitLost     = 3
	exitDeadline = 4
	exitIO       = 5
	exitRefused  = 6
)

// exitCode tells scripts what kind of failure this was. An error may be several
// things (damaged data found while reading a file); the first that fits counts.
func exitCode(err error) int {
	if e, ok := errors.AsType[*interruption](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[*workerError](err); ok {
		return e.code
	}
	if errors.Is(err, verbs.ErrNotBuilt) {
		return exitUsage
	}
	// Who was given up alive is lost, not wrong: another attempt is welcome.
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.AttemptFenced {
		return exitLost
	}
	for _, k := range []struct {
		is   func(error) bool
		code int
	}{
		{is[*usageError], exitUsage},
		{is[*learn.UsageError], exitUsage},
		{is[*stream.UsageError], exitUsage},
		{is[*verbs.SetupError], exitUsage},
		{is[*protocol.RefusedError], exitRefused},
		{is[*checkpoint.StrangeError], exitRefused},
		{is[*learn.OriginError], exitRefused},
		{is[*rundir.TakenError], exitRefused},
		{is[*rundir.MissingError], exitRefused},
		{is[*slotsError], exitRefused},
		{is[*allreduce.MismatchError], exitRefused},
		{is[*auth.Error], exitRefused},
		{is[*hdfsio.DataError], exitData},
		{is[*allreduce.LostError], exitLost},
		{is[*protocol.LostError], exitLost},
		{is[*allreduce.DeadlineError], exitDeadline},
		{is[*protocol.StartError], exitDeadline},
		{is[*protocol.ServerError], exitLost},
		{is[*hdfsio.Error], exitIO},
		{is[*fs.PathError], exitIO},
		{is[*learn.DataError], exitData},
		{is[*model.FormatError], exitData},
		{is[*cache.CorruptError], exitData},
		{is[*cache.StaleError], exitData},
		{is[*feature.LimitError], exitData},
		{is[*stream.DataError], exitData},
		{is[*pipe.DataError], exitData},
		{is[*net.OpError], exitIO},
		{is[*os.SyscallError], exitIO},
		{is[syscall.Errno], exitIO},
	} {
		if k.is(err) {
			return k.code
		}
	}
	return exitIO
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
