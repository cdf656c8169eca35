// SPDX-License-Identifier: Apache-2.0

// Package launch starts, watches and ends the processes of a job. It also finds the rank of a
// process in its job, and the process that failed first.
//
// # In a worker
//
// [Detect] queries sources in turn for rank and total. The command line is one source
// ([Flags]); the environment of a batch system is another, behind the same
// interface.
//
// A worker of a local launcher has the read end of a pipe whose write end only the launcher
// has. However the launcher ends, the pipe ends with it, and
// [Watch] reports that:
//
//	launch.Watch(os.NewFile(fd, "launcher"), func() { cancel(launch.ErrLauncherGone) })
//
// # In a launcher
//
// [Job.Run] starts commands, passes the pipe to each, and waits for all of them.
// When one fails, the others are ended: first by a signal, and killed after a grace period. No
// command outlives the call. The first failure is the root cause. An exit code that
// means "a peer was lost" is a symptom, for whose cause the launcher waits a moment.
//
// With Restarts, a worker that dies is restarted after a delay, with its number in
// [EnvAttempt], unless its exit code means that it would fail again ([Curable]). The
// caller reports through Again, Without and Hung whether the job still needs the
// worker, continues without it, or has found a worker that hangs.
//
// [ShareProcessors] divides the processors of a machine among the workers on it.
//
// [Supervised] restarts one command under another launcher.
package launch
