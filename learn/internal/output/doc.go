// SPDX-License-Identifier: Apache-2.0

// Package output holds the files and streams that a run writes as it goes: predictions,
// the features that --audit shows, vw's table on the console, and the log.
//
// Each type is used by one goroutine, except [Hold], which keeps log records back while
// the table is open and may be called by all. A [File] appears under its final name only
// when it is complete.
package output
