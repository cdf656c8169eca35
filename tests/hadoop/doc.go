// SPDX-License-Identifier: Apache-2.0

// Package hadoop holds the tests of gvw on a real Hadoop: HDFS, YARN and streaming as
// separate processes on this machine (package cluster), jobs submitted by
// scripts/mapscript.sh as a user submits them. `make test-hadoop` runs them; elsewhere
// they skip, since they take minutes and 100 MB of jars.
//
//	jobs_test.go          a job of four maps; what is refused before there is one
//	shell_test.go         the containers of YARN's distributed shell as ranks
//	service_linux_test.go the instances of a YARN service as ranks, one of them killed
//	files_test.go         HDFS by each way to it, the DataNode killed, a writer killed
//	refusals_test.go      what HDFS does not let gvw do
//	files_long_test.go    the rest of the suite of file systems
//	losses_test.go        mappers and a node killed
//	losses_long_test.go   each phase by itself, Hadoop's own kills, the ApplicationMaster killed
//	ends_long_linux_test.go  a node lost at the end of a job
//	faults_long_test.go   jobs that cannot work
//	disk_long_linux_test.go, nodedisk_long_linux_test.go  full disks: where the caches are, and of NodeManagers
//	speculation_long_test.go  a slow map and its copy
//
// Environment: GVW_HADOOP=1 runs them, GVW_HADOOP_CACHE is where the jars are kept. The
// build tag "long" has the whole matrix.
package hadoop
