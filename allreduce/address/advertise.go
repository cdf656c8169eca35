// SPDX-License-Identifier: Apache-2.0

package address

import (
	"fmt"
	"net"
	"strconv"
)

// ParseAdvertise parses an advertised host or host:port.
func ParseAdvertise(s string) (Address, error) {
	if _, _, err := net.SplitHostPort(s); err == nil {
		a, err := Parse(s)
		if err == nil && a.Low != a.High {
			err = fmt.Errorf("%q: only one port can be advertised, not a range", s)
		}
		return a, err
	}
	return ParseHost(s)
}

// Advertise returns the host:port that a rank which listens at at advertises to others.
// advertise has the syntax of ParseAdvertise; "": the address of at. The returned host is
// empty if at means all addresses. The server then substitutes the address that it observes.
func Advertise(advertise string, at net.Addr, machine func() ([]Local, error)) (string, error) {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "", fmt.Errorf("the listener's address %v: %w", at, err)
	}
	if advertise == "" {
		if tcp, ok := at.(*net.TCPAddr); !ok || tcp.IP.IsUnspecified() {
			host = ""
		}
		return net.JoinHostPort(host, port), nil
	}
	a, err := ParseAdvertise(advertise)
	if err != nil {
		return "", err
	}
	if a.Low != 0 {
		port = strconv.Itoa(int(a.Low))
	}
	if host, err = a.Resolve(machine); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, port), nil
}
