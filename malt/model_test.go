// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt/graph"
)

// seeds returns the number of drawn jobs of a test: a usual one, fewer with -short, or that of an environment
// variable.
func seeds(t *testing.T, variable string, usual, short int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	if testing.Short() {
		t.Logf("sampled: %d of %d seeds", short, usual)
		return short
	}
	return usual
}

// TestNotifyAckLosesNoUpdate runs NOTIFY-ACK on drawn strongly connected digraphs of up to five ranks, with drawn
// pauses and one drawn fault. GVW_MODEL_SEEDS is the number of jobs. No job comes to a standstill, no rank is lost
// without a fault, and in a membership each receiver merges each update of each sender once and in order. A change of
// the membership drops at most the one update of a sender that is not acknowledged.
func TestNotifyAckLosesNoUpdate(t *testing.T) {
	notifyAck(t, seeds(t, "GVW_MODEL_SEEDS", 300, 60))
}

func notifyAck(t *testing.T, jobs int) {
	for seed := range jobs {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) { newModel(t, uint64(seed)).run() })
	}
}

// model is a drawn job.
type model struct {
	t      *testing.T
	rng    *rand.Rand
	c      *cluster
	graph  *graph.Graph
	fault  string
	from   time.Duration // when the fault begins, since the start
	lasts  time.Duration
	ends   [2]int          // ranks with the fault; equal: only one
	pauses []time.Duration // of a round, by rank
	stop   []context.CancelFunc

	mu     sync.Mutex
	merged map[[2]int][]merge // by sender and receiver
}

// merge is an update that was merged.
type merge struct {
	iteration uint64
	epoch     int // the server's number of the membership: a rank may be in none of some memberships
}

const (
	modelRounds   = 12
	certainlyLost = 13 * time.Second // of silence towards the server
	certainlyKept = 9 * time.Second
)

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 23)), merged: map[[2]int][]merge{}}
	n := 2 + m.rng.IntN(4)
	m.graph = drawDigraph(m.rng, n)
	m.fault = []string{"none", "none", "kill", "stop", "part"}[m.rng.IntN(5)]
	m.from = time.Duration(m.rng.IntN(30)) * time.Millisecond
	m.lasts = time.Duration(m.rng.IntN(60)) * time.Second
	m.ends = [2]int{m.rng.IntN(n), m.rng.IntN(n)}
	if m.fault != "part" {
		m.ends[1] = m.ends[0]
	}
	for range n {
		m.pauses = append(m.pauses, time.Duration(m.rng.IntN(4))*time.Millisecond)
	}
	m.stop = make([]context.CancelFunc, n)
	m.c = newCluster(t, n, Config{OnLoss: Shrink})
	return m
}

// drawDigraph returns a strongly connected digraph.
func drawDigraph(rng *rand.Rand, n int) *graph.Graph {
	for {
		density := 1 + rng.IntN(3)
		var b strings.Builder
		for from := range n {
			for to := range n {
				if from != to && rng.IntN(4) < density {
					fmt.Fprintln(&b, from, to)
				}
			}
		}
		if g, err := graph.Read(strings.NewReader(b.String()), "drawn", n); err == nil {
			return g
		}
	}
}

func (m *model) String() string {
	return fmt.Sprintf("%s of %v after %v for %v, pauses %v, on\n%v", m.fault, m.ends, m.from, m.lasts, m.pauses, m.graph)
}

// hosts returns the names of the two ends.
func (m *model) hosts() (a, b string) {
	return fmt.Sprintf("h%d", m.ends[0]), fmt.Sprintf("h%d", m.ends[1])
}

// disturb begins the fault, and ends it.
func (m *model) disturb() {
	time.Sleep(m.from)
	a, b := m.hosts()
	switch m.fault {
	case "kill":
		m.c.fabric.Kill(a)
		m.mu.Lock()
		m.stop[m.ends[0]]()
		m.mu.Unlock()
	case "stop":
		m.c.fabric.Hold(a, true)
		time.Sleep(m.lasts)
		m.c.fabric.Hold(a, false)
	case "part":
		if a != b {
			m.c.fabric.Part(a, b, true)
			time.Sleep(m.lasts)
			m.c.fabric.Part(a, b, false)
		}
	}
}

