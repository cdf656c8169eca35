// SPDX-License-Identifier: Apache-2.0

// Command spanning_tree is the server on the gateway: workers of vw and gvw
// find each other through it. It takes what vw's program of this name takes:
//
//	spanning_tree                                   in the background, on port 26543
//	spanning_tree --nondaemon                       in the foreground
//	spanning_tree --port 26544 /run/spanning_tree.pid
//	spanning_tree --state /var/lib/spanning_tree    remembers finished runs over a restart
//
// Without --nondaemon the command returns when the server listens, or fails
// with the reason why it cannot. In the background it holds neither stdin, stdout nor
// stderr open, so that ssh returns. Its log goes to --log FILE, else to stderr (from the
// background only if that is a file), one line of name=value pairs per event.
// With --port 0 it prints the port that it has found to stdout.
//
// SIGTERM drains: no new jobs; when those there are have ended, it exits 0. A
// second one, or SIGINT, stops at once. Exit codes: 0 done, 1 usage, 2 the
// journal is damaged, 4 the server in the background did not come up in time,
// 5 input or output, 130 SIGINT, 143 a second SIGTERM.
package main
