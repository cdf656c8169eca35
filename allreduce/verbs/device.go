// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"fmt"
	"net/netip"
)

// Device is an RDMA device as its library describes it.
type Device struct {
	Name    string
	Ports   []Port
	Limits  Limits
	Atomics Atomics
}

// Limits are what a device can hold.
type Limits struct {
	Queues      int // queue pairs
	Works       int // work requests waiting in one of them
	Completions int // completions waiting in one queue
	Regions     int // of registered memory
	Windows     int // memory windows of type 2
}

// Windows says whether it has memory windows enough to close, after each message, what others
// may write to.
func (d *Device) Windows() string {
	if d.Limits.Windows < panes {
		return "none"
	}
	return "type 2"
}

// Atomics says against whom a device's atomic operations are atomic.
type Atomics uint8

// The kinds of atomicity.
const (
	AtomicsNone   Atomics = iota // there are no such operations
	AtomicsDevice                // against those of the same device
	AtomicsAll                   // against the processors' too
)

func (a Atomics) String() string {
	switch a {
	case AtomicsDevice:
		return "within the device"
	case AtomicsAll:
		return "with the processors too"
	}
	return "none"
}

// Port is one of a device's ports.
type Port struct {
	Number     int
	Active     bool
	State      string // in words
	Link       Link
	MTU        int    // bytes of a packet, at most
	MaxMessage int    // bytes of a message, at most
	LID        uint16 // its address in an InfiniBand subnet
	GIDs       []GID
}

// Link is what a port speaks.
type Link uint8

// The kinds of links.
const (
	LinkUnknown Link = iota
	LinkInfiniBand
	LinkEthernet // RoCE
)

func (l Link) String() string {
	switch l {
	case LinkInfiniBand:
		return "InfiniBand"
	case LinkEthernet:
		return "Ethernet"
	}
	return "unknown link"
}

// GID is an address of a port.
type GID struct {
	Index int
	Addr  netip.Addr // 16 bytes; an IPv4 address is mapped
	Kind  GIDKind
}

// GIDKind is what packets with a GID look like.
type GIDKind uint8

// The kinds of GIDs.
const (
	GIDInfiniBand GIDKind = iota
	GIDRoCE1              // not routable, and left alone here
	GIDRoCE2              // in UDP
)

func (k GIDKind) String() string {
	switch k {
	case GIDRoCE1:
		return "RoCE v1"
	case GIDRoCE2:
		return "RoCE v2"
	}
	return "InfiniBand"
}

// Place is a port of a device, and the address that it is reached at.
type Place struct {
	Device     string
	Port       int
	Link       Link
	MTU        int
	MaxMessage int
	LID        uint16
	GID        GID
	Limits     Limits
}

func (p Place) String() string {
	at := fmt.Sprintf("LID %d", p.LID)
	if p.Link == LinkEthernet {
		at = fmt.Sprintf("%v, %v", p.GID.Kind, p.GID.Addr.Unmap())
	}
	return fmt.Sprintf("%s port %d (%s, MTU %d)", p.Device, p.Port, at, p.MTU)
}
