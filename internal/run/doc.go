// SPDX-License-Identifier: Apache-2.0

// Package run implements gvw run and gvw supervise: the launcher on one machine.
//
// [Command] divides a job among workers (plan.go, a pure function from settings to settings),
// starts a server in this process (launcher.go) and one gvw for each rank (workers.go), and
// writes the ranks' predictions in the order of the data (predictions.go, package dataorder). It runs any other
// program that uses package allreduce in the same way (runprogram.go). Under another launcher it is one rank of a job
// (join.go), whose server is in the first rank's process (meeting.go, package departure).
//
//   - The diagnostics of each rank go to a log (logs.go); those of rank 0 also to the terminal.
//   - A worker that dies is restarted as long as its job can use it. jobwatch.go asks the server
//     about that, and finds processes that hang.
//   - The rank that failed first is named with the end of its log, and its exit code is the
//     launcher's. The other workers are ended. Workers also end if the launcher dies.
//
// [Supervise] restarts one command under a launcher that restarts nothing.
package run
