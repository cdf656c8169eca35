// SPDX-License-Identifier: Apache-2.0

// Package events keeps what a rank did in its last seconds, for the report of a failure.
//
//	r := events.New()
//	m := r.Begin(events.Event{Kind: events.Collective, Number: 17, Verb: "all-reduce", Name: "gradient"}, time.Now())
//	…
//	r.End(m)
//	last := r.Last(time.Now(), 400)
//
// A rank records each collective, each part of a step, each change of what it waits for, and its own error. When the
// job stalls or fails, the server asks each live rank for its events, and package cause judges them.
//
// # Contract
//
// A Ring holds the newest [Capacity] events, and Last returns those of the last [Age]. An event that has not ended is
// returned whatever its age, while the ring holds it. Recording an event allocates nothing, and takes a lock that is
// held for some nanoseconds. A nil Ring records nothing. A Ring is safe for concurrent use.
package events
