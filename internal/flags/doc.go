// SPDX-License-Identifier: Apache-2.0

// Package flags has the options of gvw and of its commands as tables.
//
// A row is a [cli.Spec]: name, kind, limits, help. A row of the learner also names the field
// of learn.Config or allreduce.Config that the option sets, and where needed a function
// that reads its value. Parser, help and configuration are derived from the rows.
//
// [Learn] has the options of gvw without a command; the variables named after commands have
// theirs. The lists [ClusterNeeded], [ClusterExtra], [LauncherSays] and [Guarded] group options
// that several commands treat alike. Which function runs a command is not known here: that is
// the table in cmd/gvw.
package flags
