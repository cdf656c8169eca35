// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Point is a kind of place in a program that can be struck.
type Point uint8

// The points.
const (
	Op       Point = iota // a collective begins
	Work                  // a step's Work begins
	Commit                // a step's Commit begins
	Wiring                // odd: the server has said who the others are; even: the connections stand
	Delivery              // a file is about to be made final at the end of the job
	Write                 // an output file is about to get its name
)

// Kind is what happens.
type Kind uint8

// The kinds.
const (
	None     Kind = iota
	Exit          // the process exits
	Kill          // it is killed: nothing is tidied up
	Crash         // it crashes: a goroutine panics
	Stop          // it is stopped: its connections stay, and nothing comes
	Slow          // it takes longer, from then on
	Drop          // its data connections end
	Garble        // a bit of what it sends next flips on the way, after the checksum
	HalfOpen      // its data connections stay, and nothing goes over them any more
)

// Every and Any stand for all ranks, and for all attempts or generations.
const (
	Every = -1
	Any   = 0
)

// DefaultCode is the exit code of a process that a fault ends, unless it names
// one: none of those that mean that a new start is pointless.
const DefaultCode = 70

// Fault is one thing that happens, once.
type Fault struct {
	Rank    int    // whom it strikes; Every: all
	At      Point  // where
	N       uint64 // at which time of passing there, from 1
	Kind    Kind
	Code    int           // of Exit
	Factor  float64       // of Slow at Work: how many times as long it takes; 0: Delay
	Delay   time.Duration // of Slow: how much longer
	Attempt uint64        // in which attempt of the rank, from 1; Any: in all

	Generation uint64 // in which generation of the run, from 1; Any: in all
}

// Plan is what is to happen in a job.
type Plan []Fault

// Description is what people are told about a point or a kind.
type Description struct{ Name, Does string }

// Points describes the points, in the order of their numbers.
var Points = []Description{
	Op:       {"op", "the N-th collective (sum, gather, ...) begins"},
	Work:     {"work", "the N-th step begins its work: a pass over the data"},
	Commit:   {"commit", "the N-th step is about to take effect"},
	Wiring:   {"wiring", "1: the other ranks are known, 2: the connections stand; 3 and 4 after a loss, and so on"},
	Delivery: {"delivery", "the N-th file is about to be made final, at the end of the job"},
	Write:    {"write", "the N-th output file is about to get its name"},
}

// Kinds describes the kinds, in the order of their numbers.
var Kinds = []Description{
	Exit:     {"exit", "the process exits, with code 70 or code:C"},
	Kill:     {"kill", "the process is killed: nothing is tidied up"},
	Crash:    {"crash", "the process crashes: one of its goroutines panics"},
	Stop:     {"stop", "the process is stopped, as by SIGSTOP"},
	Slow:     {"slow", "from then on: slow:F takes F times as long (work), delay:T takes T longer"},
	Drop:     {"drop", "the connections to other ranks end"},
	Garble:   {"garble", "a bit of what is sent next to another rank flips, after the checksum"},
	HalfOpen: {"halfopen", "the connections to other ranks stay, but nothing goes over them any more"},
}

func (p Point) String() string { return Points[p].Name }
func (k Kind) String() string  { return Kinds[k].Name }

// onConnections reports whether a kind concerns connections to other ranks.
func (k Kind) onConnections() bool { return k >= Drop }

// connected reports whether connections to other ranks stand at a point.
func (p Point) connected() bool { return p <= Commit }

// String returns the fault as Parse reads it.
func (f Fault) String() string {
	var words []string
	add := func(name, value string) { words = append(words, name+":"+value) }
	if f.Rank != Every {
		add("rank", strconv.Itoa(f.Rank))
	}
	add(f.At.String(), strconv.FormatUint(f.N, 10))
	switch {
	case f.Kind == Slow && f.Factor > 0:
		add("slow", strconv.FormatFloat(f.Factor, 'g', -1, 64))
	case f.Kind == Slow:
		add("delay", f.Delay.String())
	default:
		add("kind", f.Kind.String())
	}
	if f.Kind == Exit && f.Code != DefaultCode {
		add("code", strconv.Itoa(f.Code))
	}
	for _, life := range []struct {
		name string
		n    uint64
	}{{"attempt", f.Attempt}, {"generation", f.Generation}} {
		switch life.n {
		case 1:
		case Any:
			add(life.name, "any")
		default:
			add(life.name, strconv.FormatUint(life.n, 10))
		}
	}
	return strings.Join(words, ",")
}

// String returns the plan as Parse reads it.
func (p Plan) String() string {
	words := make([]string, len(p))
	for i, f := range p {
		words[i] = f.String()
	}
	return strings.Join(words, ";")
}

// Needs reports whether a fault of one of the kinds is in the plan.
func (p Plan) Needs(kinds ...Kind) bool {
	return slices.ContainsFunc(p, func(f Fault) bool { return slices.Contains(kinds, f.Kind) })
}

// Within returns the first fault of a rank that a job of total ranks does not have.
func (p Plan) Within(total int) (outside Fault, ok bool) {
	for _, f := range p {
		if f.Rank >= total {
			return f, false
		}
	}
	return Fault{}, true
}
