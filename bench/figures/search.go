// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/svm"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/masgd"
)

// searchExamples is the number of examples with which settings are searched.
const searchExamples = 8_000

// setting is the learning rate of SGD with the exponent of its decay, and the share of the examples in a batch of
// SendGradient; 0 for SendModel.
type setting struct{ rate, power, batch float64 }

func (s setting) String() string {
	text := fmt.Sprintf("rate %g·t^-%g", s.rate, s.power)
	if s.batch > 0 {
		text += fmt.Sprintf(", batches of %g", s.batch)
	}
	return text
}

// searched is the best of several settings.
type searched struct {
	setting
	rounds int     // to the goal; 0: not reached
	value  float64 // the least objective
	tried  int     // settings
}

// compare orders results: first those with fewer rounds to the goal, then those with a lower objective.
func (s searched) compare(t searched) int {
	most := func(rounds int) int {
		if rounds == 0 {
			return math.MaxInt
		}
		return rounds
	}
	return cmp.Or(cmp.Compare(most(s.rounds), most(t.rounds)), cmp.Compare(s.value, t.value))
}

// search makes the steps of the ranks in this process with each setting, on some of the examples, and returns the one
// with the fewest rounds to the goal within a limit of rounds. After 1/27, 1/9 and 1/3 of the limit it leaves out the worse half of the settings.
func (p *problem) search(goal float64, rates, powers []float64, batch float64, limit int) (searched, error) {
	sample := *p
	sample.Examples = p.Examples[:min(searchExamples, len(p.Examples))]
	p = &sample
	var all []searched
	for _, rate := range rates {
		for _, power := range powers {
			all = append(all, searched{setting: setting{rate, power, batch}})
		}
	}
	tried := len(all)
	for _, part := range []int{27, 9, 3, 1} {
		for i := range all {
			if err := p.try(&all[i], goal, max(2, limit/part)); err != nil {
				return searched{}, err
			}
		}
		slices.SortStableFunc(all, searched.compare)
		all = all[:(len(all)+1)/2]
		if all[0].rounds > 0 && batch > 0 {
			break // more rounds of the others change nothing
		}
	}
	all[0].tried = tried
	return all[0], nil
}

// try makes rounds of a setting: of SendGradient to the goal at most.
func (p *problem) try(s *searched, goal float64, limit int) error {
	s.rounds, s.value = 0, math.Inf(1)
	return p.rounds(s.setting, limit, func(round int, value float64) bool {
		s.value = min(s.value, value)
		if value <= goal && s.rounds == 0 {
			s.rounds = round
		}
		return s.rounds > 0 && s.batch > 0 || !(value < 10)
	})
}

// rounds makes rounds of a setting until done reports true, at most a number of them. done gets the objective after
// each round; with more than 20 rounds only after about each twentieth of those so far.
func (p *problem) rounds(s setting, limit int, done func(round int, value float64) bool) error {
	logistic, err := loss.New("logistic")
	if err != nil {
		return err
	}
	rule := masgd.Config{Loss: logistic, Rate: s.rate, PowerT: s.power, L2: p.Lambda}
	w, next := make([]float32, p.Size), make([]float32, p.Size)
	step := p.average(rule)
	if s.batch > 0 {
		step = p.descend(rule, int(math.Round(1/s.batch)))
	}
	for round := range limit {
		if err := step(next, w, round); err != nil {
			return err
		}
		w, next = next, w
		if n := round + 1; n%max(1, n/20) == 0 && done(n, p.objective(w)) {
			return nil
		}
	}
	return nil
}

// descend returns the steps of SendGradient, which replace next by the weights after a step from w. A pass has per of
// them.
func (p *problem) descend(rule masgd.Config, per int) func(next, w []float32, round int) error {
	g := masgd.NewGradient(rule.Loss, p.Size)
	return func(next, w []float32, round int) error {
		g.Begin(w)
		for rank := range ranks {
			shard, i := p.shard(rank), round%per
			learn(g, shard[i*len(shard)/per:(i+1)*len(shard)/per])
		}
		g.Store(next)
		rule.Descend(next, w, g.Weight(), float64(round))
		return nil
	}
}

// average returns the rounds of SendModel, which replace next by the mean of the models after a pass from w.
func (p *problem) average(rule masgd.Config) func(next, w []float32, round int) error {
	replica := make([]float32, p.Size)
	return func(next, w []float32, round int) error {
		clear(next)
		for rank := range ranks {
			shard := p.shard(rank)
			l, err := masgd.New(rule, replica)
			if err != nil {
				return err
			}
			copy(replica, w)
			l.Begin(replica, nil, float64(round*len(shard)))
			learn(l, shard)
			l.End()
			for i, v := range replica {
				next[i] += v / ranks
			}
		}
		return nil
	}
}

// learn passes examples to a learner of package masgd.
func learn(l interface {
	Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32)
}, examples []svm.Example,
) {
	var one feature.Example
	for _, ex := range examples {
		one.Label, one.Weight = ex.Label, ex.Weight
		l.Learn(ex.Features, &one)
	}
}
