// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// classLabels maps labels to classes, which count from 0: the labels 1 to k, or 0
// to k-1, or names.
type classLabels struct {
	k       int
	first   int  // the label of the first class: 1 or 0
	decided bool // first is known; otherwise the data decides
	names   []string
	warned  bool // of a label outside
}

func newClassLabels(c *Config) classLabels {
	l := classLabels{k: c.OAA.Classes, first: 1, names: c.classNames()}
	l.decided = c.OAA.Indexing.Set || l.names != nil
	if c.OAA.Indexing.Set {
		l.first = c.OAA.Indexing.Value
	}
	return l
}

// class is the number of the label's class, from 0; out of range if the label is
// no class's.
func (l *classLabels) class(label float32) int {
	if label == feature.NoLabel {
		return -1
	}
	return int(label) - l.first
}

// decide looks at a label that is about to be learned. As in vw the first label
// 0 says that labels count from 0, the first label k that they count from 1. On
// a cluster ranks could decide differently, so there they count from 1.
func (l *classLabels) decide(s *session, label float32) error {
	switch {
	case label == 0 && !l.decided && s.cfg.Cluster.Join != nil:
		return &DataError{Name: "label 0", Text: fmt.Sprintf("of the labels of --oaa %d: on a cluster they count from 1 unless told otherwise: give --indexing 0", l.k)}
	case label == 0 && !l.decided:
		l.first, l.decided = 0, true
		s.log.Info("label 0 found: labels count from 0 from here on (--indexing 0)")
	case int(label) == l.k && !l.decided:
		l.decided = true
		if s.cfg.Cluster.Join == nil {
			s.log.Info(fmt.Sprintf("label %d found: labels count from 1 (--indexing 1)", l.k))
		}
	}
	if c := l.class(label); (c < 0 || c >= l.k) && !l.warned && l.names == nil { // the parser warns of names
		l.warned = true
		s.log.Warn(fmt.Sprintf("label %g is none of %d to %d: every class learns that it is not its own (further ones are not shown)",
			label, l.first, l.first+l.k-1), "example", s.stats.Examples+1)
	}
	return nil
}

// text is the label of a class, as people write it.
func (l *classLabels) text(class int) string {
	if l.names != nil {
		return l.names[class]
	}
	return strconv.Itoa(class + l.first)
}

// label is a label of the data as people write it, also one that is no class's.
func (l *classLabels) label(label float32) string {
	switch c := l.class(label); {
	case label == feature.NoLabel, l.names != nil && (c < 0 || c >= l.k):
		return "unknown"
	case l.names != nil:
		return l.names[c]
	}
	return strconv.FormatFloat(float64(label), 'f', 0, 32)
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
