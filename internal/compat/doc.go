// SPDX-License-Identifier: Apache-2.0

// Package compat is the table of every option of Vowpal Wabbit 9.11.9, and of pairs of
// them, with the way in which gvw treats each:
//
//	o, ok := compat.Find("ring_size")
//	// o.Class == compat.Silent, o.Remark is the reason why nothing is lost
//	for _, f := range compat.Judge(compat.Cases(), given, false) {
//		// f.Class, f.Option and f.Text: refuse the command line, print a note, or continue
//	}
//
// The rule of the table: gvw refuses an option of vw only if the result would differ
// from vw's, so that scripts for vw run unchanged. An option without effect in vw is accepted, silently where scripts share
// options, with a note where the user has probably forgotten something.
//
// The command line takes its refusals and notes from here, and docs/compatibility.md is
// [Page]. A change that adds an option of vw's to gvw sets its class to Works here and
// writes the page:
//
//	go test ./internal/compat -update
//
// # Contract
//
// An option has one class and one row. If several learners of vw have an option of the
// same name, its row is under the linear learner, else under the first one. Works means that the command's
// own table of flags has the option; a test there compares the two. The others carry a
// remark if there is a remedy or a reason; Silent, Noted and Refused always do. With a vw
// installed (GVW_VW_PYTHON) a test compares names, letters and values with its help.
//
// A [Case] holds for options that work. Judge evaluates cases over the options given on
// a command line. Each case has an example, which tests run by gvw and by vw.
package compat
