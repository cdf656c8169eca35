// SPDX-License-Identifier: Apache-2.0

package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Address is a host, or a network that contains one of this machine's addresses, and
// the ports to try.
type Address struct {
	Host    string       // an IP address or a name; "": all addresses of this machine
	Network netip.Prefix // instead of Host, where it is valid
	Low     uint16       // the first port; 0: any free port
	High    uint16       // the last port
}

// Parse parses host:port. The package comment describes the syntax.
func Parse(s string) (a Address, err error) {
	host, ports, err := net.SplitHostPort(s)
	if err != nil {
		return a, fmt.Errorf("%q is not host:port: %w", s, err)
	}
	if a, err = ParseHost(host); err == nil {
		a.Low, a.High, err = ParsePorts(ports)
	}
	return a, err
}

// ParseHost parses a host without ports.
func ParseHost(s string) (a Address, err error) {
	host := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if strings.Contains(host, "/") {
		if a.Network, err = netip.ParsePrefix(host); err != nil {
			return a, fmt.Errorf("%q is not a network such as 10.0.0.0/8 or fd00::/8", host)
		}
		a.Network = a.Network.Masked()
		return a, nil
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsAny(host, ": \t") {
		return a, fmt.Errorf("%q is not an address, a name or a network such as 10.0.0.0/8", s)
	}
	a.Host = host
	return a, nil
}

// ParsePorts parses a port, or a range such as 26544-26600. 0 is any free port.
func ParsePorts(s string) (low, high uint16, err error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	lo, err1 := strconv.ParseUint(first, 10, 16)
	hi, err2 := strconv.ParseUint(last, 10, 16)
	switch {
	case err1 != nil || err2 != nil || isRange && lo == 0:
		return 0, 0, fmt.Errorf("%q is not a port or a range of ports such as 26544-26600", s)
	case hi < lo:
		return 0, 0, fmt.Errorf("%q: the range ends before it begins", s)
	}
	return uint16(lo), uint16(hi), nil
}

func (a Address) String() string { return net.JoinHostPort(a.host(), a.ports()) }

func (a Address) host() string {
	if a.Network.IsValid() {
		return a.Network.String()
	}
	return a.Host
}

func (a Address) ports() string {
	if a.High > a.Low {
		return fmt.Sprintf("%d-%d", a.Low, a.High)
	}
	return strconv.Itoa(int(a.Low))
}

// Local is an address of this machine.
type Local struct {
	Addr      netip.Addr
	Interface string
}

func (l Local) String() string { return fmt.Sprintf("%v (%s)", l.Addr, l.Interface) }

// errLinkLocal means that an address cannot be advertised.
var errLinkLocal = errors.New("link-local addresses are unreachable from other machines: use another network")

// Resolve returns the host. If it is a network, it returns the first of this machine's
// addresses in it.
func (a Address) Resolve(machine func() ([]Local, error)) (string, error) {
	if !a.Network.IsValid() {
		return a.Host, nil
	}
	if a.Network.Addr().IsLinkLocalUnicast() {
		return "", fmt.Errorf("%v: %w", a.Network, errLinkLocal)
	}
	all, err := machine()
	if err != nil {
		return "", fmt.Errorf("cannot list this machine's addresses: %w", err)
	}
	names := make([]string, len(all))
	for i, l := range all {
		if a.Network.Contains(l.Addr) && !l.Addr.IsLinkLocalUnicast() {
			return l.Addr.String(), nil
		}
		names[i] = l.String()
	}
	return "", fmt.Errorf("no address of this machine is in %v: it has %s", a.Network, strings.Join(names, ", "))
}

// In reports whether an address is in one of the networks. IPv4-mapped IPv6 addresses count as
// IPv4.
func In(host string, networks []netip.Prefix) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	for _, n := range networks {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}
