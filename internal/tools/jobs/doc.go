// SPDX-License-Identifier: Apache-2.0

// Package jobs has the commands of gvw that ask a spanning_tree server about its jobs: [Jobs] prints them once or
// again and again, with the logs of their ranks if asked, [Top] shows a live table with keys, and [Cancel] ends a job.
//
// With --malt a job of shared vectors runs beside that of collectives; the commands show and cancel both as one. Text
// that comes from ranks is escaped by package plain before it is printed.
package jobs
