// SPDX-License-Identifier: Apache-2.0

// Package mem is about the memory of large tables of weights.
//
// A learner reads its table at random, so the first pass takes a page fault
// for nearly every page: with pages of 4 KiB, 16,384 of them for the 64 MiB of
// 2^22 weights. [Huge] asks the operating system for pages of 2 MiB where it
// can (Linux, where /sys/kernel/mm/transparent_hugepage/enabled says always or
// madvise).
//
// The memory is ordinary memory of the Go heap, so it is freed by the garbage
// collector and a slice may outlive the table it was cut from. Mapping it by
// hand gains nothing over that. Measured on Linux 6 in a virtual machine, one
// million random accesses to fresh memory, three processes each, the median:
//
//	table     make     and Huge   mapped by hand
//	 16 MiB   16 ms       9 ms             7 ms
//	 64 MiB   51 ms      17 ms            16 ms
//	256 MiB  223 ms      24 ms            26 ms
//
// Later accesses cost the same with both page sizes there (9 ns, with many
// of them under way at once).
//
// The cost is that memory becomes resident 2 MiB at a time: a sparsely used table
// takes its full size. Request huge pages only for tables that will be filled.
package mem
