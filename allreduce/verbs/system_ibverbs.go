// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux && cgo

package verbs

/*
#cgo LDFLAGS: -libverbs
#include "ibv.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"
)

// System returns libibverbs.
func System() Library { return ibverbs{} }

type ibverbs struct{}

// errnoOf converts an errno to an error; 0 to nil.
func errnoOf(rc C.int) error {
	if rc == 0 {
		return nil
	}
	return syscall.Errno(max(rc, -rc))
}

// each opens the devices one at a time, until f reports that it has found its device, which
// stays open.
func each(f func(name string, c *C.struct_ibv_context) (found bool, err error)) error {
	var n C.int
	list, errno := C.ibv_get_device_list(&n)
	if list == nil {
		return setupErrorf("verbs: libibverbs lists no devices: %w: check that the kernel module ib_uverbs is loaded and that /dev/infiniband exists", errno)
	}
	defer C.ibv_free_device_list(list)
	for _, d := range unsafe.Slice(list, int(n)) {
		name := C.GoString(C.ibv_get_device_name(d))
		c, errno := C.ibv_open_device(d)
		if c == nil {
			return fmt.Errorf("verbs: cannot open %s: %w", name, errno)
		}
		found, err := f(name, c)
		if found && err == nil {
			return nil
		}
		if rc := C.ibv_close_device(c); rc != 0 {
			err = errors.Join(err, fmt.Errorf("verbs: closing %s: %w", name, syscall.EIO))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (ibverbs) Devices() (all []Device, err error) {
	err = each(func(name string, c *C.struct_ibv_context) (bool, error) {
		d, err := describe(name, c)
		all = append(all, d)
		return false, err
	})
	return all, err
}

func describe(name string, c *C.struct_ibv_context) (Device, error) {
	var a C.struct_ibv_device_attr
	if err := errnoOf(C.ibv_query_device(c, &a)); err != nil {
		return Device{}, fmt.Errorf("verbs: cannot query %s: %w", name, err)
	}
	d := Device{
		Name:   name,
		Limits: Limits{Queues: int(a.max_qp), Works: int(a.max_qp_wr), Completions: int(a.max_cqe), Regions: int(a.max_mr)},
	}
	if a.device_cap_flags&(C.IBV_DEVICE_MEM_WINDOW_TYPE_2A|C.IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0 {
		d.Limits.Windows = int(a.max_mw)
	}
	switch a.atomic_cap {
	case C.IBV_ATOMIC_HCA:
		d.Atomics = AtomicsDevice
	case C.IBV_ATOMIC_GLOB:
		d.Atomics = AtomicsAll
	}
	for number := 1; number <= int(a.phys_port_cnt); number++ {
		p, err := describePort(c, number)
		if err != nil {
			return d, fmt.Errorf("verbs: cannot query %s port %d: %w", name, number, err)
		}
		d.Ports = append(d.Ports, p)
	}
	return d, nil
}

func describePort(c *C.struct_ibv_context, number int) (Port, error) {
	var a C.struct_ibv_port_attr
	if err := errnoOf(C.gvw_port(c, C.int(number), &a)); err != nil {
		return Port{}, err
	}
	p := Port{
		Number: number, Active: a.state == C.IBV_PORT_ACTIVE, State: C.GoString(C.ibv_port_state_str(a.state)),
		MTU: 128 << a.active_mtu, MaxMessage: int(a.max_msg_sz), LID: uint16(a.lid),
	}
	switch a.link_layer {
	case C.IBV_LINK_LAYER_INFINIBAND:
		p.Link = LinkInfiniBand
	case C.IBV_LINK_LAYER_ETHERNET:
		p.Link = LinkEthernet
	}
	for i := range int(a.gid_tbl_len) {
		var raw [16]byte
		var kind C.uint32_t
		if C.gvw_gid(c, C.int(number), C.int(i), (*C.uint8_t)(&raw[0]), &kind) != 0 || raw == [16]byte{} {
			continue // an unused index
		}
		g := GID{Index: i, Addr: netip.AddrFrom16(raw)}
		switch kind {
		case C.IBV_GID_TYPE_ROCE_V1:
			g.Kind = GIDRoCE1
		case C.IBV_GID_TYPE_ROCE_V2:
			g.Kind = GIDRoCE2
		}
		p.GIDs = append(p.GIDs, g)
	}
	return p, nil
}

// device is an open device with a protection domain.
type device struct {
	place Place
	ctx   *C.struct_ibv_context
	pd    *C.struct_ibv_pd
}

func (ibverbs) Open(p Place) (Context, error) {
	d := &device{place: p}
	err := each(func(name string, c *C.struct_ibv_context) (bool, error) {
		if name != p.Device {
			return false, nil
		}
		d.ctx = c
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if d.ctx == nil {
		return nil, fmt.Errorf("verbs: device %s is gone", p.Device)
	}
	pd, errno := C.ibv_alloc_pd(d.ctx)
	if pd == nil {
		C.ibv_close_device(d.ctx)
		return nil, fmt.Errorf("verbs: %s: cannot make a protection domain: %w", p.Device, errno)
	}
	d.pd = pd
	return d, nil
}

func (d *device) Close() error {
	err := errnoOf(C.ibv_dealloc_pd(d.pd))
	if C.ibv_close_device(d.ctx) != 0 {
		err = errors.Join(err, syscall.EIO)
	}
	if err != nil {
		return fmt.Errorf("verbs: closing %s: %w", d.place.Device, err)
	}
	return nil
}

// remoteWrite lets the other end write to a region.
const remoteWrite = C.IBV_ACCESS_LOCAL_WRITE | C.IBV_ACCESS_REMOTE_WRITE

func (d *device) Register(mem []byte, access Access) (Region, error) {
	flags := C.int(C.IBV_ACCESS_LOCAL_WRITE)
	switch access {
	case AccessRemote:
		flags = remoteWrite
	case AccessWindow:
		flags |= C.IBV_ACCESS_MW_BIND
	}
	var r region
	if err := errnoOf(C.gvw_register(d.pd, addressOf(mem), C.size_t(len(mem)), flags, &r.mr)); err != nil {
		return nil, err
	}
	return r, nil
}

// addressOf returns the address of mem as a number. The device uses the memory after the call,
// and its owner keeps it at its address until then.
func addressOf(mem []byte) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}

type region struct{ mr *C.struct_ibv_mr }

func (r region) Keys() (local, remote uint32) { return uint32(r.mr.lkey), uint32(r.mr.rkey) }
func (r region) Address() uint64              { return uint64(uintptr(r.mr.addr)) }
func (r region) Close() error                 { return errnoOf(C.ibv_dereg_mr(r.mr)) }

// window2 is a memory window of type 2.
type window2 struct{ mw *C.struct_ibv_mw }

func (d *device) Window() (Window, error) {
	var w window2
	if err := errnoOf(C.gvw_window(d.pd, &w.mw)); err != nil {
		return nil, err
	}
	return w, nil
}

func (w window2) Key() uint32  { return uint32(w.mw.rkey) }
func (w window2) Close() error { return errnoOf(C.gvw_window_close(w.mw)) }
