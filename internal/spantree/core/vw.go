// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/binary"
	"log/slog"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// onVWHello answers ok at once, 1 or 0, as vw's own server does (run in spanning_tree.cc). vw leaves
// the connection of a refused worker open; this server closes it.
func (m *Machine) onVWHello(ev VWHello) {
	j, no := m.jobOfVW(ev)
	if no != nil {
		m.logRefusal("vw worker refused", slog.String("from", ev.From.Host), slog.Uint64("unique_id", ev.Unique),
			slog.Uint64("rank", ev.Rank), slog.Uint64("total", ev.Total), slog.String("reason", no.Reason))
		m.do(SendBytes{ev.Conn, []byte{0, 0, 0, 0}})
		m.do(CloseConn{ev.Conn})
		return
	}
	a := &attempt{conn: ev.Conn, job: j, rank: int(ev.Rank), vw: true, from: ev.From, host: ev.From.Host}
	m.sendBytes(a, 1, 0, 0, 0)
	m.admit(a)
	m.wire(j)
}

// jobOfVW returns the job that a vw worker joins, or a refusal.
func (m *Machine) jobOfVW(ev VWHello) (*job, *refusal) {
	if no := m.checkRank(ev.Rank, ev.Total); no != nil {
		return nil, no
	}
	if _, ok := ipv4(ev.From.Host); !ok {
		return nil, refuse(protocol.NoIPv4, "vw's protocol supports only IPv4; this worker's address is %s", ev.From.Host)
	}
	// vw has no run key: exactly one job with this unique_id must be filling.
	var matches []*job
	running := false
	for _, j := range m.order {
		switch {
		case j.id.UniqueID != ev.Unique:
		case j.phase == filling:
			matches = append(matches, j)
		default:
			running = true
		}
	}
	total := int(ev.Total)
	switch {
	case len(matches) > 1:
		return nil, refuse(protocol.Malformed, "%d jobs with unique_id %d are filling (%v, %v, …): give this job another unique_id", len(matches), ev.Unique, matches[0].id, matches[1].id)
	case len(matches) == 0 && running:
		return nil, refuse(protocol.RankHeld, "job %d is running", ev.Unique)
	case len(matches) == 0:
		return m.open(protocol.Job{UniqueID: ev.Unique}, total, 0)
	}
	j := matches[0]
	if j.opens() {
		return nil, refuse(protocol.RankHeld, "job %v starts with the ranks that are ready (on_loss=open), and vw's tree needs all ranks", j.id)
	}
	if len(j.removed) > 0 {
		return nil, refuse(protocol.RankHeld, "job %v starts without %s, and vw's tree needs all ranks", j.id, protocol.Ranks(sortedRanks(j.removed)))
	}
	if no := j.checkFree(int(ev.Rank), total); no != nil {
		return nil, no
	}
	for _, a := range j.members() {
		if !a.vw && !hasIPv4(a.advertise, a.from.Host) {
			return nil, refuse(protocol.NoIPv4, "rank %d (%s) of the job has no IPv4 address, so vw workers cannot reach it", a.rank, a.host)
		}
	}
	return j, nil
}

// onVWPort stores the port of a vw worker's listener. The last port completes the wiring.
func (m *Machine) onVWPort(ev VWPort) {
	a := m.Conns[ev.Conn]
	if a == nil || !a.vw || a.hasPort {
		return
	}
	if !a.kidsSent {
		m.lose(a, events.FaultProtocol, "it sent a port before it was asked for one")
		return
	}
	a.port, a.hasPort = ev.Port, true
	m.wire(a.job)
}

// startVWStream wires a job that has vw workers. vw workers then close their connections to the
// server; native ranks keep theirs.
func (m *Machine) startVWStream(j *job, tree topo.Tree, all []*attempt) {
	token := m.newEpoch(j)
	j.vwStream = true
	out := outside(all)
	for _, a := range all {
		parent := tree.Parent(a.rank)
		switch {
		case a.vw && parent == topo.None:
			// vw's server sends eight bytes ff to the root, which reads six (fail_send in
			// spanning_tree.cc, all_reduce_init in allreduce_sockets.cc).
			m.sendBytes(a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		case a.vw:
			p := all[parent]
			ip, _ := ipv4(j.addressOf(p, out))
			m.sendBytes(a, binary.BigEndian.AppendUint16(ip[:], p.port)...)
		default:
			f := &protocol.WireFrame{Epoch: j.epoch, Token: token, Kids: uint8(tree.Degree(a.rank))}
			if parent != topo.None {
				f.ParentHost, f.ParentPort = j.addressOf(all[parent], out), all[parent].port
			}
			m.send(a, f)
		}
	}
	for _, a := range all {
		if a.vw {
			m.do(CloseConn{a.conn})
			m.forget(a)
		}
	}
	for _, a := range j.attempts() {
		if !a.isHolder {
			m.send(a, &protocol.RefusedFrame{Code: protocol.RankHeld, Reason: "vw workers are in the job: it cannot use a standby"})
			m.lose(a, events.FaultDropped, "vw workers are in the job")
		}
	}
	if j.native == 0 {
		m.log(slog.LevelInfo, "job handed over to its vw workers", slog.String("job", j.id.String()))
		m.remove(j, jobHanded, protocol.Cause{Rank: -1, Why: "its vw workers do not report their end"})
	}
}
