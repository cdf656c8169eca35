// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"runtime"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Plan describes what a run would do and how much memory and traffic it would take.
type Plan struct {
	Method string // what the run would do, in words
	Passes int    // maximum number of passes
	Ranks  int    // number of ranks of the job
	// Recovers reports whether another process can replace a lost rank. That takes more memory,
	// since the state must survive each step.
	Recovers bool
	Reads    string   // source of the passes, in vw's words
	State    []Amount // input of the next pass on a cluster, at most; the size of a checkpoint
	Memory   []Amount // what each rank keeps allocated, in its larger stage
	Wire     []Amount // vectors that each rank exchanges in a pass
}

// Amount is a number of bytes and their purpose.
type Amount struct {
	What  string
	Bytes uint64
}

// Total returns the sum of amounts, in bytes.
func Total(amounts []Amount) uint64 {
	var sum uint64
	for _, a := range amounts {
		sum += a.Bytes
	}
	return sum
}

// Plan returns what Run would do. It looks at the configuration, the headers of the loaded model
// and regularisers, and the cache. It reads no examples, joins no job and allocates no weights.
func (c Config) Plan() (_ *Plan, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if err := c.loadHeaders(); err != nil {
		return nil, err
	}
	// The same precedence as in a run, without its notes.
	_ = c.applyPrecedence()
	rule, err := c.updateRule()
	if err != nil {
		return nil, err
	}
	data, err := stream.NewDataset(dataset(&c))
	if err != nil {
		return nil, err
	}
	p := &Plan{Passes: c.Passes, Ranks: 1, Reads: data.Plan()}
	if c.Cluster.Join != nil {
		p.Ranks = c.Cluster.Join.Total
		p.Recovers = p.Ranks > 1 && c.Cluster.Join.OnLoss != allreduce.Abort
	}
	weights := uint64(4) << c.Features.Bits // bytes of one float each
	stride := c.stride(rule)
	online, batch := c.onlineTables(stride), c.batchTables(weights)
	p.State = c.stateAmounts(weights, stride)
	if p.Recovers && (!c.Average.on() || c.averagesSums()) {
		online = append(online,
			Amount{"weights of the results, and a copy of the state when a lost rank is replaced or much changes in a pass", 2 * stride * weights},
			Amount{"what a pass changes, where that is little, at most", sgd.NotesBytes(stride << c.Features.Bits)})
		batch = append(batch, Amount{"gradients of this rank and of all, so that a lost rank can be replaced", 2 * weights})
	}
	gradient := []Amount{{"gradient (with the diagonal in the first pass: twice)", weights}}
	average := []Amount{{"weights", weights}}
	if rule.Adaptive {
		average = []Amount{{"adaptive sums", weights}, {"weights and sums", stride * weights}}
	}
	switch {
	case c.LDA.Topics > 0:
		p.Method, p.Memory, p.Wire = "learn topics", c.ldaTables(), c.ldaTables()[:1]
		p.State = p.Wire
		if c.TestOnly {
			p.Method = "infer topics"
		}
		if p.Recovers {
			p.Memory = append(p.Memory, Amount{"the topics before and after a pass", 2 * p.State[0].Bytes})
		}
	case c.follows() && c.TestOnly:
		p.Method, p.Memory = "predict", online
	case c.follows():
		p.Method, p.Memory = "learn by "+followerNames[c.FTRL.Rule], online
	case c.TestOnly:
		p.Method, p.Memory = "predict", []Amount{{fmt.Sprintf("weights: 2^%d of 1 float", c.Features.Bits), weights}}
	case c.Hybrid != nil:
		p.Method = fmt.Sprintf("learn by SGD for %d passes, then by L-BFGS for up to %d", c.Hybrid.SGDPasses, c.Hybrid.LBFGSPasses)
		p.Passes = c.Hybrid.SGDPasses + c.Hybrid.LBFGSPasses
		p.Memory, p.Wire = larger(online, batch), larger(average, gradient)
	case c.Batch.BFGS:
		p.Method, p.Memory, p.Wire = "learn by L-BFGS", batch, gradient
	default:
		p.Method, p.Memory, p.Wire = "learn by SGD", online, average
		if c.Average.on() {
			p.Method = c.averageMethod()
		}
		if c.Malt.on() {
			p.Method = "learn by SGD with exchanges of weights along graph " + c.Malt.Graph
		}
	}
	c.planRest(p, stride*weights)
	p.Wire = append(p.Wire, Amount{"records", job.RecordSize})
	if p.Ranks == 1 {
		p.Wire = nil
	}
	return p, nil
}

