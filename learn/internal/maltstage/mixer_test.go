// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/optim/sgd"
	"github.com/gvw-project/gvw/option"
)

const bits = 6

// cluster has the mixers of a job without a network. Its ranks make each round together.
type cluster struct {
	t      *testing.T
	graph  *graph.Graph
	mixers []*mixer
	boxes  [][]malt.Incoming[float32] // by receiver
	round  int
}

// port is the shared vector of one rank of a cluster.
type port struct {
	c    *cluster
	rank int
}

func (p port) ScatterValues(_ context.Context, values []float32) error { return p.scatter(nil, values) }

func (p port) ScatterSparse(_ context.Context, indices []uint32, values []float32) error {
	return p.scatter(append([]uint32{}, indices...), values)
}

func (p port) scatter(indices []uint32, values []float32) error {
	for _, to := range p.c.graph.Out(p.c.round, p.rank) {
		p.c.boxes[to] = append(p.c.boxes[to], malt.Incoming[float32]{
			Rank: p.rank, Iteration: uint64(p.c.round + 1), Factor: 1, Indices: indices, Values: slices.Clone(values),
		})
	}
	return nil
}

func (p port) Gather(_ context.Context, merge malt.Merger[float32]) (int, error) {
	in := p.c.boxes[p.rank]
	if p.c.boxes[p.rank] = nil; len(in) > 0 {
		merge(nil, in)
	}
	return len(in), nil
}

// newCluster returns a job whose learners have a rule.
func newCluster(t *testing.T, name string, ranks int, flags sgd.Flags, cfg Config) *cluster {
	t.Helper()
	g, err := graph.New(name, ranks)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Graph, cfg.Every = name, 1<<30
	c := &cluster{t: t, graph: g, boxes: make([][]malt.Incoming[float32], ranks)}
	flags.Bits = bits
	rule := flags.Config()
	for rank := range ranks {
		learner, err := sgd.New(rule, l)
		if err != nil {
			t.Fatal(err)
		}
		m, err := newMixer(cfg, rank, learner, rule, port{c, rank}, !complete(g))
		if err != nil {
			t.Fatal(err)
		}
		c.mixers = append(c.mixers, m)
	}
	return c
}

// learn makes a rank learn one example with the features of the given weights.
func (c *cluster) learn(rank int, label float32, indices ...uint32) {
	c.t.Helper()
	m := c.mixers[rank]
	var fs []feature.Feature
	for _, i := range indices {
		fs = append(fs, feature.Feature{Index: i, Value: 1})
	}
	m.table.learner.Range = loss.Range{Min: -10, Max: 10}
	m.table.learner.Learn(fs, &feature.Example{Label: label, Weight: 1, FeatHi: uint32(len(fs))})
	if err := m.Learned(context.Background(), fs, 1); err != nil {
		c.t.Fatal(err)
	}
}

