// SPDX-License-Identifier: Apache-2.0

// Package compat is the list of every option of Vowpal Wabbit 9.11.9, and what
// gvw makes of each:
//
//	o, ok := compat.Find("ring_size")
//	// o.Class == compat.NoOp, o.Remark says why nothing is lost
//
// The command line takes its refusals and notes from here, and
// docs/compatibility.md is [Page]. Whoever adds an option of vw's to gvw changes
// its class to Works here and writes the page anew:
//
//	go test ./internal/compat -update
//
// # Contract
//
// An option stands in one class and is there once: where several learners of
// vw's have one of the same name, under the linear one, else under the first.
// Works says that the command's own table of flags has it (a test there holds
// the two together). The others carry a remark if there is something to do
// instead; Refused and NoOp always do. With a vw installed (GVW_VW_PYTHON) a
// test compares names, letters and values with what its help says.
package compat
