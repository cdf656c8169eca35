// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	ranks  = 4
	spares = 3 // hosts for attempts of ranks whose own host has failed for good
	hosts  = ranks + spares
)

// Kind is the kind of a fault.
type Kind string

// The kinds of faults.
const (
	Kill        Kind = "kill"            // SIGKILL of the rank's process
	Crash       Kind = "crash"           // a signal on which the Go runtime crashes
	Stop        Kind = "stop"            // SIGSTOP of the rank's process
	CutAll      Kind = "cut off"         // the host reaches nothing
	CutServer   Kind = "cut from server" // the host does not reach the gateway
	CutPeers    Kind = "cut from peers"  // the host reaches only the gateway
	CutPair     Kind = "pair cut"        // two hosts do not reach each other
	CutOneWay   Kind = "one way cut"     // packets from one host to another are dropped
	Loss        Kind = "packet loss"     // 15 % of the packets to a host are dropped
	Reset       Kind = "reset"           // packets between two hosts are answered by a reset
	HalfOpen    Kind = "half open"       // connections stay open and carry nothing
	Garble      Kind = "corruption"      // one bit flips behind the checksum
	DiskFull    Kind = "disk full"       // the host's disk has no space
	ReadOnly    Kind = "disk read-only"  // the host's disk is remounted read-only
	Frozen      Kind = "disk frozen"     // writes to the host's disk block
	Shared      Kind = "shared frozen"   // writes to the shared disk block
	Descriptors Kind = "descriptors"     // the process may open no more files, and another host opens connections
	Memory      Kind = "memory"          // the process may map no more memory
	ServerStop  Kind = "server stopped"  // SIGSTOP of the server
	ServerKill  Kind = "server killed"   // SIGKILL of the server, which is restarted unless the fault is permanent
	ServerDisk  Kind = "journal frozen"  // writes to the disk of the journal block
)

// trait holds the rules for drawing a kind of fault.
type trait struct {
	kind    Kind
	weight  int  // how often it is drawn, relative to others
	pair    bool // it has a second host
	instant bool // it has no duration
	forGood bool // it may be permanent
	longest time.Duration
}

// traits are in a fixed order: seeds keep their meaning as long as nothing is inserted.
var traits = []trait{
	{kind: Kill, weight: 3, instant: true},
	{kind: Crash, weight: 2, instant: true},
	{kind: Stop, weight: 2, forGood: true, longest: 5 * time.Second},
	{kind: CutAll, weight: 2, forGood: true, longest: 5 * time.Second},
	{kind: CutServer, weight: 2, forGood: true, longest: 5 * time.Second},
	{kind: CutPeers, weight: 2, forGood: true, longest: 5 * time.Second},
	{kind: CutPair, weight: 3, pair: true, forGood: true, longest: 5 * time.Second},
	{kind: CutOneWay, weight: 2, pair: true, forGood: true, longest: 5 * time.Second},
	{kind: Loss, weight: 2, longest: 5 * time.Second},
	{kind: Reset, weight: 2, pair: true, longest: 5 * time.Second},
	{kind: HalfOpen, weight: 1, instant: true},
	{kind: Garble, weight: 1, instant: true},
	{kind: DiskFull, weight: 1, forGood: true, longest: 4 * time.Second},
	{kind: ReadOnly, weight: 1, forGood: true, longest: 4 * time.Second},
	{kind: Frozen, weight: 1, forGood: true, longest: 6 * time.Second},
	{kind: Shared, weight: 1, longest: 6 * time.Second},
	{kind: Descriptors, weight: 2, longest: 4 * time.Second},
	{kind: Memory, weight: 1, instant: true},
	{kind: ServerStop, weight: 2, longest: 6 * time.Second},
	{kind: ServerKill, weight: 2, forGood: true, longest: 3 * time.Second},
	{kind: ServerDisk, weight: 1, longest: 6 * time.Second},
}

// traitOf returns the trait of a kind.
func traitOf(k Kind) trait {
	for _, t := range traits {
		if t.kind == k {
			return t
		}
	}
	panic("BUG: stormnet: no trait of " + string(k))
}

// Fault is one fault of a scenario.
type Fault struct {
	Kind  Kind
	Host  int           // host of the fault, and the rank that starts there; 0 for faults of the server
	Other int           // the second host of a pair; else -1
	After time.Duration // since the start of the ranks
	For   time.Duration // duration; 0: permanent, or an instant
	Draw  uint64        // selects details, such as the signal or the collective
}

// forGood reports whether the fault lasts to the end of the job.
func (f Fault) forGood() bool { return f.For == 0 && !traitOf(f.Kind).instant }

