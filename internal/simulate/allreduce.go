// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/topo"
)

// Config describes an all-reduce.
type Config struct {
	// Ranks is the number of ranks, 1 to [MaxRanks]. Required.
	Ranks int
	// Bytes is the length of the vector, a multiple of Elem. Required.
	Bytes int
	// Elem is the size of an element in bytes. 0: 4.
	Elem int
	// Schedule of the all-reduce. 0: the one that gvw chooses.
	Schedule schedule.Name
	// VW simulates vw's own all-reduce instead: one tree, along which nothing comes down before the whole vector has
	// gone up. Schedule must be 0.
	VW bool
	// Chunk is the number of bytes of a message. 0: the default of gvw, and 64 KiB with VW.
	Chunk int
	// Network between the ranks.
	Network Network
	// Processor of a rank.
	Processor Processor
	// Enter are the times at which the ranks enter the all-reduce. nil: all at 0.
	Enter []time.Duration
}

// Processor describes the work of a rank's thread. It does one thing at a time.
type Processor struct {
	// Message is the time to write a part, and the time to read one. 0: none.
	Message time.Duration
	// Move is the time to write or read a byte, in ns. 0: none.
	Move float64
	// Add is the time to add a byte to a vector, in ns. 0: none.
	Add float64
}

// Usual is a processor with the constants that schedule.OneHost and schedule.Network have: its Beta is the time to move a
// byte from rank to rank, of which one end has half.
var Usual = Processor{Message: schedule.OneHost.Overhead, Move: schedule.OneHost.Beta / 2, Add: schedule.Network.Gamma}

const (
	// MaxRanks is the limit of Config.Ranks.
	MaxRanks = 10_000
	// MaxSteps is the limit of the steps of all ranks' programs. A step takes about 100 bytes of memory.
	MaxSteps = 25_000_000
	// maxDirect is the number of ranks that may all be connected to each other.
	maxDirect = 512
	// frameSize is the size of the header of a part.
	frameSize = 16
	// vwChunk is the size of vw's buffers.
	vwChunk = 64 << 10
)

// Result is the outcome of a simulation.
type Result struct {
	Schedule schedule.Name // that was simulated; VWTree with Config.VW
	// Time from the first entry to the end of the last rank.
	Time time.Duration
	// Done are the times at which the ranks have the result.
	Done []time.Duration
	// Busiest is the number of bytes on the wire of the busiest direction of a link, with headers.
	Busiest int64
	// Events is the number of simulated events.
	Events uint64
}

// Bound returns the time that no all-reduce of a long vector without headers can beat: each rank sends and receives all of
// the vector but its own share twice.
func (c Config) Bound() time.Duration {
	if c.Ranks < 2 {
		return 0
	}
	n := float64(c.Ranks)
	return time.Duration(2 * (n - 1) / n * float64(c.Bytes) * 8e9 / c.Network.Rate)
}

// spec returns the schedule of c.
func (c Config) spec() schedule.Spec {
	s := schedule.Spec{Schedule: c.Schedule, Size: c.Ranks, Bytes: c.Bytes, Elem: c.Elem, Chunk: c.Chunk}
	if c.VW {
		s.Schedule = schedule.VWTree
	}
	return s
}

