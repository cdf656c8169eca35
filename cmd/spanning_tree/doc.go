// SPDX-License-Identifier: Apache-2.0

// Command spanning_tree is the server through which workers of vw and gvw find each
// other. It accepts the command line of vw's program of the same name:
//
//	spanning_tree                                   in the background, on port 26543
//	spanning_tree --nondaemon                       in the foreground
//	spanning_tree --port 26544 /run/spanning_tree.pid
//	spanning_tree --state /var/lib/spanning_tree    remember finished runs after a restart
//
// Without --nondaemon the command returns when the background server listens, or with an
// error when it cannot. The background server keeps none of the caller's stdin, stdout and
// stderr open, so that ssh returns. The log goes to --log FILE, else to stderr (in the
// background only if stderr is a file), as one line of name=value pairs per event. With
// --port 0 the command prints the chosen port to stdout.
//
// After SIGTERM the server accepts no new jobs, and exits with 0 when the running ones have
// ended. SIGINT or a second SIGTERM ends it at once. Exit codes: 0 done, 1 usage, 2 the
// journal is damaged, 4 the background server did not start in time, 5 input or output,
// 6 the credentials are refused, 130 SIGINT, 143 a second SIGTERM.
package main
