// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Kind is what a round sends.
type Kind uint8

// The kinds; package documentation has their meaning.
const (
	Models Kind = iota
	Deltas
	Gradients
)

var kindNames = []string{"models", "deltas", "gradients"}

func (k Kind) String() string { return kindNames[k] }

// Config configures the rounds. It is the same on all ranks.
type Config struct {
	Graph    string       // a name of package graph; with Custom, a name for messages
	Custom   *graph.Graph // a graph of all ranks, instead of the one that Graph names; nil: none
	Sync     string       // "asp", "bsp", "ssp:S" or "notify_ack"
	Every    int          // examples that this rank learns from between two rounds, at least 1
	Send     Kind         // what a round sends
	Whole    int          // with Deltas: every Whole-th round sends weights; 0: none
	Outer    outer.Config // outer optimiser on the means; zero: none
	MaxDelay int          // rounds by which an update may be late: older ones are dropped, and late deltas count 1/(1+delay). 0: any
	Format   malt.Format  // compression; the zero value is plain
}

// ParseSend reads "models", "deltas", "gradients" or "deltas:M".
func ParseSend(text string) (Kind, int, error) {
	name, every, both := strings.Cut(text, ":")
	i := slices.Index(kindNames, name)
	if i < 0 || both && Kind(i) != Deltas {
		return 0, 0, fmt.Errorf("got %q, want models, deltas, gradients or deltas:M", text)
	}
	if !both {
		return Kind(i), 0, nil
	}
	m, err := strconv.Atoi(every)
	if err != nil || m < 2 {
		return 0, 0, fmt.Errorf("got %q, want deltas:M with M at least 2, so that every M-th round sends whole weights", text)
	}
	return Deltas, m, nil
}

// ParseFormat reads "f16", "q8", "top:K" or "", which is plain.
func ParseFormat(text string) (malt.Format, error) {
	count, top := strings.CutPrefix(text, "top:")
	switch {
	case text == "":
		return malt.Format{}, nil
	case text == "f16":
		return malt.Format{Code: malt.F16}, nil
	case text == "q8":
		return malt.Format{Code: malt.Q8}, nil
	case top:
		if k, err := strconv.Atoi(count); err == nil && k > 0 {
			return malt.Format{Top: k}, nil
		}
	}
	return malt.Format{}, fmt.Errorf("got %q, want f16, q8 or top:K with K at least 1", text)
}

// Fault is a fault of one field.
type Fault struct {
	Field string
	Err   error
}

// Faults returns the faults of the configuration by itself.
func (c Config) Faults() (faults []Fault) {
	add := func(field, format string, args ...any) {
		faults = append(faults, Fault{field, fmt.Errorf(format, args...)})
	}
	if err := malt.CheckSync(c.Sync); err != nil {
		add("Sync", "%w", err)
	}
	if c.Every < 1 {
		add("Every", "got %d examples, want at least 1", c.Every)
	}
	if c.MaxDelay < 0 {
		add("MaxDelay", "got %d rounds, want 0 or more", c.MaxDelay)
	}
	if err := c.Outer.Validate(); err != nil {
		add("OuterRate", "%w", err)
	}
	if c.Send == Gradients && !c.Outer.Plain() {
		add("OuterRate", "gradients are added, so there is no mean to step from: send models or deltas")
	}
	if c.Format.Top > 0 && (c.Send == Models || c.Whole > 0) {
		add("Compress", "the largest values of a model are not those that have changed most: send deltas or gradients")
	}
	return faults
}

// Conflicts returns the faults of the configuration for a job of so many ranks and a rule.
func (c Config) Conflicts(ranks int, rule sgd.Config) (faults []Fault) {
	g, err := c.graph(ranks)
	if err != nil {
		return []Fault{{"Graph", err}}
	}
	if slots := floats(rule); uint64(slots)<<rule.Bits > 1<<32 {
		faults = append(faults, Fault{"Graph", fmt.Errorf("got 2^%d weights of %d floats, which are more than the 2^32 entries of a shared vector: use fewer weights", rule.Bits, slots)})
	}
	if c.Send != Models && c.Whole == 0 && ranks > 1 && !complete(g) {
		faults = append(faults, Fault{"Send", fmt.Errorf("got %v with graph %s: a delta reaches only the neighbours of a rank: send models or deltas:M, or use graph all", c.Send, c.Graph)})
	}
	if c.Format != (malt.Format{}) && rule.Stride() > 1 {
		faults = append(faults, Fault{"Compress", errors.New("the sums of an adaptive or normalised rule are sent uncompressed: use plain SGD or only the invariant rule")})
	}
	return faults
}

// graph returns the graph of a job of so many ranks. One rank has no neighbours, and no graph.
func (c Config) graph(ranks int) (*graph.Graph, error) {
	if c.Custom != nil {
		if n := c.Custom.Size(); n != ranks {
			return nil, fmt.Errorf("%s has %d ranks, the job has %d", c.Graph, n, ranks)
		}
		if !c.Custom.Uniform() {
			return nil, fmt.Errorf("the edges of %s have weights, which would be ignored: models are weighted by their adaptive sums; leave the weights out", c.Graph)
		}
		return c.Custom, nil
	}
	return graph.New(c.Graph, max(ranks, 2))
}

// complete reports whether each rank sends to each other one in each round.
func complete(g *graph.Graph) bool {
	for round := range g.Period() {
		if n := g.Size(); g.Edges(round) != n*(n-1) {
			return false
		}
	}
	return true
}

// aligned reports whether all updates of a round are of the same age.
func (c Config) aligned() bool { return c.Sync == "bsp" || c.Sync == "notify_ack" }

// vector returns the configuration of the shared vector.
func (c Config) vector() malt.VectorConfig {
	f := c.Format
	f.NoFeedback = c.Send == Models || c.Whole > 0
	return malt.VectorConfig{
		ObjectConfig: malt.ObjectConfig{Graph: c.Graph, Custom: c.Custom, Sync: c.Sync, Full: malt.Block, Depth: c.depth()},
		Format:       f, MaxDelay: c.MaxDelay, DampLate: c.MaxDelay > 0,
	}
}

// depth returns the depth of receive queues; 0: the default. A model replaces older ones, but each delta counts,
// so none should be overwritten while its sender is as far ahead as the synchrony allows.
func (c Config) depth() int {
	const most = 32
	bound, ssp := strings.CutPrefix(c.Sync, "ssp:")
	switch n, err := strconv.Atoi(bound); {
	case c.Send == Models || c.aligned():
		return 0
	case ssp && err == nil:
		return max(4, min(2*n+2, most))
	}
	return most
}
