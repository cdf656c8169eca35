// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/loss"
)

// oddLabels warns once of a label that the loss function accepts, as vw does, and that
// the user has hardly meant: one outside the range of the loss, or 0 for the logistic loss
// with classes -1 and 1.
type oddLabels struct {
	want  loss.Range
	half  float32 // the label halfway between the classes; NaN: it is no cause for a warning
	first bool    // there is a range, and no odd label has been seen
}

func (c *Config) newOddLabels(l loss.Loss) oddLabels {
	r, ok := loss.Labels(l)
	half := float32(math.NaN())
	if c.Loss.Function == "logistic" && !c.Loss.LogisticMin.Set && !c.Loss.LogisticMax.Set {
		half = 0
	}
	return oddLabels{want: r, half: half, first: ok}
}

func (o *oddLabels) fits(y float32) bool { return y >= o.want.Min && y <= o.want.Max && y != o.half }

// warning returns the warning of an odd label; it is the only one.
func (o *oddLabels) warning(y float32, l loss.Loss) string {
	o.first = false
	if y == o.half {
		return "label 0 counts as half an example of each class with the logistic loss, whose classes are -1 and 1: if yours are 0 and 1, give --logistic_min 0 (further ones are not shown)"
	}
	return fmt.Sprintf("label %g is not in the range from %g to %g that the %s loss expects (further ones are not shown)",
		y, o.want.Min, o.want.Max, l.Name())
}

// otherLoss is a note that the loaded model was trained with a loss that is not the one of
// this run, and that no loss was asked for; "" if there is nothing to note. A model does
// not keep its loss, as in vw. It keeps the range of predictions, which the logistic and the
// Poisson loss fix.
func (r *runner) otherLoss() string {
	c := &r.cfg
	if c.Model.Initial == "" || r.initial == nil || c.given.loss || c.OAA.Classes > 0 {
		return ""
	}
	trained, err := loss.New("logistic")
	if err != nil {
		panic("BUG: learn: " + err.Error())
	}
	if own, _ := loss.DefaultRange(trained); r.initial.labels != own {
		return ""
	}
	return fmt.Sprintf("%s was trained with --loss_function logistic or poisson, by its range of predictions, and the losses shown are of the %s loss: give --loss_function as for training", c.Model.Initial, c.Loss.Function)
}

// noteLoss logs the note on the loss, once, if there were labels to which it applies.
func (r *runner) noteLoss() {
	if r.otherLossNote != "" && (!r.cfg.TestOnly || r.job.all.Stats.Labeled > 0) {
		r.cfg.Diagnostics.Log.Warn(r.otherLossNote)
		r.otherLossNote = ""
	}
}
