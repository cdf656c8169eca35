// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// compactBytes is the least size of a table of all weights that a compact one replaces: -b 25 with the sums of the
// adaptive and normalised rules. Below it the translation of features takes longer than the pages of the larger table
// (bench/README.md).
const compactBytes = 512 << 20

// compact reports whether the learner of simple labels has a table of the weights that occur instead of a table of all
// 2^b. The table of all must be large and the weights must start at 0, one thread of one process learns, and nothing else
// reads or changes the weights by their indices while it learns. That excludes jobs, --malt, averages, --hogwild and
// --threads, shuffled passes, --audit and --invert_hash. Other learners and servers have tables of all weights.
func (c *Config) compact(rule sgd.Config) bool {
	start := c.Model.Start
	start.Seed = 0
	return uint64(4*rule.Stride())<<c.Features.Bits >= cmp.Or(c.compactFrom, compactBytes) &&
		start == (sgd.Start{}) && !(rule.Adaptive && rule.InitialT > 0) &&
		c.Cluster.Join == nil && c.Cluster.Group == nil && !c.Malt.on() && !c.Average.on() &&
		c.SGD.Hogwild <= 1 && c.SGD.Threads <= 1 && !c.Data.Shuffle && !c.named()
}

// newLearner returns a learner with weights of 0.
func newLearner(rule sgd.Config, l loss.Loss, compact bool) (*sgd.Learner, error) {
	if compact {
		return sgd.NewCompact(rule, l)
	}
	return sgd.New(rule, l)
}

// startConstantOf is startConstant for a compact learner.
func (c *Config) startConstantOf(l *sgd.Learner) {
	if c.Features.Constant != 0 {
		f := c.features()
		l.Weight(feature.ConstantIndex & f.Mask())[0] = c.Features.Constant
	}
}
