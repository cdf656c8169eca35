// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// joinVW registers at vw's own server as a vw worker. It sends its registration, and reads ok and
// the number of children. Then it sends its port, and reads the address of its parent. The order of
// the bytes is that of all_reduce_init in vw's allreduce_sockets.cc; docs/protocol.md has the table.
func (m *Member) joinVW(ctx context.Context) (*Wiring, error) {
	// vw's server does not report missing ranks, so the error cannot name them.
	within, cancel := context.WithTimeoutCause(ctx, m.cfg.StartTimeout, &protocol.StartError{
		Job: m.cfg.Job, After: m.cfg.StartTimeout, Report: "the server is vw's own, which does not report missing ranks",
	})
	defer cancel()
	var conn net.Conn
	err := retry(within, m.cfg, func(ctx context.Context) (err error) {
		conn, err = m.cfg.Network.Dial(ctx, m.cfg.Server)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(within, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	w, err := m.registerVW(conn)
	if err != nil && within.Err() != nil {
		return nil, context.Cause(within)
	}
	return w, err
}

// registerVW exchanges the bytes of vw's protocol over a connection to the server. Numbers are
// little endian, except for addresses and ports.
func (m *Member) registerVW(conn net.Conn) (*Wiring, error) {
	ask := func(doing string, answer []byte, question ...byte) error {
		_, err := conn.Write(question)
		if err == nil {
			_, err = io.ReadFull(conn, answer)
		}
		if err != nil {
			return m.serverError(doing, err)
		}
		return nil
	}
	_, port, err := splitAdvertise(m.cfg.Advertise)
	if err != nil {
		return nil, err
	}
	var hello []byte
	for _, v := range []uint64{m.cfg.Job.UniqueID, uint64(m.cfg.Total), uint64(m.cfg.Rank)} {
		hello = binary.LittleEndian.AppendUint64(hello, v)
	}
	var ok [4]byte
	if err := ask("join a job", ok[:], hello...); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(ok[:]) != 1 {
		return nil, &protocol.RefusedError{Server: m.cfg.Server, Code: protocol.RankHeld, Reason: fmt.Sprintf(
			"vw's server has a rank %d of job %d already; it never frees the rank of a dead worker: use another unique_id", m.cfg.Rank, m.cfg.Job.UniqueID)}
	}
	var kids [2]byte
	if err := ask("wait for the other ranks", kids[:]); err != nil {
		return nil, err
	}
	w := &Wiring{Stream: true, Kids: int(binary.LittleEndian.Uint16(kids[:]))}
	if w.Kids > 2 {
		return nil, m.serverError("wire the job", fmt.Errorf("got %d children, want at most 2", w.Kids))
	}
	var parent [6]byte
	if err := ask("wire the job", parent[:], binary.BigEndian.AppendUint16(nil, port)...); err != nil {
		return nil, err
	}
	if [4]byte(parent[:4]) != [4]byte{0xff, 0xff, 0xff, 0xff} {
		w.Parent = netip.AddrPortFrom(netip.AddrFrom4([4]byte(parent[:4])), binary.BigEndian.Uint16(parent[4:])).String()
		return w, nil
	}
	// The server sends the root two more bytes than the protocol needs. Unread bytes would reset
	// the connection.
	if _, err := io.ReadFull(conn, make([]byte, 2)); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, m.serverError("wire the job", err)
	}
	return w, nil
}
