// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Hands are the actions that a library must not take by itself. A nil function does nothing, except Sleep.
type Hands struct {
	Exit  func(code int)      // ends the process
	Kill  func()              // kills the process
	Crash func()              // crashes the process
	Stop  func()              // stops the process
	Sleep func(time.Duration) // nil: time.Sleep
	Say   func(text string)   // called with a description before a fault triggers
}

// armed is an active plan.
type armed struct {
	faults []counted
	hands  Hands
}

// counted is a fault of this attempt with the number of passes of its point.
type counted struct {
	Fault
	passed atomic.Uint64
}

var current atomic.Pointer[armed]

// Life identifies this process among those of its rank. Both numbers count from 1; 0 means 1.
type Life struct {
	Attempt    uint64 // number of the process of the rank; launchers restart ranks
	Generation uint64 // number of the start of the whole job: one more than its restarts
}

// Arm activates a plan in this process. An empty plan deactivates it.
func Arm(p Plan, in Life, h Hands) {
	a := &armed{hands: h}
	for _, f := range p {
		if strikes(f.Attempt, in.Attempt) && strikes(f.Generation, in.Generation) {
			a.faults = append(a.faults, counted{Fault: f})
		}
	}
	if len(a.faults) == 0 {
		current.Store(nil)
		return
	}
	if a.hands.Sleep == nil {
		a.hands.Sleep = time.Sleep
	}
	current.Store(a)
}

func strikes(in, now uint64) bool { return in == Any || in == max(now, 1) }

// Act is the action that the caller of At must take. The zero value is none.
type Act struct {
	Kind   Kind // Drop, Garble or HalfOpen; otherwise None
	factor float64
	sleep  func(time.Duration)
}

// Stretch slows down work that begins now and ends with the call of done.
func (a Act) Stretch() (done func()) {
	if a.factor <= 1 {
		return nop
	}
	began := time.Now()
	return func() { a.sleep(time.Duration((a.factor - 1) * float64(time.Since(began)))) }
}

func nop() {}

// At reports that a rank passes a point. It performs the faults of the point, except those
// of connections and a slow Work, which it returns.
func At(rank int, p Point) Act {
	if a := current.Load(); a != nil {
		return a.at(rank, p)
	}
	return Act{}
}

func (a *armed) at(rank int, p Point) (act Act) {
	for i := range a.faults {
		f := &a.faults[i]
		if f.At != p || f.Rank != Every && f.Rank != rank {
			continue
		}
		n := f.passed.Add(1)
		if n != f.N && (f.Kind != Slow || n < f.N) {
			continue
		}
		if n == f.N && a.hands.Say != nil {
			what := f.Fault
			what.Rank = Every // the prefix names the rank already
			a.hands.Say(fmt.Sprintf("fault: rank %d: %v", rank, what))
		}
		switch f.Kind {
		case Exit:
			if a.hands.Exit != nil {
				a.hands.Exit(f.Code)
			}
		case Kill:
			do(a.hands.Kill)
		case Crash:
			do(a.hands.Crash)
		case Stop:
			do(a.hands.Stop)
		case Slow:
			if f.Factor > 0 {
				act.factor, act.sleep = f.Factor, a.hands.Sleep
			} else {
				a.hands.Sleep(f.Delay)
			}
		default:
			act.Kind = f.Kind
		}
	}
	return act
}

func do(f func()) {
	if f != nil {
		f()
	}
}
