// SPDX-License-Identifier: Apache-2.0

// Package verbstest is a fabric of RDMA devices in memory, for tests of what runs over them
// without any device, and under the race detector:
//
//	f := verbstest.New(seed, verbstest.Device("fake0", "10.77.0.1"))
//	d, err := verbs.NewDomain(f, place)
//
// It is stricter than Soft-RoCE, as hardware is. A place in the send queue is free again when
// its completion is polled; memory that is not sent inline is read when the message is
// delivered, which is late, in an order of its seed's; a message without memory posted
// for it, or with a wrong key, ends the queue pair. What it cannot show is time.
//
// It runs on Linux alone, as what is tested with it does.
package verbstest
