// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/launch"
)

// lastOrders is the time that a run has to remove its files after it was told
// to end. Then, or at a second signal, the process ends as it is; files under
// their final names are whole at any time.
const lastOrders = 5 * time.Second

// sameSignal is how long after a signal another one is taken for the same: some
// launchers signal both a process and its children, which pass it on.
const sameSignal = 500 * time.Millisecond

// interruption is why a run was told to end from outside.
type interruption struct {
	text string
	code int
	err  error // what it means to the job; nil: the end
}

func (e *interruption) Error() string { return e.text }
func (e *interruption) Unwrap() error { return e.err }

// orders say how a process takes a signal. The zero value is for what a person
// started.
type orders struct {
	quick  bool // it is killed right after it was told to end
	leaves bool // that is no fault of the job's, and another attempt may come
}

// quickOrders is the time between SIGTERM and the end of a process that will be killed
// soon: YARN's default is 250 ms.
const quickOrders = 150 * time.Millisecond

// interruptible returns a context that ends at SIGINT, SIGTERM, or a call of
// stop with a cause. stop without one releases the handler, once the run is over.
func interruptible(parent context.Context, stderr io.Writer, how orders) (ctx context.Context, stop func(cause ...*interruption)) {
	same, last := sameSignal, lastOrders
	if how.quick {
		same, last = 0, quickOrders
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A reader that goes away (a pipe to head, a launcher) makes a write fail; it
	// must not end the process before its files are removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	over := make(chan struct{})
	die := func(why *interruption) {
		underWay.remove()
		fmt.Fprintln(stderr, "gvw: "+why.text)
		os.Exit(why.code)
	}
	// It ends with the process: its work is to end the process.
	go func() {
		var why *interruption
		select {
		case sig := <-signals:
			why = signalled(sig)
			if how.leaves {
				why.err = allreduce.ErrLeaving
			}
			cancel(why)
		case <-ctx.Done():
			var ok bool
			if why, ok = context.Cause(ctx).(*interruption); !ok {
				return
			}
		}
		began := time.Now()
		late := time.After(last)
		for time.Since(began) < same {
			select {
			case <-over:
				return
			case <-time.After(same - time.Since(began)):
			case <-signals:
			}
		}
		select {
		case <-over:
			return
		case <-signals:
		case <-late:
		}
		die(why)
	}()
	var once sync.Once
	return ctx, func(cause ...*interruption) {
		for _, c := range cause {
			cancel(c)
			return
		}
		once.Do(func() {
			signal.Stop(signals)
			close(over)
			cancel(nil)
		})
	}
}

func signalled(sig os.Signal) *interruption {
	if sig == os.Interrupt {
		return &interruption{text: "interrupted (SIGINT); no file was left half written", code: 130}
	}
	return &interruption{text: "told to end (SIGTERM); no file was left half written", code: 143}
}

// watchLauncher ends the run when the launcher that started this process dies.
func watchLauncher(env []string, stop func(...*interruption)) error {
	for _, kv := range env {
		value, found := strings.CutPrefix(kv, launch.EnvLifeline+"=")
		if !found || value == "" {
			continue
		}
		fd, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return usageErrorf("%s=%s is no file descriptor: gvw run sets this variable, nobody else should", launch.EnvLifeline, value)
		}
		launch.Watch(os.NewFile(uintptr(fd), "launcher"), func() {
			stop(&interruption{text: launch.ErrLauncherGone.Error() + ": ended, and left no file half written", code: 3})
		})
	}
	return nil
}
