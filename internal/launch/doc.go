// SPDX-License-Identifier: Apache-2.0

// Package launch is about processes that train together: where a process
// stands in its job, and how a launcher starts several, ends them, and names
// the one that failed first.
//
// # In a worker
//
// [Detect] asks sources in turn for rank and total. The command line is one
// ([Flags]); the environment of a batch system is another kind, behind the same
// interface.
//
// A worker of a local launcher holds the reading end of a pipe whose writing
// end only the launcher has. However the launcher ends, the pipe ends with it;
// [Watch] tells:
//
//	launch.Watch(os.NewFile(fd, "launcher"), func() { cancel(launch.ErrLauncherGone) })
//
// # In a launcher
//
// [Job.Run] starts commands, gives each the pipe, and waits for all of them.
// When one fails, the rest are ended: asked first, killed after a grace. No
// command outlives the call. What failed first is the root cause; a failure
// that says "I lost a peer" is a symptom, and waits a moment for its cause.
//
// With Restarts, a worker that dies is started again after a pause, in an
// environment where [EnvAttempt] counts, unless its exit code says that it would
// fail again ([Curable]). Whether the job can still use it or does without it, and who
// hangs, the launcher learns from outside (Again, Without, Hung).
//
// [Supervised] does the same for one command under a launcher that is not ours.
package launch
