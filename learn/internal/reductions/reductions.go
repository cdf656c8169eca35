// SPDX-License-Identifier: Apache-2.0

// Package reductions is the table of learners that are composed of linear ones (package reduction).
//
//	spec := reductions.Of(values) // the learner that the options enable
package reductions

import (
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/learn/internal/reduction/boosting"
	"github.com/gvw-project/gvw/learn/internal/reduction/bootstrap"
	"github.com/gvw-project/gvw/learn/internal/reduction/csoaa"
	"github.com/gvw-project/gvw/learn/internal/reduction/ect"
	"github.com/gvw-project/gvw/learn/internal/reduction/logmulti"
	"github.com/gvw-project/gvw/learn/internal/reduction/lrq"
	"github.com/gvw-project/gvw/learn/internal/reduction/marginal"
	"github.com/gvw-project/gvw/learn/internal/reduction/multilabel"
	"github.com/gvw-project/gvw/learn/internal/reduction/newmf"
	"github.com/gvw-project/gvw/learn/internal/reduction/nn"
	"github.com/gvw-project/gvw/learn/internal/reduction/quantiles"
	"github.com/gvw-project/gvw/learn/internal/reduction/rank"
	"github.com/gvw-project/gvw/learn/internal/reduction/stagepoly"
	"github.com/gvw-project/gvw/learn/internal/reduction/svrg"
)

// All are the learners. A new one needs its package and its row here.
var All = []reduction.Spec{
	lrq.Spec,
	lrq.FieldAware,
	nn.Spec,
	newmf.Spec,
	rank.Spec,
	bootstrap.Spec,
	boosting.Spec,
	stagepoly.Spec,
	marginal.Spec,
	quantiles.Spec,
	csoaa.Spec,
	multilabel.Spec,
	ect.Spec,
	logmulti.Spec,
	svrg.Spec,
}

// Of returns the learners that the options enable.
func Of(v reduction.Values) []reduction.Spec {
	var on []reduction.Spec
	for _, s := range All {
		if v.Has(s.Name) {
			on = append(on, s)
		}
	}
	return on
}

// Option returns the option of a name.
func Option(name string) (reduction.Option, bool) {
	for _, s := range All {
		for _, o := range s.Options {
			if o.Name == name {
				return o, true
			}
		}
	}
	return reduction.Option{}, false
}
