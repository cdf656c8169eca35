// SPDX-License-Identifier: Apache-2.0

package address

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// Machine returns the addresses of this machine's interfaces that are up, in the
// system's order.
func Machine() ([]Local, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []Local
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", i.Name, err)
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				all = append(all, Local{p.Addr().Unmap(), i.Name})
			}
		}
	}
	return all, nil
}

// Listen listens at a, on the first of its ports that is free.
func (a Address) Listen(ctx context.Context, n transport.Network, machine func() ([]Local, error)) (net.Listener, error) {
	host, err := a.Resolve(machine)
	if err != nil {
		return nil, err
	}
	for port := int(a.Low); ; port++ {
		l, err := n.Listen(ctx, net.JoinHostPort(host, strconv.Itoa(port)))
		switch {
		case err == nil || a.Low == a.High:
			return l, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case port >= int(a.High):
			return nil, fmt.Errorf("none of the %d ports %s is free: each rank of a host needs one, so use a wider range; the last error: %w",
				int(a.High)-int(a.Low)+1, a.ports(), err)
		}
	}
}
