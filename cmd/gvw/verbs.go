// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/cli"
)

// checkTransport holds that verbs go with what is given beside them.
func checkTransport(s *settings) (errs []error) {
	how := s.get("transport")
	if s.has("verbs_device") {
		if how != "verbs" && how != "auto" {
			errs = append(errs, cli.Usagef("--verbs_device would be ignored: add --transport verbs or auto"))
		}
		if err := verbs.CheckDevice(s.get("verbs_device")); err != nil {
			errs = append(errs, cli.Usagef("--verbs_device: %w", err))
		}
	}
	if how == "verbs" && s.has("tls_cert") {
		errs = append(errs, cli.Usagef("--transport verbs cannot go with --tls_cert: what goes over verbs is not under TLS"))
	}
	return errs
}

// showVerbs lists the RDMA devices.
func (p *program) showVerbs() error {
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
	if limit := verbs.LockLimit(); limit != verbs.NoLimit {
		fmt.Fprintf(&b, "this process may lock %d KiB of memory (ulimit -l), root as much as it likes; each edge takes 1228 KiB\n", limit>>10)
	}
	place, err := verbs.Choose(devices, verbs.Auto, netip.Addr{})
	if err == nil {
		fmt.Fprintf(&b, "--verbs_device auto, reached at any address: %v\n", place)
	}
	return errors.Join(p.Print(b.String()), err)
}

// portAddresses are those that others reach the port at.
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
