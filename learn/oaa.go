// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strings"

	"github.com/gvw-project/gvw/optim/ftrl"
)

// classLabels are the labels of one against all, as far as the options decide them.
func (c *Config) classLabels() classLabels {
	l := classLabels{k: c.OAA.Classes, first: 1, names: c.classNames(), cluster: c.Cluster.Join != nil, log: c.Diagnostics.Log}
	l.decided = c.OAA.Indexing.Set || l.names != nil
	if c.OAA.Indexing.Set {
		l.first = c.OAA.Indexing.Value
	}
	return l
}

// classNames are the names of --named_labels; nil: labels are numbers.
func (c *Config) classNames() []string {
	if c.OAA.NamedLabels == "" || c.OAA.Classes == 0 {
		return nil
	}
	return strings.Split(c.OAA.NamedLabels, ",")
}

// testsClasses reports whether the run only predicts classes: any model that has one
// weight a class and feature will do, however it was trained.
func (c *Config) testsClasses() bool { return c.TestOnly && c.OAA.Classes > 0 }

// linksClasses reports whether --link only changes the scores that are shown. By SGD vw
// learns from them.
func (c *Config) linksClasses() bool {
	return c.OAA.Probabilities || c.testsClasses() || c.FTRL.Rule != ftrl.None
}

// validateClasses looks whether the options of one against all make sense.
func (c *Config) validateClasses(fault func(option, format string, args ...any)) {
	if c.OAA.Classes == 0 {
		return
	}
	names := c.classNames()
	if c.Batch.BFGS || c.Hybrid != nil {
		fault("--oaa", "L-BFGS learns one model: leave --bfgs and --hybrid out")
	}
	if c.Loss.Binary || c.Loss.Link != "identity" && !c.linksClasses() {
		fault("--oaa", "--binary and --link are for one score, and a class is predicted: leave them out (--probabilities gives probabilities)")
	}
	if c.Features.Bits < 32 && c.OAA.Classes > 1<<c.Features.Bits {
		fault("--oaa", "%d classes do not fit 2^%d weights: give a larger -b", c.OAA.Classes, c.Features.Bits)
	}
	if c.OAA.Indexing.Set && c.OAA.Indexing.Value != 0 && c.OAA.Indexing.Value != 1 {
		fault("--indexing", "%d: labels count from 0 or from 1", c.OAA.Indexing.Value)
	}
	if names != nil && c.OAA.Indexing.Set && c.OAA.Indexing.Value != 1 {
		fault("--indexing", "%d: --named_labels count from 1", c.OAA.Indexing.Value)
	}
	if names != nil && len(names) != c.OAA.Classes {
		fault("--named_labels", "there are %d named labels, and --oaa has %d classes", len(names), c.OAA.Classes)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" || seen[n] || strings.ContainsAny(n, " \t:|") {
			fault("--named_labels", "%q: want different words without blanks, ':' and '|', separated by commas", n)
		}
		seen[n] = true
	}
}
