// SPDX-License-Identifier: Apache-2.0

// Package ect is vw's --ect: error correcting tournaments.
//
// Classes play matches in pairs. A class leaves the contest after it has lost a number of matches,
// one more than the errors that are corrected, so there is a tournament for each number of losses so
// far. Binary finals between the winners of the tournaments decide. Each match and each final is a
// linear learner, whose score is above 0 if the right side wins (vw's ect.cc). A prediction takes the
// logarithm of the number of classes.
package ect

import (
	"errors"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

const (
	maxClasses = 1 << 16
	maxErrors  = 16
)

// Spec is the row of the tournaments.
var Spec = reduction.Spec{
	Name: "ect",
	Options: []reduction.Option{
		{Name: "ect", Kind: reduction.Count, Arg: "K", Help: "K classes by tournaments of linear learners, for labels 1 to K", Kept: true},
		{Name: "error", Kind: reduction.Count, Arg: "N", Help: "correct N errors", Default: "0", Kept: true},
	},
	Above:         true,
	PredictsFirst: true,
	Labels:        feature.ClassLabels,
	Excludes:      reduction.LinksClasses,
	New: func(v reduction.Values) (reduction.Plan, error) {
		k, err := v.Count("ect", 1, maxClasses)
		n, err2 := v.Count("error", 0, maxErrors)
		t := newTournaments(k, n+1)
		return reduction.Plan{Slots: t.learners, Classes: k, MakeClassifier: func(e *reduction.Env) (reduction.Classifier, error) {
			return &learner{env: e, t: t, won: make([]bool, 0, n+1)}, nil
		}}, errors.Join(err, err2)
	},
}

type learner struct {
	env *reduction.Env
	t   *tournaments

	placed []feature.Feature
	own    feature.Example
	won    []bool  // tournaments
	raw    float32 // a raw score
}

// right reports whether the right side wins a match or final by its score.
func (l *learner) right(k int) (score float32, wins bool) {
	raw, score := l.env.Base.Predict(k, l.placed, l.own.Initial)
	l.raw = reduction.Wild(l.raw, raw)
	return score, score > 0
}

// learn lets learner k learn which side wins, and returns whether the right side won before that.
func (l *learner) learn(k int, right bool) bool {
	l.own.Label = -1
	if right {
		l.own.Label = 1
	}
	l.env.Follow(l.own.Label)
	score, wins := l.right(k)
	l.env.Base.Update(k, l.placed, &l.own, score)
	return wins
}

func (l *learner) PredictClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	l.own, l.raw = *ex, 0
	c := reduction.Choice{Class: l.predict(), Raw: l.raw, Weight: ex.Weight}
	if ex.Labeled() && c.Class != y.Class {
		c.Loss = 1
	}
	return c
}

// predict returns the class that wins.
func (l *learner) predict() int {
	t := l.t
	if t.classes == 1 {
		return 0
	}
	winner := 0 // of the finals: the number of a tournament
	for i := t.height - 1; i >= 0; i-- {
		if other := winner | 1<<i; other < t.losses {
			if _, wins := l.right(t.firstFinal + other - 1); wins {
				winner = other
			}
		}
	}
	at := t.finals[winner]
	for at >= t.classes {
		m := &t.matches[at]
		if _, wins := l.right(at - t.classes); wins {
			at = m.right
		} else {
			at = m.left
		}
	}
	return at
}

// LearnClass lets all matches learn that the class of the label has to play, until it is out, and
// then the finals. As in vw a final has a weight of its own, with which the
// example counts afterwards.
func (l *learner) LearnClass(b *feature.Batch, ex *feature.Example, y *reduction.Target) reduction.Choice {
	c := l.PredictClass(b, ex, y)
	if l.t.classes > 1 && y.Class >= 0 && y.Class < l.t.classes {
		l.play(y.Class)
		l.playFinals()
	}
	c.Weight, c.Raw = l.own.Weight, l.raw
	l.env.Base.End(&l.own)
	return c
}

// play sets won to the tournaments that a class wins. It goes on in each match by the prediction after
// the update.
func (l *learner) play(class int) {
	t := l.t
	l.won = l.won[:0]
	at := t.matches[class].winner
	left := t.matches[at].left == class
	for {
		l.learn(at-t.classes, !left)
		score, _ := l.right(at - t.classes)
		wins := score > 0
		if left {
			wins = score < 0
		}
		m := &t.matches[at]
		next := m.loser
		if wins {
			next = m.winner
		}
		switch {
		case m.last:
			l.won = append(l.won, wins)
		default:
			left = t.matches[next].left == at
			if !wins && next == 0 {
				l.won = append(l.won, false)
			}
		}
		if at = next; at == 0 {
			return
		}
	}
}

// playFinals lets the finals learn between tournaments that the class has won, and others.
func (l *learner) playFinals() {
	t := l.t
	for i := range t.height {
		for j := 0; j < len(l.won)/2; j++ { // the list gets shorter, as in vw
			left, right := l.won[2*j], l.won[2*j+1]
			l.won[j] = left
			if left != right {
				l.own.Weight = float32(int(1) << (t.height - i - 1))
				if l.learn(t.firstFinal+j<<(i+1)+1<<i-1, !left) {
					l.won[j] = right
				}
			}
			n := len(l.won)
			if n%2 == 1 {
				l.won[n/2] = l.won[n-1]
			}
			l.won = l.won[:(1+n)/2]
		}
	}
}
