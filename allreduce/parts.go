// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A Group joins three parts that do not know each other: the connections (package mesh), the
// collectives of an epoch (package epoch), and the steps with their recovery (package
// recovery). This file implements the interfaces through which each part uses the group.

// meshed is the group as its connections see it.
type meshed struct{ group *Group }

var _ mesh.Owner = meshed{}

func (m meshed) Current() (*client.Wiring, *mesh.Epoch) {
	e := m.group.now()
	return e.Wiring, e.Conns
}

func (m meshed) Newest() *client.Wiring { return m.group.member.Newest() }

func (m meshed) Serve(c net.Conn, from int, w *client.Wiring) error {
	return m.group.steps.Serve(c, from, w)
}

// recovered is the group as its steps see it.
type recovered struct{ group *Group }

var _ recovery.Job = recovered{}

func (r recovered) Current() (*client.Wiring, members.Set) {
	return r.group.epoch.Wiring, r.group.epoch.Live
}

func (r recovered) Enter(w *client.Wiring)      { r.group.enterEpoch(w) }
func (r recovered) EndError(doing string) error { return r.group.epoch.OverError(doing) }
func (r recovered) WaitsFor() int               { return r.group.waiting().Rank }
func (r recovered) Inject(p fault.Point)        { r.group.epoch.Inject(p) }
func (r recovered) Server() recovery.Server     { return r.group.member }

func (r recovered) Pull(ctx context.Context, w *client.Wiring, from int, address string, take func(c net.Conn) error) error {
	return r.group.mesh.Pull(ctx, w, from, address, take)
}

// wired is the group as its epochs see it.
type wired struct{ group *Group }

var _ epoch.Job = wired{}

func (j wired) Recovers() bool           { return j.group.steps.Recovers() }
func (j wired) Failed()                  { j.group.die() }
func (j wired) Closing() <-chan struct{} { return j.group.closing }

func (j wired) LongestWork() time.Duration {
	_, longest, _ := j.group.steps.Pace()
	return longest
}

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