// ofServer reports whether the fault is one of the gateway.
func (f Fault) ofServer() bool {
	return f.Kind == ServerStop || f.Kind == ServerKill || f.Kind == ServerDisk
}

// planned returns the fault as a clause of GVW_FAULT, for the kinds that a process injects into
// itself; "" for the others.
func (f Fault) planned() string {
	switch f.Kind {
	case HalfOpen:
		return fmt.Sprintf("rank:%d,op:%d,kind:halfopen", f.Host, 1+f.Draw%20)
	case Garble:
		return fmt.Sprintf("rank:%d,op:%d,kind:garble", f.Host, 1+f.Draw%20)
	}
	return ""
}

func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprint(&b, f.Kind)
	if !f.ofServer() && f.Kind != Shared {
		fmt.Fprintf(&b, " h%d", f.Host)
	}
	if f.Other >= 0 {
		fmt.Fprintf(&b, "-h%d", f.Other)
	}
	if p := f.planned(); p != "" {
		return b.String() + " (" + p + ")"
	}
	fmt.Fprintf(&b, " at %.1f s", f.After.Seconds())
	switch {
	case f.For > 0:
		fmt.Fprintf(&b, " for %.1f s", f.For.Seconds())
	case f.forGood():
		b.WriteString(" for good")
	}
	return b.String()
}

// Scenario is one job and its faults.
type Scenario struct {
	Seed, Job  uint64
	Abort      bool // --on_loss abort; else wait
	Journal    bool // the server has --state
	Checkpoint bool // --checkpoint on the shared disk
	Faults     []Fault
}

func (s Scenario) String() string {
	parts := make([]string, len(s.Faults))
	for i, f := range s.Faults {
		parts[i] = f.String()
	}
	mode := "wait"
	if s.Abort {
		mode = "abort"
	}
	if s.Journal {
		mode += ", journal"
	}
	if s.Checkpoint {
		mode += ", checkpoints"
	}
	return fmt.Sprintf("%s: %s", mode, strings.Join(parts, "; "))
}

// earliest is the time of the first possible fault. A signal between fork and exec of a Go
// program would run the handler of the parent's runtime on the parent's memory.
const earliest = 100 * time.Millisecond

// draw returns job n of a seed. length is the duration of an undisturbed job.
func draw(seed, n uint64, length time.Duration) Scenario {
	r := rand.New(rand.NewPCG(seed, n))
	s := Scenario{Seed: seed, Job: n, Abort: r.IntN(6) == 0, Journal: r.IntN(2) == 0, Checkpoint: r.IntN(2) == 0}
	total := 0
	for _, t := range traits {
		total += t.weight
	}
	lasting := 0
	for range 1 + r.IntN(3) {
		at := r.IntN(total)
		var t trait
		for _, t = range traits {
			if at -= t.weight; at < 0 {
				break
			}
		}
		f := Fault{Kind: t.kind, Host: r.IntN(ranks), Other: -1, After: earliest + time.Duration(r.Int64N(int64(length))), Draw: r.Uint64()}
		if t.pair {
			f.Other = (f.Host + 1 + r.IntN(ranks-1)) % ranks
		}
		length := 200*time.Millisecond + time.Duration(r.Int64N(int64(max(t.longest, 1))))
		// At most one permanent fault per job: with two, the rest is often not a cluster.
		forGood := t.forGood && lasting == 0 && r.IntN(3) == 0
		if !t.instant && !forGood {
			f.For = length
		}
		if f.ofServer() {
			f.Host = 0
			s.Journal = s.Journal || f.Kind == ServerDisk
		}
		if f.forGood() {
			lasting++
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

// failed returns the hosts that are permanently unusable in the scenario.
func (s Scenario) failed() (failed [hosts]bool) {
	for _, f := range s.Faults {
		if !f.forGood() || f.ofServer() {
			continue
		}
		failed[f.Host] = true
		if f.Other >= 0 { // the server decides which of the two is excluded
			failed[f.Other] = true
		}
	}
	return failed
}

// withoutServer reports whether the server fails permanently.
func (s Scenario) withoutServer() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Kind == ServerKill && f.forGood() })
}

// restarts returns the greatest number of restarts of a rank.
func (s Scenario) restarts() int {
	if s.withoutServer() {
		return 1
	}
	return 20
}

// last returns the time when the last fault begins or ends, since the start of the ranks.
func (s Scenario) last() (last time.Duration) {
	for _, f := range s.Faults {
		last = max(last, f.After+f.For)
	}
	return last
}
