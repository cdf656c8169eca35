// SPDX-License-Identifier: Apache-2.0

// Package fault injects failures into a program at chosen points, to test the reaction of
// the other processes, and to rehearse a loss before it happens.
//
// A [Plan] is a list of faults. Users write it as text, which a command reads
// from GVW_FAULT:
//
//	rank:2,op:17,kind:exit                rank 2 exits when its 17th collective begins
//	rank:1,work:3,kind:kill               rank 1 is killed when its 3rd step begins
//	rank:1,work:1,slow:10                 from its first step on, rank 1 is ten times slower
//	rank:0,delivery:1,kind:stop;op:9,delay:50ms   two faults; the second for all ranks
//
// The command parses it and arms the process once, with functions for actions that a
// library must not take by itself:
//
//	plan, err := fault.Parse(text)
//	fault.Arm(plan, fault.Life{Attempt: attempt}, fault.Hands{Exit: os.Exit, …})
//
// A fault point calls At:
//
//	fault.At(rank, fault.Commit)
//
// # Contract
//
// Without a plan At loads one nil pointer. With a plan it counts: a fault of
// op:17 triggers at the 17th time that its rank passes the point Op in this
// process, once; a slow one from then on. Each fault has its own counter, so where
// several ranks share a process, a fault should name its rank.
//
// A fault triggers in one attempt of its rank and in one start of the whole job, by default
// the first of each. So a fault does not trigger again after a launcher has restarted the
// process or the whole job.
//
// At itself performs Exit, Kill, Stop and Slow. Drop, Garble and HalfOpen concern
// connections, which only their owner can access: At returns them.
package fault