func (m *model) run() {
	begun := time.Now()
	started := sync.OnceFunc(func() { go m.disturb() })
	errs := m.c.each(func(g *Group) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m.mu.Lock()
		m.stop[g.Rank()] = cancel
		m.mu.Unlock()
		if err := g.Barrier(ctx); err != nil {
			return err
		}
		started()
		return m.train(ctx, g)
	})
	lost := 0
	for rank, err := range errs {
		if err == nil {
			continue
		}
		lost++
		if rank != m.ends[0] && rank != m.ends[1] {
			m.t.Errorf("%v: rank %d has no fault: %v", m, rank, err)
		}
	}
	switch {
	case m.fault == "none" && lost > 0,
		m.fault == "kill" && lost != 1 && m.lateFault(begun),
		m.fault == "stop" && m.lasts < certainlyKept && lost > 0,
		m.fault == "part" && (lost > 1 || m.lasts < defaultStall-time.Second && lost > 0):
		m.t.Errorf("%v: lost %d ranks: %v", m, lost, errs)
	}
	if took := time.Since(begun); took > 10*time.Minute {
		m.t.Errorf("%v: took %v of virtual time", m, took)
	}
	m.check(errs)
	time.Sleep(m.from + m.lasts) // disturb has ended
}

// lateFault reports whether the job has outlasted the beginning of the fault by far.
func (m *model) lateFault(begun time.Time) bool { return time.Since(begun) > m.from+time.Second }

// train exchanges numbers, and notes what it has merged.
func (m *model) train(ctx context.Context, g *Group) error {
	s, err := NewSegment(g, "s", 8, SegmentConfig{ObjectConfig: ObjectConfig{Custom: m.graph, Sync: "notify_ack"}})
	if err != nil {
		return err
	}
	for i := range uint64(modelRounds) {
		time.Sleep(m.pauses[g.Rank()])
		if err := s.Scatter(ctx, binary.LittleEndian.AppendUint64(nil, i+1)); err != nil {
			return err
		}
		if _, err := s.Gather(ctx, func(u IncomingBytes) {
			m.mu.Lock()
			defer m.mu.Unlock()
			edge := [2]int{u.Rank, g.Rank()}
			m.merged[edge] = append(m.merged[edge], merge{binary.LittleEndian.Uint64(u.Data), epochOf(g)})
			if u.Iteration != binary.LittleEndian.Uint64(u.Data) {
				m.t.Errorf("rank %d: update %d of rank %d has the number %d", g.Rank(), u.Data, u.Rank, u.Iteration)
			}
		}); err != nil {
			return err
		}
	}
	if st := s.Stats(); st.Overwritten+st.Dropped+st.Damaged > 0 {
		m.t.Errorf("rank %d: got %+v, want no update lost in a queue", g.Rank(), st)
	}
	return g.Done(ctx)
}

// epochOf returns the server's number of the membership that a rank is in.
func epochOf(g *Group) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(g.wiring.Epoch.N)
}

// check compares what the ranks that came to the end have merged with what was sent.
func (m *model) check(errs []error) {
	for edge, got := range m.merged {
		last := merge{0, 1}
		for _, now := range got {
			if now.iteration <= last.iteration || now.iteration > last.iteration+1+uint64(now.epoch-last.epoch) {
				if last.iteration > 0 || slices.Contains(m.graph.Out(0, edge[0]), edge[1]) {
					m.t.Errorf("%v: rank %d merged update %d of rank %d in membership %d, and the one before was %d in membership %d",
						m, edge[1], now.iteration, edge[0], now.epoch, last.iteration, last.epoch)
				}
			}
			last = now
		}
	}
	for from, err := range errs {
		for _, to := range m.graph.Out(0, from) {
			got := m.merged[[2]int{from, to}]
			changes := epochOf(m.c.groups[to]) - 1
			if err == nil && errs[to] == nil && (len(got) > modelRounds || len(got) < modelRounds-changes) {
				m.t.Errorf("%v: rank %d merged %d updates of rank %d in %d memberships, want %d", m, to, len(got), from, changes+1, modelRounds)
			}
		}
	}
}
