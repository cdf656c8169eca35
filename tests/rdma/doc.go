// SPDX-License-Identifier: Apache-2.0

// Package rdma tests what goes over RDMA in a guest with two Soft-RoCE devices (package
// guest): make test-rdma. It builds gvw and the tests of allreduce, allreduce/verbs, malt and
// tests/maltstorm with the tag rdma, runs them there, and reports each of their tests as one of its own.
//
//	inguest_test.go   what runs in the guest: gvw run over verbs
//	rdma_test.go      the way into the guest
//	long_test.go      many jobs with shared vectors and faults, and all reductions with eight ranks (tag long)
//	bench_test.go     figures from it (GVW_RDMA_BENCH=1)
//
// GVW_RDMA_RUN=REGEXP runs only the tests that match; GVW_RDMA_CACHE is the folder for the kernel.
package rdma
