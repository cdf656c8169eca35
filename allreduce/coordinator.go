// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// coordinator is the part of the server's client that a group uses. Tests replace it.
type coordinator interface {
	Members(ctx context.Context) (live []int, err error)
	Excluded() bool
	Ready(ctx context.Context, s Shard) (*client.Wiring, error)
	Next(ctx context.Context, after *client.Wiring) (*client.Wiring, error)
	Newest() *client.Wiring
	Ended(w *client.Wiring) <-chan struct{}
	EndOf(w *client.Wiring) error
	Ask(ctx context.Context, peer int, collective uint64, fault protocol.EdgeFault, detail string) bool
	Lease(ctx context.Context) error
	Over() <-chan struct{}
	ServerErr() error
	Cause() error
	Report(p Progress)
	Fail(ctx context.Context, reason, detail string) error
	SetLeaveReason(why string)
	Complete(ctx context.Context, sha256 [32]byte, owes []string) (deliver []string, err error)
	Delivered(ctx context.Context, file string, sha256 [32]byte) error
	Finish(ctx context.Context) error
	Close() error
}

var _ coordinator = (*client.Member)(nil)
