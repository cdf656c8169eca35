// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Point is a place in a program at which a fault can be injected.
type Point uint8

// The points.
const (
	Op       Point = iota // a collective begins
	Work                  // a step's Work begins
	Commit                // a step's Commit begins
	Wiring                // odd: the server has sent the members; even: the connections are open
	Delivery              // a file is about to be committed at the end of the job
	Write                 // an output file is about to get its name
	Exchange              // an exchange of weights with shared vectors begins
)

// Kind is the effect of a fault.
type Kind uint8

// The kinds.
const (
	None     Kind = iota
	Exit          // the process exits
	Kill          // it is killed, without cleanup
	Crash         // it crashes: a goroutine panics
	Stop          // it is stopped: its connections stay open but silent
	Slow          // it is slower from then on
	Drop          // its data connections close
	Garble        // a bit of the next message is flipped in transit, after the checksum
	HalfOpen      // its data connections stay open but carry no more bytes
)

// Every and Any stand for all ranks, and for all attempts or generations.
const (
	Every = -1
	Any   = 0
)

// DefaultCode is the exit code of Exit. It is not one of the codes after which launchers do
// not restart a process.
const DefaultCode = 70

// Fault is one injected failure.
type Fault struct {
	Rank    int    // the rank that fails; Every: all ranks
	At      Point  // the point
	N       uint64 // the number of the pass of the point, from 1
	Kind    Kind
	Code    int           // exit code of Exit
	Factor  float64       // of Slow at Work, or at Exchange of the learning between two: the factor of its duration; 0: use Delay
	Delay   time.Duration // of Slow: the additional time
	Attempt uint64        // attempt of the rank, from 1; Any: all attempts

	Generation uint64 // number of the start of the whole job, from 1; Any: all starts
}

// Plan is the list of faults of a job.
type Plan []Fault

// Description describes a point or a kind to users.
type Description struct{ Name, Does string }

// Points describes the points, in the order of their numbers.
var Points = []Description{
	Op:       {"op", "the N-th collective (sum, gather, ...) begins"},
	Work:     {"work", "the N-th step begins its work: a pass over the data"},
	Commit:   {"commit", "the N-th step is about to take effect"},
	Wiring:   {"wiring", "1: the other ranks are known, 2: the connections stand; 3 and 4 after a loss, and so on"},
	Delivery: {"delivery", "the N-th file is about to be made final, at the end of the job"},
	Write:    {"write", "the N-th output file is about to get its name"},
	Exchange: {"exchange", "the N-th exchange of weights of asynchronous training begins"},
}

// Kinds describes the kinds, in the order of their numbers.
var Kinds = []Description{
	Exit:     {"exit", "the process exits, with code 70 or code:C"},
	Kill:     {"kill", "the process is killed: nothing is tidied up"},
	Crash:    {"crash", "the process crashes: one of its goroutines panics"},
	Stop:     {"stop", "the process is stopped, as by SIGSTOP"},
	Slow:     {"slow", "from then on: slow:F takes F times as long (work, exchange), delay:T takes T longer"},
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

// String returns the fault in the syntax of Parse.
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

// String returns the plan in the syntax of Parse.
func (p Plan) String() string {
	words := make([]string, len(p))
	for i, f := range p {
		words[i] = f.String()
	}
	return strings.Join(words, ";")
}

// Needs reports whether the plan has a fault of one of the kinds.
func (p Plan) Needs(kinds ...Kind) bool {
	return slices.ContainsFunc(p, func(f Fault) bool { return slices.Contains(kinds, f.Kind) })
}

// Within returns the first fault for a rank outside a job of total ranks.
func (p Plan) Within(total int) (outside Fault, ok bool) {
	for _, f := range p {
		if f.Rank >= total {
			return f, false
		}
	}
	return Fault{}, true
}
