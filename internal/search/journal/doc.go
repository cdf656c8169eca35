// SPDX-License-Identifier: Apache-2.0

// Package journal is the format of the file of gvw search --state: a line of JSON with the settings of the search, and one for
// each job that has finished.
//
//	header, outcomes, whole, err := journal.Parse(text)
//
// It is pure. Package search writes the file, and gvw plot draws it.
//
// # Contract
//
// The text may end within a line, as after a crash. The first whole bytes are complete lines, after which a search continues.
package journal
