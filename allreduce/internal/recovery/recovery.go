// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// ErrNoResults means that a machine has the state after a step but not the step's results,
// since it came to it by ReadState.
var ErrNoResults = errors.New("this rank has the state after the step, but not its results")

// State is the part of a machine that recovery copies and replaces. allreduce.Recoverable has
// the contract of its methods.
type State interface {
	WriteState(w io.Writer) error
	ReadState(r io.Reader) error
	WriteResults(w io.Writer) error
	ReadResults(r io.Reader) error
	Commit() error
}

// shrinker is a State that can continue without lost ranks.
type shrinker interface{ Shrink(live []int) error }

// Config describes a rank to its recovery.
type Config struct {
	// Rank is this process's number; -1: a spare, until SetRank.
	Rank int
	// Total is the number of ranks with which the job began.
	Total int
	// Stall is the time without a byte after which a transfer is stalled: the server is asked
	// for another source. Required.
	Stall time.Duration
	// Elastic means that the job may start without some ranks.
	Elastic bool
	// Checkpoints keeps states; nil: none are kept. Only rank 0 uses it.
	Checkpoints Checkpoints
	// CheckpointEvery is the number of steps between two checkpoints; 0 is 1.
	CheckpointEvery int
	// Events keeps the last events of the rank; nil: none.
	Events *events.Ring
	// Log receives long waits and transfers. Required.
	Log *slog.Logger
}

// Job is what recovery needs of the job's other parts. Only the runner calls Enter.
type Job interface {
	// Current returns the epoch that this rank is in, nil before the first, and its members.
	Current() (w *client.Wiring, live members.Set)
	// Enter ends the epoch that this rank is in, begins that of w, and calls [Steps.Begin].
	Enter(w *client.Wiring)
	// EndError returns the error of what was interrupted by the end of the current epoch.
	EndError(doing string) error
	// WaitsFor returns the rank that this rank waits for in a collective; -1: none.
	WaitsFor() int
	// Pull connects to the rank from at an address and calls take with the connection.
	Pull(ctx context.Context, w *client.Wiring, from int, address string, take func(c net.Conn) error) error
	// Inject injects the fault that is configured for a point, if any.
	Inject(p fault.Point)
	// Server returns the connection to the server, once this rank has joined the job.
	Server() Server
}

// Server is what recovery needs of the server's client.
type Server interface {
	// Next waits for the epoch that follows another one.
	Next(ctx context.Context, after *client.Wiring) (*client.Wiring, error)
	// Ended returns a channel that is closed when an epoch has ended.
	Ended(w *client.Wiring) <-chan struct{}
	// Over returns a channel that is closed when the job has ended.
	Over() <-chan struct{}
	// ServerErr returns why the server is lost; nil: it is not.
	ServerErr() error
	// Ask reports a fault of the connection to a peer.
	Ask(ctx context.Context, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool
	// Lease waits until the server is known to count on this rank.
	Lease(ctx context.Context) error
}

// Step is the part of a step that follows its work.
type Step struct {
	Exchange func(ctx context.Context) error // the collectives
	Commit   func() error                    // local and deterministic
}

// SourceLostError means that what this rank has to take is gone: the checkpoint was removed, or
// every rank that had the state was lost. This attempt is lost; another one can continue.
type SourceLostError struct{ Err error }

func (e *SourceLostError) Error() string { return e.Err.Error() }

// Unwrap returns what is gone.
func (e *SourceLostError) Unwrap() error { return e.Err }
