// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// The functions of this file convert the words of an option's value to the type of its field:
// they are the Read of cli.Spec.

// one returns a Read for options of one word.
func one[T any](read func(word string) (T, error)) func([]string) (any, error) {
	return func(words []string) (any, error) { return read(words[0]) }
}

var (
	sameWord      = one(func(word string) (string, error) { return word, nil })
	number        = one(strconv.Atoi)
	mebibytes     = one(func(word string) (int, error) { n, err := strconv.Atoi(word); return n << 20, err })
	mebibytes64   = one(func(word string) (int64, error) { n, err := strconv.ParseInt(word, 10, 64); return n << 20, err })
	isOff         = one(func(word string) (bool, error) { return word == "off", nil })
	measures      = one(metric.Parse)
	hybridPasses  = one(parseHybrid)
	bfgsSemantics = one(optim.ParseSemantics)
	scheduleName  = one(schedule.ParseName)
	transportName = one(func(word string) (t allreduce.Transport, err error) {
		err = t.UnmarshalText([]byte(word))
		return t, err
	})
	lossPolicy = one(func(word string) (allreduce.OnLoss, error) { return OnLoss(word), nil })
)

// ftrlRule returns the rule of the FTRL family that a flag names.
var ftrlRule = one(func(word string) (ftrl.Rule, error) {
	rule, ok := ftrl.Named(word)
	if !ok {
		return ftrl.None, errors.New("BUG: no rule has this name")
	}
	return rule, nil
})

// notNegative reads a negative number as 0, as vw does.
var notNegative = one(func(word string) (float32, error) {
	x, err := strconv.ParseFloat(word, 32)
	return float32(max(0, x)), err
})

// Limits returns the values of --feature_limit. In a value such as a:2 the text after the
// namespace is ":2", which vw reads as 0; so a:2 becomes a0.
func Limits(values []string) []string {
	list := slices.Clone(values)
	for i, v := range list {
		if len(v) > 1 && v[1] == ':' && (v[0] < '0' || v[0] > '9') {
			list[i] = v[:1] + "0"
		}
	}
	return list
}

// featureLimits is the Read of --feature_limit.
func featureLimits(words []string) (any, error) { return Limits(words), nil }

// classWeights reads lists like 1:3,-1:0.5. If a class occurs twice, its last weight
// counts, as in vw.
func classWeights(lists []string) (any, error) {
	var all []learn.ClassWeight
	for _, list := range lists {
		for pair := range strings.SplitSeq(list, ",") {
			class, weight, found := strings.Cut(pair, ":")
			label, err1 := strconv.ParseInt(class, 10, 32)
			w, err2 := strconv.ParseFloat(weight, 32)
			if !found || err1 != nil || err2 != nil || !(w >= 0) || math.IsInf(w, 0) {
				return nil, fmt.Errorf("%q is not CLASS:WEIGHT, like -1:0.5: a whole number, and a weight of 0 or more", pair)
			}
			i := slices.IndexFunc(all, func(c learn.ClassWeight) bool { return c.Label == float32(label) })
			if i < 0 {
				i = len(all)
				all = append(all, learn.ClassWeight{Label: float32(label)})
			}
			all[i].Weight = float32(w)
		}
	}
	return all, nil
}

// parseHybrid parses P:Q: the passes of SGD, and the most passes of L-BFGS after them.
func parseHybrid(s string) (*learn.Hybrid, error) {
	p, q, found := strings.Cut(s, ":")
	sgd, err1 := strconv.ParseUint(p, 10, 31)
	lbfgs, err2 := strconv.ParseUint(q, 10, 31)
	if !found || err1 != nil || err2 != nil || sgd < 1 || lbfgs < 2 {
		return nil, fmt.Errorf("%q is not P:Q, like 2:20: P ≥ 1 passes of SGD, then up to Q ≥ 2 of L-BFGS (the curvature pass counts)", s)
	}
	return &learn.Hybrid{SGDPasses: int(sgd), LBFGSPasses: int(lbfgs)}, nil
}

// onLossNames has the values of --on_loss, and lossPolicies their policies.
var (
	onLossNames  = []string{"abort", "wait", "shrink", "grow"}
	lossPolicies = []allreduce.OnLoss{allreduce.Abort, allreduce.Wait, allreduce.Shrink, allreduce.Open}
)

// OnLoss returns the loss policy of a name; that of an empty or unknown name is Abort, the
// default. The option's Choices exclude unknown names.
func OnLoss(name string) allreduce.OnLoss {
	return lossPolicies[max(0, slices.Index(onLossNames, name))]
}

// maltWord returns a Read for a text of learn.MaltConfig, which the group itself checks. set sets the field in a
// group without other faults.
func maltWord(set func(c *learn.MaltConfig, word string)) func([]string) (any, error) {
	return one(func(word string) (string, error) {
		c := learn.MaltConfig{Graph: graph.Names()[0]}
		set(&c, word)
		return word, textOf(c.Validate())
	})
}

// textOf returns the fault of a group without the name of its field.
func textOf(err error) error {
	if e, ok := errors.AsType[*learn.UsageError](err); ok {
		return errors.New(e.Text)
	}
	return nil
}

// GraphFile begins a value of --malt that names a file with a graph.
const GraphFile = "file:"

// maltGraph is the Read of --malt. The file of a graph is read by the rank.
var maltGraph = one(func(word string) (string, error) { return word, CheckGraph(word) })

// CheckGraph returns the fault of the name of a graph.
func CheckGraph(word string) error {
	if name, isFile := strings.CutPrefix(word, GraphFile); isFile && name != "" || slices.Contains(graph.Names(), word) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s or %sFILE", word, strings.Join(graph.Names(), ", "), GraphFile)
}

// graphNames lists the values of an option that names a graph.
var graphNames = strings.Join(graph.Names(), ", ") + " or " + GraphFile + "FILE"

var (
	maltSync     = maltWord(func(c *learn.MaltConfig, word string) { c.Sync = word })
	maltSend     = maltWord(func(c *learn.MaltConfig, word string) { c.Send = word })
	maltCompress = maltWord(func(c *learn.MaltConfig, word string) { c.Compress, c.Send = word, "gradients" })
)

// averageWord returns a Read for a text of learn.AverageConfig, which the group itself checks. set sets the field in a
// group without other faults.
func averageWord(set func(c *learn.AverageConfig, word string)) func([]string) (any, error) {
	return one(func(word string) (string, error) {
		c := learn.AverageConfig{Aggregate: "model"}
		set(&c, word)
		return word, textOf(c.Validate())
	})
}

var (
	averageBatch  = averageWord(func(c *learn.AverageConfig, word string) { c.Batch = word })
	averageEvery  = averageWord(func(c *learn.AverageConfig, word string) { c.Every = word })
	outerMomentum = one(func(word string) (float64, error) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return 0, err
		}
		c := learn.OuterConfig{Momentum: x}
		return x, textOf(c.Validate())
	})
)
