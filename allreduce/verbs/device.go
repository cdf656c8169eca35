// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"fmt"
	"net/netip"
)

// Device describes an RDMA device.
type Device struct {
	Name    string
	Ports   []Port
	Limits  Limits
	Atomics Atomics
}

// Limits are the resources of a device.
type Limits struct {
	Queues      int // number of queue pairs
	Works       int // pending work requests per queue pair
	Completions int // pending completions per completion queue
	Regions     int // number of registered memory regions
	Windows     int // number of memory windows of type 2
}

// Windows returns "type 2" if the device has enough memory windows to revoke access to each
// slot after its message, and "none" otherwise.
func (d *Device) Windows() string {
	if d.Limits.Windows < windowSlots {
		return "none"
	}
	return "type 2"
}

// Atomics is the scope of a device's atomic operations.
type Atomics uint8

// The kinds of atomicity.
const (
	AtomicsNone   Atomics = iota // no atomic operations
	AtomicsDevice                // atomic with operations of the same device
	AtomicsAll                   // atomic with operations of processors, too
)

func (a Atomics) String() string {
	switch a {
	case AtomicsDevice:
		return "within the device"
	case AtomicsAll:
		return "with processors, too"
	}
	return "none"
}

// Port is one of a device's ports.
type Port struct {
	Number     int
	Active     bool
	State      string // the device's description of its state
	Link       Link
	MTU        int    // limit of a packet in bytes
	MaxMessage int    // limit of a message in bytes
	LID        uint16 // its address in an InfiniBand subnet
	GIDs       []GID
}

// Link is the link layer of a port.
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

// GIDKind is the packet format of a GID.
type GIDKind uint8

// The kinds of GIDs.
const (
	GIDInfiniBand GIDKind = iota
	GIDRoCE1              // not routable, and not used
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

// Place is a port of a device and the address to use on it.
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