// withDefaults returns c with its defaults.
func (c Config) withDefaults() Config {
	if c.Elem == 0 {
		c.Elem = 4
	}
	if c.Chunk == 0 {
		c.Chunk = schedule.DefaultChunk
		if c.VW {
			c.Chunk = vwChunk
		}
	}
	c.Network = c.Network.withDefaults()
	return c
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("simulate: "+format, args...)) }
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		fault("Ranks: got %d, want 1 to %d", c.Ranks, MaxRanks)
	}
	if c.Elem < 1 || c.Bytes < 1 || c.Bytes%c.Elem != 0 || c.Bytes > 1<<40 {
		fault("Bytes: got %d, want a multiple of Elem (%d) up to 1 TiB", c.Bytes, c.Elem)
	}
	if !c.Schedule.Valid() || c.VW && c.Schedule != schedule.Auto {
		fault("Schedule: got %v (VW: %v), want one of package schedule, and none with VW", c.Schedule, c.VW)
	}
	if c.Chunk < 8 || c.Chunk%8 != 0 || c.Chunk > 1<<30 {
		fault("Chunk: got %d, want a multiple of 8 up to 1 GiB", c.Chunk)
	}
	if n := c.Network; !(n.Rate >= 1e3 && n.Rate <= 1e15) || n.Latency < 0 || n.Latency > time.Hour || !(n.Headers >= 0 && n.Headers <= 10) ||
		n.RanksPerHost < 1 || n.HostsPerRack < 0 || !(n.Oversubscription > 0 && n.Oversubscription <= 1e6) || n.Window < 1 || n.Segment < 1 || n.Segment > 1<<26 {
		fault("Network: got %+v, want a rate from 1e3 to 1e15 bits per second, and no negative values", n)
	}
	if p := c.Processor; p.Message < 0 || p.Message > time.Hour || !(p.Move >= 0 && p.Move <= 1e6) || !(p.Add >= 0 && p.Add <= 1e6) {
		fault("Processor: got %+v, want no negative values", p)
	}
	if c.Enter != nil && len(c.Enter) != c.Ranks {
		fault("Enter: got %d times, want one for each of %d ranks", len(c.Enter), c.Ranks)
	}
	for rank, at := range c.Enter {
		if at < 0 {
			fault("Enter: rank %d: got %v, want 0 or more", rank, at)
			break
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if steps := c.spec().Steps(); steps > MaxSteps {
		fault("the programs would have about %d million steps, at most %d million are simulated: give less ranks, less bytes, or another schedule", steps/1_000_000, MaxSteps/1_000_000)
	}
	if c.spec().Resolve().Schedule == schedule.Direct && c.Ranks > maxDirect {
		fault("too many connections: a direct exchange is simulated for up to %d ranks: give another schedule", maxDirect)
	}
	return errors.Join(errs...)
}

// member is a rank of the simulation.
type member struct {
	run      schedule.Run
	peers    int
	entered  bool
	finished bool
	root     bool          // of vw's tree: it sends when everything has arrived
	free     time.Duration // when its processor is idle
	out, in  []int32       // by peer: the two directions of its connections, -1: not used
}

// simulation is an all-reduce in virtual time.
type simulation struct {
	*fabric
	cfg     Config
	members []member
	done    []time.Duration
	left    int // ranks that have not finished
}

// AllReduce simulates an all-reduce.
func AllReduce(cfg Config) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	spec := cfg.spec().Resolve()
	s := &simulation{
		fabric: newFabric(cfg.Network, cfg.Ranks), cfg: cfg,
		members: make([]member, cfg.Ranks), done: make([]time.Duration, cfg.Ranks), left: cfg.Ranks,
	}
	s.connect(spec)
	for rank := range cfg.Ranks {
		at := time.Duration(0)
		if cfg.Enter != nil {
			at = cfg.Enter[rank]
		}
		s.add(at, rankEnters, int32(rank), 0)
	}
	for s.left > 0 {
		ev, ok := s.next()
		if !ok {
			return nil, fmt.Errorf("BUG: simulate: %d of %d ranks wait for ever in %v", s.left, cfg.Ranks, spec.Schedule)
		}
		s.happen(ev)
	}
	r := &Result{Schedule: spec.Schedule, Done: s.done, Events: s.added, Time: slices.Max(s.done)}
	if cfg.Enter != nil {
		r.Time -= slices.Min(cfg.Enter)
	}
	for i, n := range s.carried {
		if l := &s.links[i]; l.perByte != memoryRate {
			r.Busiest = max(r.Busiest, n)
		}
	}
	return r, nil
}

