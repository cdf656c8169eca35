// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/spantree"
)

// membership is what a group needs of the server's client.
type membership interface {
	Ready(ctx context.Context, s spantree.Shard) (*spantree.Wiring, error)
	Over() <-chan struct{}
	Cause() error
	Report(p spantree.Progress)
	Fail(ctx context.Context, reason string) error
	Complete(ctx context.Context, sha256 [32]byte, owes []string) (deliver []string, err error)
	Done(ctx context.Context, file string, sha256 [32]byte) error
	Bye(ctx context.Context) error
	Close() error
}

var _ membership = (*spantree.Member)(nil)
