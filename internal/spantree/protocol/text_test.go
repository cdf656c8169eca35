// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"net"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestHostPortIsThatOfNet checks addresses against those of package net, which has no function that appends.
func TestHostPortIsThatOfNet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.OneOf(rapid.StringMatching(`[a-z0-9.-]{0,12}`), rapid.SampledFrom([]string{"::1", "fe80::1%eth0", "127.0.0.1"})).Draw(t, "host")
		port := rapid.Uint16().Draw(t, "port")
		want := net.JoinHostPort(host, strconv.Itoa(int(port)))
		if got := HostPort(host, port); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := HostPort("["+host+"]", port); got != want {
			t.Errorf("of a host in brackets: got %q, want %q", got, want)
		}
		if got := string(AppendHostPort([]byte("at "), host, port)); got != "at "+want {
			t.Errorf("appended: got %q, want %q", got, "at "+want)
		}
	})
}
