// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// ClassLabels maps labels to classes, which count from 0. The labels are 1 to K, or 0 to K-1,
// or names.
type ClassLabels struct {
	Data    string   // name of the data, for errors
	K       int      // number of classes
	First   int      // label of the first class, 1 or 0
	Decided bool     // First is final; false: the first label 0 or K decides
	Names   []string // names of the classes; nil: labels are numbers
	Any     bool     // labels that have no class are learned, too
	Cluster bool     // other ranks have other data, which must not decide
	warned  bool     // a label out of range has been logged
	Log     *slog.Logger
}

// class returns the class of a label, from 0. It is out of range if the label has no class.
func (l *ClassLabels) class(label float32) int {
	if label == feature.NoLabel {
		return -1
	}
	return int(label) - l.First
}

// outside reports whether a label has no class, and is not learned.
func (l *ClassLabels) outside(label float32) bool {
	c := l.class(label)
	return label != feature.NoLabel && (c < 0 || c >= l.K) && !l.Any
}

// decide looks at a label that is about to be learned from. As in vw the first label 0 means
// that labels count from 0, and the first label K that they count from 1. The ranks of a
// cluster could decide differently, so there labels count from 1. learned is the number of
// examples learned from so far, for the warning.
func (l *ClassLabels) decide(label float32, learned uint64) error {
	if err := l.decideFirst(label); err != nil {
		return err
	}
	if c := l.class(label); (c < 0 || c >= l.K) && l.Names == nil { // the parser warns of names
		l.warnOutside(label, learned, "learned as an example of no class")
	}
	return nil
}

// decideFirst decides from which number labels count.
func (l *ClassLabels) decideFirst(label float32) error {
	switch {
	case label == 0 && !l.Decided && l.Cluster:
		return &examples.DataError{Name: l.Data, Text: fmt.Sprintf("got label 0, want 1 to %d: labels count from 1 on a cluster by default; set learn.Config.OAA.Indexing=0", l.K)}
	case label == 0 && !l.Decided:
		l.First, l.Decided = 0, true
		l.Log.Info("labels found to count from 0 (learn.Config.OAA.Indexing=0)", "label", 0)
	case int(label) == l.K && !l.Decided:
		l.Decided = true
		if !l.Cluster {
			l.Log.Info("labels found to count from 1 (learn.Config.OAA.Indexing=1)", "label", l.K)
		}
	}
	return nil
}

// warnOutside logs the first label that has no class, and what becomes of it.
func (l *ClassLabels) warnOutside(label float32, learned uint64, effect string) {
	if l.warned {
		return
	}
	l.warned = true
	l.Log.Warn("label without a class found, further ones are not logged",
		"label", label, "first", l.First, "last", l.First+l.K-1, "effect", effect, "example", learned+1)
}

// text returns the label of a class as data files have it.
func (l *ClassLabels) text(class int) string {
	if l.Names != nil {
		return l.Names[class]
	}
	return strconv.Itoa(class + l.First)
}

// label returns a label of the data as data files have it. The label need not have a class.
func (l *ClassLabels) label(label float32) string {
	switch c := l.class(label); {
	case label == feature.NoLabel, l.Names != nil && (c < 0 || c >= l.K):
		return "unknown"
	case l.Names != nil:
		return l.Names[c]
	}
	return strconv.FormatFloat(float64(label), 'f', 0, 32)
}

// code codes what the data has decided.
func (l *ClassLabels) code(c *snapshot.Coder) {
	c.Number("label of the first class", &l.First, 1)
	c.Flag("first label known", &l.Decided)
	c.Flag("warned of labels outside", &l.warned)
}
