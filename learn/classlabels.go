// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/gvw-project/gvw/feature"
)

// classLabels maps labels to classes, which count from 0: the labels 1 to k, or 0
// to k-1, or names.
type classLabels struct {
	k       int
	first   int  // the label of the first class: 1 or 0
	decided bool // first is known; otherwise the data decides
	names   []string
	cluster bool // other ranks see other labels
	warned  bool // of a label outside
	log     *slog.Logger
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
// learned is the number of examples that have been learned from before.
func (l *classLabels) decide(label float32, learned uint64) error {
	switch {
	case label == 0 && !l.decided && l.cluster:
		return &dataError{Name: "label 0", Text: fmt.Sprintf("of the labels of --oaa %d: on a cluster they count from 1 unless told otherwise: give --indexing 0", l.k)}
	case label == 0 && !l.decided:
		l.first, l.decided = 0, true
		l.log.Info("label 0 found: labels count from 0 from here on (--indexing 0)")
	case int(label) == l.k && !l.decided:
		l.decided = true
		if !l.cluster {
			l.log.Info(fmt.Sprintf("label %d found: labels count from 1 (--indexing 1)", l.k))
		}
	}
	if c := l.class(label); (c < 0 || c >= l.k) && !l.warned && l.names == nil { // the parser warns of names
		l.warned = true
		l.log.Warn(fmt.Sprintf("label %g is none of %d to %d: every class learns that it is not its own (further ones are not shown)",
			label, l.first, l.first+l.k-1), "example", learned+1)
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
