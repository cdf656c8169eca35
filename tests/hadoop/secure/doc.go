// SPDX-License-Identifier: Apache-2.0

// Package secure holds the tests of gvw on an HDFS with Kerberos: a realm of its own (package kdc), daemons that log in,
// encrypted calls and data (package cluster). With the tag long it also has YARN and runs a job.
// It is a package of its own so that it runs beside the tests of package hadoop, and is skipped where these are (GVW_HADOOP=1).
package secure