// exchange makes a round of all ranks.
func (c *cluster) exchange() {
	c.t.Helper()
	for _, m := range c.mixers {
		if err := m.send(context.Background()); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, m := range c.mixers {
		if err := m.receive(context.Background()); err != nil {
			c.t.Fatal(err)
		}
	}
	c.round++
}

// state returns a rank's state of a weight.
func (c *cluster) state(rank int, i uint32) state { return c.mixers[rank].table.get(i) }

// equal fails the test if two ranks differ in a weight by more than a rounding error.
func (c *cluster) equal() {
	c.t.Helper()
	near := func(a, b float32) bool {
		return math.Abs(float64(a-b)) <= 1e-4*(math.Abs(float64(a))+math.Abs(float64(b)))+1e-6
	}
	for rank := range c.mixers {
		for i := range uint32(1 << bits) {
			a, b := c.state(0, i), c.state(rank, i)
			if !near(a.w, b.w) || !near(a.sum, b.sum) || !near(a.largest, b.largest) {
				c.t.Fatalf("round %d, weight %d: rank 0 has %+v, rank %d has %+v", c.round, i, a, rank, b)
			}
		}
	}
}

var rules = map[string]sgd.Flags{
	"plain": {SGD: true, LearningRate: option.Some[float32](0.1)}, "default": {}, "adaptive": {Adaptive: true}, "normalized": {Normalized: true},
	"regularised": {L1: 1e-3, L2: 1e-3},
}

// In rounds in which all ranks send to each other, all have the same weights after each round, whatever is sent.
func TestRanksAgreeAfterARoundOfAll(t *testing.T) {
	for name, flags := range rules {
		if name == "regularised" {
			continue // regularisation that is due differs between ranks
		}
		for _, cfg := range []Config{
			{Send: Models},
			{Send: Deltas},
			{Send: Gradients},
			{Send: Deltas, Whole: 3},
			{Send: Models, Outer: outer.Config{Rate: 0.7, Momentum: 0.5}},
			{Send: Deltas, Outer: outer.Config{Rate: 0.7, Momentum: 0.5}},
		} {
			t.Run(fmt.Sprintf("%s/%v:%d,%+v", name, cfg.Send, cfg.Whole, cfg.Outer), func(t *testing.T) {
				cfg.Sync = "bsp"
				c := newCluster(t, "all", 4, flags, cfg)
				rng := rand.New(rand.NewPCG(1, 2))
				for range 12 {
					for rank := range c.mixers {
						for range rng.IntN(8) {
							c.learn(rank, float32(rng.IntN(3)-1), uint32(rng.IntN(20)), uint32(20+rng.IntN(44)))
						}
					}
					c.exchange()
					c.equal()
				}
			})
		}
	}
}

// A weight that only one rank has learned reaches all others unchanged.
func TestModelsOfOneRankReachAll(t *testing.T) {
	for name, flags := range rules {
		for _, shape := range []string{"all", "ring", "tree", "star", "exponential", "halton"} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				c := newCluster(t, shape, 6, flags, Config{Sync: "bsp"})
				for range 5 {
					c.learn(2, 1, 7)
				}
				want := c.state(2, 7)
				for range 20 {
					c.exchange()
				}
				for rank := range c.mixers {
					if got := c.state(rank, 7); math.Abs(float64(got.w-want.w)) > 0.01*math.Abs(float64(want.w)) || got.largest != want.largest {
						t.Errorf("rank %d: got %+v, want about %+v", rank, got, want)
					}
				}
			})
		}
	}
}

// With plain SGD gradients add up and deltas are averaged, over the ranks that have learned.
func TestDeltasOfPlainSGD(t *testing.T) {
	for send, want := range map[Kind]float32{Gradients: 3, Deltas: 1.5} {
		c := newCluster(t, "all", 3, sgd.Flags{SGD: true}, Config{Sync: "bsp", Send: send})
		for rank, w := range []float32{1, 2} {
			m := c.mixers[rank]
			m.table.put(5, state{w: w})
			m.changed.add(5)
		}
		c.exchange()
		c.equal()
		if got := c.state(2, 5).w; got != want {
			t.Errorf("%v: got %v, want %v", send, got, want)
		}
	}
}

// With an adaptive rule the first gradients are averaged, weighted by their sums, and later ones add up.
func TestGradientsOfAnAdaptiveRule(t *testing.T) {
	c := newCluster(t, "all", 2, sgd.Flags{Adaptive: true}, Config{Sync: "bsp", Send: Gradients})
	step := func(rank int, w, sum float32) {
		m := c.mixers[rank]
		s := m.table.get(5)
		m.table.put(5, state{w: s.w + w, sum: s.sum + sum})
		m.changed.add(5)
	}
	step(0, 1, 1)
	step(1, 5, 3)
	c.exchange()
	if got, want := c.state(0, 5), (state{w: 4, sum: 4}); got != want { // (1·1 + 3·5)/4
		t.Errorf("new sums: got %+v, want %+v", got, want)
	}
	step(0, 1, 4)
	step(1, 1, 8)
	c.exchange()
	if got, want := c.state(1, 5), (state{w: 4 + 1.25, sum: 16}); got != want { // (8·1 + 12·1)/16
		t.Errorf("old sums: got %+v, want %+v", got, want)
	}
	c.equal()
}

