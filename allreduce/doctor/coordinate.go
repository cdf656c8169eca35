// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// message is exchanged between rank 0 and another rank. The other rank first sends its Ways.
// Rank 0 then sends To for each path to measure, which the rank answers with that path in
// Ways. At the end rank 0 sends the Report.
type message struct {
	Ways   []Way
	To     int
	Report *Report
}

// maxMessage is the limit of a message in bytes. The report of MaxRanks ranks fits.
const maxMessage = 32 << 20

func put(c net.Conn, m message, within time.Duration) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(within))
	_, err = c.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

func get(c net.Conn, within time.Duration, total int) (m message, err error) {
	c.SetReadDeadline(time.Now().Add(within))
	return decode(c, total)
}

// decode reads a message about total ranks.
func decode(r io.Reader, total int) (m message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxMessage {
		return m, fmt.Errorf("message of %d bytes: want at most %d", n, maxMessage)
	}
	var b bytes.Buffer // it grows with the received bytes, whatever the length claims
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return m, err
	}
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		return m, err
	}
	ways := m.Ways
	if m.Report != nil {
		if len(m.Report.Ranks) != total {
			return m, fmt.Errorf("report of %d ranks: want %d", len(m.Report.Ranks), total)
		}
		ways = slices.Concat(ways, m.Report.Ways)
	}
	for _, w := range ways {
		if w.From < 0 || w.From >= total || w.To < 0 || w.To >= total {
			return m, fmt.Errorf("path from rank %d to rank %d of %d", w.From, w.To, total)
		}
	}
	if m.To < 0 || m.To >= total {
		return m, fmt.Errorf("path to rank %d of %d", m.To, total)
	}
	return m, nil
}

// examine runs this rank's part. It returns rank 0's report, or else this rank's own findings.
func (e *exam) examine(ctx context.Context) *Report {
	defer context.AfterFunc(ctx, e.closeConns)() // ends all reads and writes below, whatever deadlines they set
	e.reach(ctx)
	if e.cfg.Rank == 0 {
		return e.coordinate(ctx)
	}
	if r, err := e.follow(ctx); err == nil {
		r.Rank = e.cfg.Rank
		return r
	}
	return &Report{Rank: e.cfg.Rank, Ranks: e.ranks, Ways: e.own(), Silent: []int{0}}
}

// own returns the paths from this rank.
func (e *exam) own() []Way {
	return slices.Delete(slices.Clone(e.ways), e.cfg.Rank, e.cfg.Rank+1)
}

// follow measures paths as rank 0 requests, until it sends the report.
func (e *exam) follow(ctx context.Context) (*Report, error) {
	c, err := e.controlConn(ctx)
	if err != nil {
		return nil, err
	}
	if err := put(c, message{Ways: e.own()}, e.cfg.Patience); err != nil {
		return nil, err
	}
	for {
		m, err := get(c, e.cfg.limit(), e.cfg.Total)
		if err != nil {
			return nil, err
		}
		if m.Report != nil {
			return m.Report, nil
		}
		if err := put(c, message{Ways: []Way{e.measure(m.To)}}, e.cfg.Patience); err != nil {
			return nil, err
		}
	}
}

// controlConn returns the connection with rank 0. This rank dials it if it can.
func (e *exam) controlConn(ctx context.Context) (net.Conn, error) {
	if e.conns[0] != nil {
		return e.dial(ctx, 0, forControl)
	}
	limit := time.NewTimer(4 * e.cfg.Patience)
	defer limit.Stop()
	for {
		select {
		case a := <-e.controls:
			if a.rank == 0 {
				return a.conn, nil
			}
		case <-limit.C:
			return nil, fmt.Errorf("rank 0 has not connected")
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// controlConns returns the connections of rank 0 with the other ranks; nil for a rank without one.
func (e *exam) controlConns(ctx context.Context) []net.Conn {
	all := make([]net.Conn, e.cfg.Total)
	limit := time.NewTimer(2 * e.cfg.Patience)
	defer limit.Stop()
	for missing := e.cfg.Total - 1; missing > 0; {
		select {
		case a := <-e.controls:
			if a.rank > 0 && all[a.rank] == nil {
				all[a.rank] = a.conn
				missing--
			}
			continue
		case <-limit.C:
		case <-ctx.Done():
		}
		break
	}
	for rank, c := range all {
		if rank > 0 && c == nil && e.conns[rank] != nil {
			all[rank], _ = e.dial(ctx, rank, forControl) // on an error the rank counts as silent
		}
	}
	return all
}

// coordinate makes the ranks measure, and gathers their findings.
func (e *exam) coordinate(ctx context.Context) *Report {
	all := e.controlConns(ctx)
	n := e.cfg.Total
	found := make([][]Way, n)
	found[0] = e.own()
	for rank, c := range all {
		if c == nil {
			continue
		}
		m, err := get(c, e.cfg.Patience, n)
		if err != nil || len(m.Ways) != n-1 {
			c.Close()
			all[rank] = nil
			continue
		}
		found[rank] = m.Ways
	}
	for _, pairs := range rounds(n) {
		var busy sync.WaitGroup
		for _, p := range pairs {
			busy.Go(func() {
				for _, turn := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
					e.turn(all[turn[0]], found[turn[0]], turn[0], turn[1])
				}
			})
		}
		busy.Wait()
	}
	r := &Report{Ranks: e.ranks}
	for rank, ways := range found {
		if ways == nil {
			r.Silent = append(r.Silent, rank)
		}
		r.Ways = append(r.Ways, ways...)
	}
	slices.SortFunc(r.Ways, func(a, b Way) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	for _, c := range all {
		if c != nil {
			_ = put(c, message{Report: r}, e.cfg.Patience) // a rank that does not get it reports its own findings
		}
	}
	return r
}

// turn has one path measured, and stores the result in ways.
func (e *exam) turn(c net.Conn, ways []Way, from, to int) {
	at := slices.IndexFunc(ways, func(w Way) bool { return w.From == from && w.To == to })
	if at < 0 || ways[at].Fault != "" {
		return
	}
	if from == 0 {
		ways[at] = e.measure(to)
		return
	}
	err := put(c, message{To: to}, e.cfg.Patience)
	var m message
	if err == nil {
		m, err = get(c, e.cfg.turn(), e.cfg.Total)
	}
	if err == nil && len(m.Ways) == 1 && m.Ways[0].From == from && m.Ways[0].To == to {
		ways[at] = m.Ways[0]
		return
	}
	ways[at].Fault = fmt.Sprintf("rank %d did not answer the request to measure it: %v", from, err)
}

// rounds pairs each rank with each other. No rank is in two pairs of a round.
func rounds(n int) (all [][][2]int) {
	m := n + n%2 // one rank is idle if n is odd
	for r := range m - 1 {
		var pairs [][2]int
		for i := range m / 2 {
			a, b := (r+i)%(m-1), (r+m-1-i)%(m-1)
			if i == 0 {
				b = m - 1
			}
			if max(a, b) < n {
				pairs = append(pairs, [2]int{min(a, b), max(a, b)})
			}
		}
		all = append(all, pairs)
	}
	return all
}
