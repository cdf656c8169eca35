// SPDX-License-Identifier: Apache-2.0

// Package fault lets a program break itself at chosen points: to test what the
// others do about it, and to rehearse a loss before it happens.
//
// A [Plan] is a list of faults. People write it as text, which a command reads
// from GVW_FAULT:
//
//	rank:2,op:17,kind:exit                rank 2 ends as its 17th collective begins
//	rank:1,work:3,kind:kill               rank 1 is killed as its 3rd step begins
//	rank:1,work:1,slow:10                 from its first step on, rank 1 takes ten times as long
//	rank:0,delivery:1,kind:stop;op:9,delay:50ms   two faults; the second of all ranks
//
// The command parses it, and arms the process once, with hands that do what a
// library must not do by itself:
//
//	plan, err := fault.Parse(text)
//	fault.Arm(plan, fault.Life{Attempt: attempt}, fault.Hands{Exit: os.Exit, …})
//
// Code that can be struck says where it is:
//
//	fault.At(rank, fault.Commit)
//
// # Contract
//
// Without a plan At is one load of a nil pointer. With one, it counts: a fault of
// op:17 strikes at the 17th time that its rank passes the point Op in this
// process, once; a slow one from then on. Points are counted for each fault by
// itself, so where several ranks share a process, a fault should name its rank.
//
// A fault strikes in one attempt of its rank, and in one generation of the run, the
// first unless it names another: a process which a launcher has started again, alone or
// with all others, does not die again.
//
// Exit, Kill, Stop and Slow are done by At itself. Drop, Garble and HalfOpen concern
// connections, which only their owner can reach: At returns them.
package fault
