// SPDX-License-Identifier: Apache-2.0

// Package crash distinguishes a crash of a Go program from an exit code that the
// program has chosen.
//
// The Go runtime ends a crashed process with exit code 2, which here means bad
// data and which no launcher restarts. A program calls [Abort] first in main:
//
//	func main() {
//		crash.Abort(false)
//		…
//	}
//
// From then on each crash of the runtime ends the process by SIGABRT: a panic,
// a fault in a goroutine, SIGQUIT, SIGABRT and SIGSEGV from outside, two
// goroutines in one map, no memory. A launcher, a shell (exit code 134), Slurm
// and Hadoop see a signal.
//
// The trace that the runtime then prints has all goroutines and the runtime's
// own frames. [Find] reduces it to its cause: the message and the first
// goroutine's frames outside the runtime. [Filter] is for a terminal: it passes
// a program's output and ends a trace after the first goroutine.
//
// The runtime of a process with pid 1 (a container without an init) cannot end
// by SIGABRT: the kernel drops it. Such a process ends with exit code 2.
package crash
