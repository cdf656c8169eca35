// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/oaa"
)

// Audit implements --audit and --invert_hash (vw's gd.cc: print_audit_features). It looks at
// the features of each example by name, before the example is learned from. A nil Audit does
// nothing.
type Audit struct {
	out   *bufio.Writer     // nil: print nothing
	sums  bool              // also print the adaptive sums
	names map[uint32]string // first name of each weight; nil: not needed

	line  []byte
	items []auditItem
	Used  float32 // prediction by which the FTRL family has learned from the current example

	batch   *feature.Batch   // of example
	example *feature.Example // the current one, if classes are predicted
}

// NewAudit returns an Audit that prints features to out; nil means that it prints none. names
// makes it remember the names of weights. sums means that weights have adaptive sums, which are
// printed, too.
func NewAudit(out io.Writer, names, sums bool) *Audit {
	a := &Audit{sums: sums}
	if out != nil {
		a.out = bufio.NewWriterSize(out, 1<<16)
	}
	if names {
		a.names = make(map[uint32]string)
	}
	return a
}

// auditItem is a printed feature: a part of Audit.line.
type auditItem struct {
	lo, hi int
	size   float32 // |weight·value|
}

// Weighted is a learner whose weights can be read.
type Weighted interface {
	Weights() []float32
	Stride() int
	At(i uint32) float32 // contribution of weight i to a prediction
}

// Look stores the names and the printed form of an example's features.
func (a *Audit) Look(b *feature.Batch, ex *feature.Example, l Weighted) {
	if a != nil {
		a.lookAt(b, ex, l, OwnPlace, "")
	}
}

// OwnPlace returns i. A learner of simple labels has the weight of feature i at index i.
func OwnPlace(i uint32) uint32 { return i }

// Classes prints the features once for each class.
func (a *Audit) Classes(b *feature.Batch, ex *feature.Example, l *oaa.Learner, table Weighted) error {
	if a == nil {
		return nil
	}
	a.batch, a.example = b, ex
	for k, p := range l.Predict(b.FeaturesOf(ex), ex.Initial) {
		if err := a.Class(l, table, k, p); err != nil {
			return err
		}
	}
	return nil
}

// Class prints the features of the current example with the weights of one class.
func (a *Audit) Class(l *oaa.Learner, table Weighted, class int, score float32) error {
	suffix := "" // as vw marks classes in --invert_hash
	if class > 0 {
		suffix = fmt.Sprintf("[%d]", class)
	}
	a.lookAt(a.batch, a.example, table, func(i uint32) uint32 { return l.Place(i, class) }, suffix)
	return a.Show(score, a.batch.TagOf(a.example))
}

// lookAt stores the features with the weights at the indices that place returns. suffix ends
// their names.
func (a *Audit) lookAt(b *feature.Batch, ex *feature.Example, l Weighted, place func(uint32) uint32, suffix string) {
	a.line, a.items = a.line[:0], a.items[:0]
	rest := ex.FeatLo - ex.Hidden // interactions follow the namespaces
	for _, s := range b.SpansOf(ex) {
		for i := s.Lo; i < s.Hi; i++ {
			name := b.NameOf(int(i))
			if len(name) == 0 && s.NS == feature.ConstantNamespace { // a cache has no name for it
				name = constantName
			}
			a.feature(b, i, name, l, place(b.Features[i].Index), suffix)
		}
		rest += s.Hi - s.Lo
	}
	for ; rest < ex.FeatHi; rest++ {
		a.feature(b, rest, b.NameOf(int(rest)), l, place(b.Features[rest].Index), suffix)
	}
}

// constantName is vw's name of the constant feature.
var constantName = []byte("Constant")

// feature stores Features[i], whose weight is at index, in the form
// name:index:value:weight@sum.
func (a *Audit) feature(b *feature.Batch, i uint32, name []byte, l Weighted, index uint32, suffix string) {
	value := b.Features[i].Value
	if a.names != nil {
		if _, ok := a.names[index]; !ok {
			a.names[index] = string(name) + suffix
		}
	}
	if a.out == nil {
		return
	}
	lo := len(a.line)
	line := append(a.line, name...)
	line = strconv.AppendUint(append(line, ':'), uint64(index), 10)
	line = model.AppendFloat(append(line, ':'), float64(value))
	line = model.AppendFloat(append(line, ':'), float64(l.At(index)))
	w := l.Weights()[int(index)*l.Stride():]
	if a.sums {
		line = model.AppendFloat(append(line, '@'), float64(w[1]))
	}
	a.line = line
	a.items = append(a.items, auditItem{lo: lo, hi: len(line), size: float32(math.Abs(float64(w[0] * value)))})
}

// Show prints the prediction, and the features in the order of |weight·value|.
func (a *Audit) Show(prediction float32, tag []byte) error {
	if a == nil || a.out == nil {
		return nil
	}
	// The sort is stable: equal features keep the order of the example.
	slices.SortStableFunc(a.items, func(x, y auditItem) int {
		switch {
		case x.size > y.size:
			return -1
		case x.size < y.size:
			return 1
		}
		return 0
	})
	if err := appendTagged(a.out, prediction, tag); err != nil {
		return err
	}
	for _, item := range a.items {
		if err := a.out.WriteByte('\t'); err != nil {
			return err
		}
		if _, err := a.out.Write(a.line[item.lo:item.hi]); err != nil {
			return err
		}
	}
	return a.out.WriteByte('\n')
}

// appendTagged writes a line in the form of a prediction.
func appendTagged(w io.Writer, value float32, tag []byte) error {
	b := appendPrediction(make([]byte, 0, 64), value)
	if len(tag) > 0 {
		b = append(append(b, ' '), tag...)
	}
	_, err := w.Write(append(b, '\n'))
	return err
}

// Flush writes the buffered lines.
func (a *Audit) Flush() error {
	if a == nil || a.out == nil {
		return nil
	}
	return a.out.Flush()
}

// Name returns the first name of weight i, and reports whether it has one.
func (a *Audit) Name(i uint32) (name string, known bool) {
	name, known = a.names[i]
	return name, known
}
