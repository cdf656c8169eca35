// SPDX-License-Identifier: Apache-2.0

// Package deptest has only tests. They check the rules of this project:
//
//	imports_test.go   the imports that are allowed, and why (the table)
//	files_test.go     licence header, size of files, documentation of packages
//	library_test.go   library packages never print, exit, or read the environment
//	flagnames_test.go libraries name fields of configurations, not command-line flags
//	api_test.go       the exported identifiers of public packages are those in api/
//	waits_test.go     each wait has a deadline and a name, or a reason (the table of waits)
//	unsafe_test.go    each import of unsafe has a reason
//	races_test.go     packages that run without the race detector have no concurrency
//	docs_test.go      the files and functions that documents name exist
//
// To change a rule, change its table, with a reason, in the commit that needs it. Do not
// work around it.
package deptest
