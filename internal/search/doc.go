// SPDX-License-Identifier: Apache-2.0

// Package search implements gvw search: it trains with many combinations of options and reports
// those with the smallest held-out loss.
//
// Package strategy decides which jobs are run; this package runs them. Each job is a process of
// gvw (trial.go), so that a crash or faulty options end that job only. A job gets the options of
// the command after "--" (base.go), those of its trial, the shared cache, and a file for its losses.
//
// The journal (journal.go) has a line for each finished job. A search with the same settings takes
// the losses from there instead of running the job: its decisions, and so its jobs, are the same.
package search