// planRest adds what a run keeps and sends beside its tables: the best weights, whose table has the given number of
// bytes, examples, and sums of metrics.
func (c *Config) planRest(p *Plan, table uint64) {
	// Early termination keeps a copy of the best weights.
	if !c.TestOnly && p.Passes > 1 && (!c.Holdout.Off || len(c.Holdout.Valid) > 0) {
		p.Memory = append(p.Memory, Amount{"the best weights so far", p.Memory[0].Bytes})
		p.State = append(p.State, Amount{"the best weights so far", table})
	}
	if c.Data.Shuffle {
		limit := c.Data.ShuffleMemory
		if limit == 0 {
			limit = examples.DefaultShuffleMemory
		}
		p.Memory = append(p.Memory, Amount{"examples to shuffle, at most", uint64(limit)})
	}
	if limit := c.exampleMemory(); limit > 0 {
		p.Memory = append(p.Memory, Amount{"examples kept for later passes, at most", uint64(limit)})
	}
	workers := runtime.GOMAXPROCS(0)
	p.Memory = append(p.Memory, Amount{fmt.Sprintf("examples under way, with %d cores", workers), uint64(workers) * 10 * stream.DefaultChunk})
	if len(c.Metrics.Measures) > 0 {
		n := uint64(8 * len(metric.NewSums(c.Metrics.Measures).Vector()))
		p.Memory = append(p.Memory, Amount{"sums of the metrics", 2 * n})
		p.Wire = append(p.Wire, Amount{"sums of the metrics", n})
	}
}

// stride returns the number of floats per weight: the weight and the sums of its rule.
func (c *Config) stride(rule sgd.Config) uint64 {
	if c.follows() {
		return uint64(c.FTRL.Rule.Stride())
	}
	return uint64(rule.Stride()) << c.Learner.rowBits()
}

// onlineTables returns the tables that SGD or the FTRL family allocates in any case.
func (c *Config) onlineTables(stride uint64) []Amount {
	weights := uint64(4) << c.Features.Bits
	tables := []Amount{{fmt.Sprintf("weights: 2^%d of %d floats", c.Features.Bits, stride), stride * weights}}
	if c.Average.on() && !c.averagesSums() {
		return append(tables, c.averageTables()...)
	}
	if c.Cluster.Join != nil && c.Cluster.Join.Total > 1 {
		tables = append(tables, Amount{"one float of each weight, to be summed", weights})
	}
	return append(tables, c.maltTables()...)
}

// batchTables returns the tables that L-BFGS or conjugate gradients allocate where their vectors have so
// many bytes: four for each weight that occurs, or for all of them.
func (c *Config) batchTables(weights uint64) []Amount {
	tables := []Amount{
		{"solver: weights, gradient, direction, preconditioner", 4 * weights},
		{"sums of the gradient and of the diagonal in float64", 4 * weights},
	}
	if c.Batch.second() {
		tables = append(tables, Amount{"vectors of Newton's method, and the diagonal of its sample", 8 * weights})
		if c.Batch.Solver != "auto" {
			return tables
		}
	}
	if c.Batch.Mem.Value > 0 {
		return append(tables, Amount{fmt.Sprintf("%d pairs of L-BFGS", c.Batch.Mem.Value), 2 * uint64(c.Batch.Mem.Value) * weights})
	}
	return append(tables, Amount{"vectors of conjugate gradients", 2 * weights})
}

// Tables returns the number of bytes that a run allocates for tables in any case. It ignores
// the model of Model.Initial, which may have another number of bits. The memory of [Plan] is
// larger, and most of the difference depends on the data.
func (c Config) Tables() (uint64, error) {
	c = c.withDefaults()
	rule, err := c.updateRule()
	if err != nil {
		return 0, err
	}
	weights := uint64(4) << c.Features.Bits
	online, batch := c.onlineTables(c.stride(rule)), []Amount{{"weights", weights}}
	if !c.numbersWeights() {
		batch = c.batchTables(weights)
	}
	switch {
	case c.LDA.Topics > 0:
		return Total(c.ldaTables()), nil
	case c.TestOnly && !c.follows():
		return weights, nil
	case c.Hybrid != nil:
		return Total(larger(online, batch)), nil
	case c.Batch.BFGS:
		return Total(batch), nil
	}
	return Total(online), nil
}

// stateAmounts returns the vectors that WriteState of the larger stage writes, at most. weights
// is the number of bytes of one float per weight.
func (c *Config) stateAmounts(weights, stride uint64) []Amount {
	online := []Amount{{fmt.Sprintf("weights: 2^%d of %d floats", c.Features.Bits, stride), stride * weights}}
	batch := []Amount{{"solver: weights, direction, preconditioner", 3 * weights}}
	if c.Batch.second() && c.Batch.Solver != "auto" {
		batch = append(batch, Amount{"vectors of Newton's method", 3 * weights})
	} else if c.Batch.Mem.Value > 0 {
		batch = append(batch, Amount{fmt.Sprintf("%d pairs of L-BFGS", c.Batch.Mem.Value), 2 * uint64(c.Batch.Mem.Value) * weights})
	} else {
		batch = append(batch, Amount{"vectors of conjugate gradients", 2 * weights})
	}
	switch {
	case c.TestOnly:
		return nil
	case c.Batch.BFGS:
		return batch
	case c.Hybrid != nil:
		return larger(online, batch)
	}
	return online
}

// larger returns the amounts with the larger total.
func larger(a, b []Amount) []Amount {
	if Total(a) > Total(b) {
		return a
	}
	return b
}
