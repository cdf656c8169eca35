// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Hands do what a library must not do by itself. Nil does nothing, but for Sleep.
type Hands struct {
	Exit  func(code int)      // ends the process
	Kill  func()              // kills it
	Crash func()              // crashes it
	Stop  func()              // stops it
	Sleep func(time.Duration) // nil: time.Sleep
	Say   func(text string)   // hears of a fault before it strikes
}

// armed is a plan at work.
type armed struct {
	faults []counted
	hands  Hands
}

// counted is a fault of this attempt, and how often its point was passed.
type counted struct {
	Fault
	passed atomic.Uint64
}

var current atomic.Pointer[armed]

// Life is which process of its rank this one is. Both numbers count from 1; 0 is 1.
type Life struct {
	Attempt    uint64 // launchers start a rank again
	Generation uint64 // and some of them the whole job
}

// Arm lets a plan strike in this process. An empty plan disarms it.
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

// Act is what the caller of At has to do itself. The zero value is nothing.
type Act struct {
	Kind   Kind // Drop, Garble, HalfOpen; else None
	factor float64
	sleep  func(time.Duration)
}

// Stretch makes what begins now and ends with done take as long as the fault wants.
func (a Act) Stretch() (done func()) {
	if a.factor <= 1 {
		return nop
	}
	began := time.Now()
	return func() { a.sleep(time.Duration((a.factor - 1) * float64(time.Since(began)))) }
}

func nop() {}

// At says that a rank passes a point. What strikes there happens now, but for what
// concerns connections, and a Work that shall take long.
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
			what.Rank = Every // said already
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
