// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/shm"
)

// Config describes a rank to Find.
type Config struct {
	// Rank is this rank.
	Rank int
	// Hosts yields the ranks that take part, in ascending order, and the hosts of their addresses. Required.
	Hosts iter.Seq2[int, string]
	// Refuse means that this rank shares no memory.
	Refuse bool
	// Machine returns the identity of this machine; nil is shm.Machine.
	Machine func() (string, error)
	// Segments makes and opens segments. Required.
	Segments shm.Segments
	// Log receives the reason why this rank's host shares no memory. Required.
	Log *slog.Logger
}

// Agree reduces v by op over all ranks of the job, and stores the result in v.
type Agree func(ctx context.Context, v []uint64, op kernels.Op) error

// Found is the result of Find.
type Found struct {
	// Hosts are the ranks of each host that shares memory, in the order of their first ranks.
	Hosts [][]int
	// Ranks are the ranks of this rank's host, and Segment is its segment, which the caller
	// closes. Both are nil if this rank shares no memory.
	Ranks   []int
	Segment *shm.Segment
}

// Find finds the ranks that share memory, and opens the segment of this rank's host. Its errors are
// those of agree.
func Find(ctx context.Context, c Config, agree Agree) (found Found, err error) {
	hosts := Hosts(c.Hosts)
	if len(hosts) == 0 {
		return Found{}, nil
	}
	self := slices.IndexFunc(hosts, func(h []int) bool { return slices.Contains(h, c.Rank) })
	offers := make([]uint64, len(hosts)*offerWords)
	var seg *shm.Segment
	defer func() {
		if seg != nil && found.Segment == nil {
			seg.Close()
		}
	}()
	if self >= 0 {
		seg = c.offer(offerOf(offers, self), hosts[self])
	}
	if err := agree(ctx, offers, kernels.Max); err != nil {
		return Found{}, err
	}
	open, some := make([]uint64, len(hosts)), false
	for host := range open {
		if offerOf(offers, host).stands() {
			open[host], some = 1, true
		}
	}
	if !some {
		return Found{}, nil
	}
	if self >= 0 && open[self] == 1 && seg == nil {
		if seg, err = c.open(offerOf(offers, self).location(), hosts[self]); err != nil {
			open[self] = 0
			c.warn(err)
		}
	}
	if err := agree(ctx, open, kernels.Min); err != nil {
		return Found{}, err
	}
	for host, ranks := range hosts {
		if open[host] == 1 {
			found.Hosts = append(found.Hosts, ranks)
		}
	}
	if self >= 0 && open[self] == 1 {
		found.Ranks, found.Segment = hosts[self], seg
	}
	return found, nil
}

// Hosts returns the groups of 2 to shm.MaxRanks ranks with the same host, in the order of their first ranks. An IPv6 address may
// be in brackets.
func Hosts(all iter.Seq2[int, string]) (hosts [][]int) {
	byHost := map[string][]int{}
	for rank, host := range all {
		host = strings.Trim(host, "[]")
		if ranks := byHost[host]; len(ranks) <= shm.MaxRanks { // one more is too many, and the others need no memory
			byHost[host] = append(ranks, rank)
		}
	}
	for _, ranks := range byHost {
		if len(ranks) > 1 && len(ranks) <= shm.MaxRanks {
			hosts = append(hosts, ranks)
		}
	}
	slices.SortFunc(hosts, func(a, b []int) int { return a[0] - b[0] })
	return hosts
}

// offer fills in this rank's words. The first rank of a host makes the segment and returns it.
func (c *Config) offer(o offer, host []int) *shm.Segment {
	identity := c.Machine
	if identity == nil {
		identity = shm.Machine
	}
	machine, err := identity()
	if c.Refuse || err != nil {
		o.refuse()
		return nil
	}
	hash := fnv.New64a()
	hash.Write([]byte(machine))
	o.setMachine(hash.Sum64())
	if c.Rank != host[0] {
		return nil
	}
	_, bytes := shm.Layout(len(host))
	seg, err := c.Segments.Make(bytes, shm.ArenaBytes)
	if err != nil {
		c.warn(err)
		return nil
	}
	o.setLocation(seg.Location())
	return seg
}

// open opens the segment of the host's first rank if its length is what this version expects.
func (c *Config) open(l shm.Location, host []int) (*shm.Segment, error) {
	if _, bytes := shm.Layout(len(host)); l.Bytes != int64(bytes)+shm.SegmentHead {
		return nil, fmt.Errorf("rank %d's segment has %d bytes, want %d: is it another version of this program?", host[0], l.Bytes, bytes+shm.SegmentHead)
	}
	return c.Segments.Open(l)
}

func (c *Config) warn(err error) {
	c.Log.Warn("no shared memory between the ranks, TCP instead", "rank", c.Rank, "error", err)
}
