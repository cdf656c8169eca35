// SPDX-License-Identifier: Apache-2.0

package address

import (
	"fmt"
	"net"
	"strconv"
)

// ParseAdvertise reads a host, or host:port, that others are to be told.
func ParseAdvertise(s string) (Address, error) {
	if _, _, err := net.SplitHostPort(s); err == nil {
		a, err := Parse(s)
		if err == nil && a.Low != a.High {
			err = fmt.Errorf("%q: others are told one port, not a range", s)
		}
		return a, err
	}
	return ParseHost(s)
}

// Advertise is the host:port that others are told of a rank that listens at at.
// advertise is what ParseAdvertise reads; "": the address of at. The host is empty
// where at means all addresses: then the server's view counts.
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
