// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/cli"
)

// showVerbs lists the RDMA devices of this machine, and the one that --verbs_device auto takes.
func showVerbs(p *cli.Process) error {
	devices, err := verbs.System().Devices()
	if err != nil {
		return err
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\tport\tstate\tlink\tMTU\tmessage\tatomics\twindows\taddresses")
	for _, d := range devices {
		for _, port := range d.Ports {
			fmt.Fprintf(t, "%s\t%d\t%s\t%v\t%d\t%d KiB\t%v\t%v\t%s\n", d.Name, port.Number, port.State, port.Link, port.MTU,
				port.MaxMessage>>10, d.Atomics, d.Windows(), portAddresses(port))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// Registered memory is locked, and the limit is a frequent cause of failing registrations.
	if limit := verbs.LockLimit(); limit != verbs.NoLimit {
		fmt.Fprintf(&b, "this process may lock %d KiB of memory (ulimit -l; no limit for root); each link takes 1228 KiB\n", limit>>10)
	}
	place, err := verbs.Choose(devices, verbs.Auto, netip.Addr{})
	if err == nil {
		fmt.Fprintf(&b, "--verbs_device auto, reached at any address: %v\n", place)
	}
	return errors.Join(p.Print(b.String()), err)
}

// portAddresses returns the addresses at which other ranks reach the port.
func portAddresses(p verbs.Port) string {
	if p.Link == verbs.LinkInfiniBand {
		return fmt.Sprintf("LID %d", p.LID)
	}
	var all []string
	for _, g := range p.GIDs {
		if g.Kind == verbs.GIDRoCE2 {
			all = append(all, g.Addr.Unmap().String())
		}
	}
	if all == nil {
		return "none over RoCE v2"
	}
	return strings.Join(all, " ")
}
