// SPDX-License-Identifier: Apache-2.0

// Package deptest holds no code, only tests of the house's rules:
//
//	imports_test.go   who may import whom, and why (the table)
//	files_test.go     licence header, size of files, documentation of packages
//	library_test.go   library packages never print, exit, or read the environment
//	waits_test.go     what waits has a deadline and a name, or a reason (the table of waits)
//	docs_test.go      files and functions that the documents name exist
//
// A rule that stands in the way is changed in its table, with a reason, in the
// commit that needs it: never worked around.
package deptest
