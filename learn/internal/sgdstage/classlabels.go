// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
)

// ClassLabels maps labels to classes, which count from 0: the labels 1 to k, or 0
// to k-1, or names.
type ClassLabels struct {
	K       int
	First   int  // the label of the first class: 1 or 0
	Decided bool // first is known; otherwise the data decides
	Names   []string
	Cluster bool // other ranks see other labels
	warned  bool // of a label outside
	Log     *slog.Logger
}

// class is the number of the label's class, from 0; out of range if the label is
// no class's.
func (l *ClassLabels) class(label float32) int {
	if label == feature.NoLabel {
		return -1
	}
	return int(label) - l.First
}

// decide looks at a label that is about to be learned. As in vw the first label
// 0 says that labels count from 0, the first label k that they count from 1. On
// a cluster ranks could decide differently, so there they count from 1.
// learned is the number of examples that have been learned from before.
func (l *ClassLabels) decide(label float32, learned uint64) error {
	switch {
	case label == 0 && !l.Decided && l.Cluster:
		return &examples.DataError{Name: "label 0", Text: fmt.Sprintf("of the labels of learn.Config.OAA.Classes=%d: on a cluster they count from 1 unless told otherwise: give learn.Config.OAA.Indexing=0", l.K)}
	case label == 0 && !l.Decided:
		l.First, l.Decided = 0, true
		l.Log.Info("label 0 found: labels count from 0 from here on (learn.Config.OAA.Indexing=0)")
	case int(label) == l.K && !l.Decided:
		l.Decided = true
		if !l.Cluster {
			l.Log.Info(fmt.Sprintf("label %d found: labels count from 1 (learn.Config.OAA.Indexing=1)", l.K))
		}
	}
	if c := l.class(label); (c < 0 || c >= l.K) && !l.warned && l.Names == nil { // the parser warns of names
		l.warned = true
		l.Log.Warn(fmt.Sprintf("label %g is none of %d to %d: every class learns that it is not its own (further ones are not shown)",
			label, l.First, l.First+l.K-1), "example", learned+1)
	}
	return nil
}

// text is the label of a class, as people write it.
func (l *ClassLabels) text(class int) string {
	if l.Names != nil {
		return l.Names[class]
	}
	return strconv.Itoa(class + l.First)
}

// label is a label of the data as people write it, also one that is no class's.
func (l *ClassLabels) label(label float32) string {
	switch c := l.class(label); {
	case label == feature.NoLabel, l.Names != nil && (c < 0 || c >= l.K):
		return "unknown"
	case l.Names != nil:
		return l.Names[c]
	}
	return strconv.FormatFloat(float64(label), 'f', 0, 32)
}
