// SPDX-License-Identifier: Apache-2.0

// Package ranklog carries the log lines of ranks to the spanning-tree server (--log_to_server), as pure values.
//
// A rank writes its lines to a [Queue], and its connection to the server takes them:
//
//	log := slog.New(slog.NewTextHandler(io.MultiWriter(os.Stderr, queue), nil))
//	batch, wait := queue.Take(time.Now(), false) // without lines, wait is the time until some may be sent
//
// The server adds them to a [Store], from which the page and gvw jobs --logs take the newest lines of a rank:
//
//	store.Add(job, total, rank, attempt, host, batch, now)
//	log, ok := store.Tail(job, rank, 100)
//
// # Contract
//
//   - Everything is bounded: the bytes of a line, the bytes that wait in a rank, the lines that a rank sends in a second, and
//     the bytes that the server keeps of a rank, of a job, and of all jobs.
//   - At each bound the oldest lines are dropped and counted, so the last lines before a failure remain.
//   - Write never waits for the server.
//   - Lines are printable: package plain has escaped them, on both sides. Passwords in URLs and the values of names such as
//     token and password are replaced by "…".
//   - A [Queue] is safe for concurrent use, and the methods of a nil one do nothing. A [Store] is not.
package ranklog
