// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"net"

	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// A Group joins three parts that do not know each other: the connections (package mesh), the
// collectives of an epoch (package engine), and the steps with their recovery (package
// recovery). This file implements the interfaces through which each part uses the group.

// meshed is the group as its connections see it.
type meshed struct{ group *Group }

var _ mesh.Owner = meshed{}

func (m meshed) Current() (*client.Wiring, *mesh.Epoch) {
	e := m.group.now()
	return e.wiring, e.conns
}

func (m meshed) Newest() *client.Wiring { return m.group.member.Newest() }

func (m meshed) Serve(c net.Conn, from int, w *client.Wiring) error {
	return m.group.steps.Serve(c, from, w)
}

// recovered is the group as its steps see it.
type recovered struct{ group *Group }

var _ recovery.Job = recovered{}

func (r recovered) Current() (*client.Wiring, members.Set) {
	return r.group.wiring, r.group.live
}

func (r recovered) Enter(w *client.Wiring)      { r.group.enterEpoch(w) }
func (r recovered) EndError(doing string) error { return r.group.overError(doing) }
func (r recovered) WaitsFor() int               { return r.group.waiting().Rank }
func (r recovered) Inject(p fault.Point)        { r.group.inject(p) }
func (r recovered) Server() recovery.Server     { return r.group.member }

func (r recovered) Pull(ctx context.Context, w *client.Wiring, from int, address string, take func(c net.Conn) error) error {
	return r.group.mesh.Pull(ctx, w, from, address, take)
}