// connect makes the programs of all ranks, and the connections that they use.
func (s *simulation) connect(spec schedule.Spec) {
	root := -1
	if s.cfg.VW {
		root = topo.VW(spec.Size).Root()
	}
	programs := make([]*schedule.Program, spec.Size)
	for rank := range s.members {
		p := spec.AllReduce(rank)
		programs[rank] = p
		m := &s.members[rank]
		m.run.Start(p, s.cfg.Chunk)
		m.peers, m.root = len(p.Peers), rank == root
		m.out, m.in = make([]int32, m.peers), make([]int32, m.peers)
		for k := range m.peers {
			m.out[k], m.in[k] = -1, -1
		}
	}
	for rank, p := range programs {
		for i, step := range p.Steps {
			k, _ := slices.BinarySearch(p.Peers, step.Peer)
			if step.Act != schedule.Give || s.members[rank].out[k] >= 0 {
				continue
			}
			there, ok := slices.BinarySearch(programs[step.Peer].Peers, rank)
			if !ok {
				panic(fmt.Sprintf("BUG: simulate: step %d of rank %d sends to rank %d, which does not expect it", i, rank, step.Peer))
			}
			c := flow{from: int32(rank), to: int32(step.Peer), fromPeer: int32(k), toPeer: int32(there)}
			s.route(&c)
			id := int32(len(s.flows))
			s.flows = append(s.flows, c)
			s.members[rank].out[k], s.members[step.Peer].in[there] = id, id
		}
	}
}

// happen processes an event.
func (s *simulation) happen(ev event) {
	switch ev.kind {
	case rankEnters:
		m := &s.members[ev.a]
		m.entered = true
		s.advance(ev.a)
	case partWritten:
		c := &s.flows[ev.a]
		m := &s.members[c.from]
		move, _ := m.run.NextSend(int(c.fromPeer))
		m.run.Sent(int(c.fromPeer))
		c.writing = false
		s.push(ev.a, move.Hi-move.Lo)
		s.advance(c.from)
	case partJoined:
		c := &s.flows[ev.a]
		m := &s.members[c.to]
		m.run.Received(int(c.toPeer))
		c.joining = false
		c.arrived--
		full := c.unread >= s.cfg.Network.Window
		c.unread -= int(c.sizes.pop())
		if full {
			s.send(&s.members[c.from], int(c.fromPeer))
		}
		s.advance(c.to)
	case segmentAtLink:
		s.reach(ev.a, ev.b)
	case segmentServed:
		if s.served(ev.a, ev.b) {
			c := &s.flows[ev.a]
			s.receive(&s.members[c.to], int(c.toPeer))
		}
	}
}

// advance starts all moves that a rank may make, and notes its end.
func (s *simulation) advance(rank int32) {
	m := &s.members[rank]
	if m.finished || !m.entered {
		return
	}
	if m.run.Finished() {
		m.finished = true
		s.done[rank] = s.now
		s.left--
		return
	}
	for k := range m.peers {
		s.receive(m, k)
		s.send(m, k)
	}
}

// work reserves the rank's processor for a part, and returns when the part is done.
func (s *simulation) work(m *member, bytes int, perByte float64) time.Duration {
	m.free = max(m.free, s.now) + s.cfg.Processor.Message + time.Duration(float64(bytes)*perByte)
	return m.free
}

// send begins to write the next part for a peer, if it may go now.
func (s *simulation) send(m *member, k int) {
	id := m.out[k]
	if id < 0 || !m.entered || m.root && !m.holdsSum() {
		return
	}
	c := &s.flows[id]
	if c.writing || c.unread >= s.cfg.Network.Window {
		return
	}
	if move, ok := m.run.NextSend(k); ok {
		c.writing = true
		c.unread += move.Hi - move.Lo
		s.add(s.work(m, move.Hi-move.Lo, s.cfg.Processor.Move), partWritten, id, 0)
	}
}

// holdsSum reports whether everything has come up to the root.
func (m *member) holdsSum() bool {
	for k := range m.peers {
		if _, more := m.run.Awaits(k); more {
			return false
		}
	}
	return true
}

// receive begins to join the next part of a peer, if it has arrived and may be joined now.
func (s *simulation) receive(m *member, k int) {
	id := m.in[k]
	if id < 0 || !m.entered {
		return
	}
	c := &s.flows[id]
	if c.joining || c.arrived == 0 {
		return
	}
	if move, ok := m.run.NextReceive(k); ok {
		c.joining = true
		perByte := s.cfg.Processor.Move
		if move.Act != schedule.Take {
			perByte += s.cfg.Processor.Add
		}
		s.add(s.work(m, move.Hi-move.Lo, perByte), partJoined, id, 0)
	}
}
