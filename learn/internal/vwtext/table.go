// SPDX-License-Identifier: Apache-2.0

package vwtext

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// Table prints the progress table of vw 9, byte for byte (vw's shared_data.cc: print_update). A
// row is due when the weight of the examples reaches Next. Then Next doubles, or grows as
// --progress demands.
type Table struct {
	Out io.Writer // nil: print nothing

	Next float64 // weight at which the next row is due
	add  bool    // add step to Next; false: multiply
	step float64

	// Sums at the last row, for the column "since last".
	Loss, Labeled              float64
	holdoutLoss, holdoutWeight float64
	buf                        []byte
}

const tableHead = "average  since         example        example        current        current  current\n" +
	"loss     last          counter         weight          label        predict features\n"

// NewTable returns a table with vw's -P: an integer of at least 1 is added, a number with a
// point multiplies. An empty progress is 2.0. As in vw 1 is added to a factor of at most 1.
func NewTable(out io.Writer, progress string) (*Table, error) {
	t := &Table{Out: out, Next: 1, step: 2}
	if progress == "" {
		return t, nil
	}
	v, err := strconv.ParseFloat(progress, 64)
	if err != nil || math.IsNaN(v) {
		return nil, fmt.Errorf("%q is not a number", progress)
	}
	t.step = v
	if strings.ContainsAny(progress, ".") {
		if v <= 1 {
			t.step++
		}
		return t, nil
	}
	t.step = max(1, v)
	t.add, t.Next = true, t.step
	return t, nil
}

// Head prints the two lines of the header.
func (t *Table) Head() error {
	if t.Out == nil {
		return nil
	}
	_, err := io.WriteString(t.Out, tableHead)
	return err
}

// Row prints a row if one is due. holdout selects the losses of held-out examples, which vw
// shows from the second pass on.
func (t *Table) Row(s *Stats, holdout bool, label, prediction float32, features int) error {
	if !t.Due(s) {
		return nil
	}
	shown := "unknown"
	if label != feature.NoLabel {
		shown = strconv.FormatFloat(float64(label), 'f', 4, 32)
	}
	return t.Print(s, holdout, shown, strconv.FormatFloat(float64(prediction), 'f', 4, 32), features)
}

// Due reports whether the example that was counted last gets a row.
func (t *Table) Due(s *Stats) bool { return t.Out != nil && s.Weighted() >= t.Next }

// Print prints a row, and computes when the next one is due.
func (t *Table) Print(s *Stats, holdout bool, label, prediction string, features int) error {
	weighted := s.Weighted()
	b := t.buf[:0]
	if holdout {
		h := &s.Holdout
		b = appendMean(b, h.Loss, h.Weight, "unknown")
		b = appendMean(b, h.Loss-t.holdoutLoss, h.Weight-t.holdoutWeight, "unknown")
		t.holdoutLoss, t.holdoutWeight = h.Loss, h.Weight
	} else {
		b = appendMean(b, s.Loss, s.Labeled, "n.a.")
		b = appendMean(b, s.Loss-t.Loss, s.Labeled-t.Labeled, "n.a.")
	}
	b = append(b, ' ')
	b = appendRight(b, strconv.FormatUint(s.Examples, 10), 12)
	b = append(b, ' ')
	b = appendRight(b, strconv.FormatFloat(weighted, 'f', 1, 64), 14)
	b = append(b, ' ')
	b = appendRight(b, label, 14)
	b = append(b, ' ')
	b = appendRight(b, prediction, 14)
	b = append(b, ' ')
	b = appendRight(b, strconv.Itoa(features), 8)
	if holdout {
		b = append(b, " h"...)
	}
	b = append(b, '\n')
	t.buf = b

	t.Loss, t.Labeled = s.Loss, s.Labeled
	if t.add {
		t.Next = float64(float32(weighted) + float32(t.step))
	} else {
		t.Next = float64(float32(weighted * t.step)) // vw keeps it in a float32
	}
	_, err := t.Out.Write(b)
	return err
}

// appendMean appends sum/weight in a column of 8 characters, cut as in vw. All columns but the
// first begin with a space.
func appendMean(b []byte, sum, weight float64, none string) []byte {
	if len(b) > 0 {
		b = append(b, ' ')
	}
	text := none
	if weight > 0 {
		text = FormatMean(sum / weight)
	}
	if len(text) > 8 {
		text = text[:8]
	}
	b = append(b, text...)
	for i := len(text); i < 8; i++ {
		b = append(b, ' ')
	}
	return b
}

// appendRight right-aligns text. Text that is too wide is cut and ends with three points, as in
// vw.
func appendRight(b []byte, text string, width int) []byte {
	if len(text) > width {
		text = text[:width-3] + "..."
	}
	for i := len(text); i < width; i++ {
		b = append(b, ' ')
	}
	return append(b, text...)
}

// FormatMean formats a loss as vw does. vw prints "-nan" for a loss of NaN, which a label
// outside the domain of the loss function makes.
func FormatMean(v float64) string {
	if math.IsNaN(v) {
		return "-nan"
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// Code codes the position of the table, so that a replacement prints the rows that the lost
// process would have printed.
func (t *Table) Code(c *snapshot.Coder) {
	for _, v := range []*float64{&t.Next, &t.Loss, &t.Labeled, &t.holdoutLoss, &t.holdoutWeight} {
		c.F64("the progress table", v)
	}
}