// vw averages weights by their adaptive sums.
func TestModelsAreWeightedByTheirSums(t *testing.T) {
	c := newCluster(t, "all", 2, sgd.Flags{}, Config{Sync: "bsp"})
	for rank, s := range []state{{w: 1, sum: 1, largest: 2}, {w: 5, sum: 3, largest: 1}} {
		c.mixers[rank].table.put(5, s)
		c.mixers[rank].changed.add(5)
	}
	c.exchange()
	c.equal()
	if got, want := c.state(0, 5), (state{w: 4, sum: 2.5, largest: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An update that is older than what a rank has learned since does not replace it.
func TestOldModelsDoNotReplaceNewerOnes(t *testing.T) {
	for sync, want := range map[string]float32{"bsp": 2, "asp": 6} {
		c := newCluster(t, "all", 2, sgd.Flags{SGD: true}, Config{Sync: sync})
		c.mixers[0].table.put(5, state{w: 10})
		c.mixers[1].table.put(5, state{w: 2})
		c.mixers[1].changed.add(5)
		c.exchange()
		if got := c.state(0, 5).w; got != want {
			t.Errorf("%s: got %v, want %v", sync, got, want)
		}
	}
}

// More than half of the weights are sent as a dense update, with the same result.
func TestDenseUpdates(t *testing.T) {
	for _, send := range []Kind{Models, Deltas, Gradients} {
		c := newCluster(t, "all", 2, sgd.Flags{}, Config{Sync: "bsp", Send: send})
		for i := range uint32(40) {
			c.learn(0, 1, i)
			c.learn(1, 1, i)
		}
		c.exchange()
		c.equal()
		if c.state(0, 3).w == 0 {
			t.Errorf("%v: weight 3 is 0", send)
		}
	}
}

// Of several updates of a sender the newest weights count, with the deltas after them.
func TestNewestWeightsOfASenderCount(t *testing.T) {
	c := newCluster(t, "all", 2, sgd.Flags{SGD: true}, Config{Sync: "asp", Send: Deltas, Whole: 2})
	m := c.mixers[0]
	m.table.put(5, state{w: 4})
	m.base[5] = state{w: 4}
	update := func(iteration uint64, w float32) malt.Incoming[float32] {
		return malt.Incoming[float32]{Rank: 1, Iteration: iteration, Factor: 1, Indices: []uint32{5}, Values: []float32{w}}
	}
	m.merge([]malt.Incoming[float32]{update(2, 100), update(3, 50), update(4, 8), update(5, 1)})
	if got, want := c.state(0, 5).w, float32(7); got != want { // (4 + 8)/2 + 1
		t.Errorf("got %v, want %v", got, want)
	}
}

// A round whose senders, weights and queues are the same as before allocates nothing.
func TestRoundsAllocateNothing(t *testing.T) {
	for _, send := range []Kind{Models, Deltas, Gradients} {
		c := newCluster(t, "all", 2, sgd.Flags{}, Config{Sync: "bsp", Send: send})
		m := c.mixers[0]
		fs := []feature.Feature{{Index: 3, Value: 1}, {Index: 9, Value: 1}}
		in := []malt.Incoming[float32]{{Rank: 1, Factor: 1, Indices: []uint32{3, 11}, Values: make([]float32, 6)}}
		m.vector = still{in}
		m.cfg.Every = 2
		n := testing.AllocsPerRun(100, func() {
			if err := m.Learned(context.Background(), fs, 1); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%v: got %v allocations, want 0", send, n)
		}
	}
}

// still is a shared vector on which the same updates arrive in each round.
type still struct{ in []malt.Incoming[float32] }

func (still) ScatterValues(context.Context, []float32) error           { return nil }
func (still) ScatterSparse(context.Context, []uint32, []float32) error { return nil }
func (s still) Gather(_ context.Context, merge malt.Merger[float32]) (int, error) {
	merge(nil, s.in)
	return len(s.in), nil
}
