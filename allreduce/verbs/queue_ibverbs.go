// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux && cgo

package verbs

/*
#include "ibv.h"
*/
import "C"

import (
	"errors"
	"syscall"
	"unsafe"
)

// A packet without acknowledgement is sent again after 4.096 µs * 2^ackTimeout, 268 ms, at most
// ackRetries times, so that a lost peer is detected within some seconds. A count of 7 means
// no limit, at least with Soft-RoCE. rnrRetries is the same for a receiver without memory for
// a message, which the credits rule out.
const (
	ackTimeout = 16
	ackRetries = 6
	rnrRetries = 6
)

// queue is a queue pair with a completion queue and its channel.
type queue struct {
	d *device
	q *C.struct_gvw_queue
}

func (d *device) Queue(c QueueConfig) (Queue, error) {
	q := queue{d, (*C.struct_gvw_queue)(C.calloc(1, C.sizeof_struct_gvw_queue))}
	rc := C.gvw_queue_make(q.q, d.ctx, d.pd, C.int(d.place.Port), C.int(c.Sends), C.int(c.Receives), C.int(c.Inline), remoteWrite)
	if err := errnoOf(rc); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

func (q queue) Number() uint32 { return uint32(q.q.qp.qp_num) }
func (q queue) Inline() int    { return int(q.q.inline_max) }
func (q queue) FD() int        { return int(q.q.channel.fd) }
func (q queue) Arm() error     { return errnoOf(C.gvw_arm(q.q)) }
func (q queue) Silence()       { C.gvw_silence(q.q) }
func (q queue) Break() error   { return errnoOf(C.gvw_break(q.q)) }
func (q queue) Close() error   { return errnoOf(C.gvw_queue_close(q.q)) }

func (q queue) Connect(p Peer, psn uint32) error {
	at := q.d.place
	global := C.int(0)
	if at.Link != LinkInfiniBand {
		global = 1 // RoCE needs global addresses
	}
	return errnoOf(C.gvw_connect(q.q, C.int(at.Port), global, C.int(at.GID.Index), (*C.uint8_t)(&p.GID[0]), C.int(p.LID),
		C.uint32_t(p.Queue), C.uint32_t(p.PSN), C.uint32_t(psn), C.int(p.MTU), ackTimeout, ackRetries, rnrRetries))
}

var opcodes = [...]C.int{
	OpSend: C.IBV_WR_SEND, OpSendNote: C.IBV_WR_SEND_WITH_IMM, OpWriteNote: C.IBV_WR_RDMA_WRITE_WITH_IMM,
	OpWrite: C.IBV_WR_RDMA_WRITE,
}

// sendWindow posts an operation on a memory window.
func (q queue) sendWindow(w Work) error {
	if w.Op == OpInvalidate {
		return errnoOf(C.gvw_invalidate(q.q, C.uint64_t(w.ID), C.int(w.Op), C.uint32_t(w.RemoteKey)))
	}
	return errnoOf(C.gvw_bind(q.q, C.uint64_t(w.ID), C.int(w.Op), w.Window.(window2).mw, w.Region.(region).mr,
		addressOf(w.Mem), C.uint32_t(len(w.Mem)), C.uint32_t(w.RemoteKey)))
}

func (q queue) Send(w Work) error {
	if w.Op == OpBind || w.Op == OpInvalidate {
		return q.sendWindow(w)
	}
	now := C.int(0)
	if w.Inline {
		now = 1
	}
	return errnoOf(C.gvw_send(q.q, C.uint64_t(w.ID), C.int(w.Op), opcodes[w.Op], addressOf(w.Mem), C.uint32_t(len(w.Mem)), C.uint32_t(w.Key),
		now, C.uint32_t(w.Imm), C.uint64_t(w.Remote), C.uint32_t(w.RemoteKey)))
}

func (q queue) Receive(id uint64, mem []byte, key uint32) error {
	return errnoOf(C.gvw_receive(q.q, C.uint64_t(id), C.int(OpReceive), addressOf(mem), C.uint32_t(len(mem)), C.uint32_t(key)))
}

func (q queue) Poll(dst []Completion) (int, error) {
	n := int(C.gvw_poll(q.q, C.int(len(dst))))
	if n < 0 {
		return 0, syscall.EIO
	}
	for i, d := range unsafe.Slice(&q.q.done[0], n) {
		dst[i] = Completion{
			ID: uint64(d.id), Op: Op(d.op), Status: Status(d.status), Vendor: uint32(d.vendor),
			Len: int(d.len), Imm: uint32(d.imm), Noted: d.noted != 0,
		}
	}
	return n, nil
}
