// SPDX-License-Identifier: Apache-2.0

// Package verbstest is a fabric of RDMA devices in memory. Tests run over it without any
// device, and under the race detector:
//
//	f := verbstest.New(seed, verbstest.Device("fake0", "10.77.0.1"))
//	d, err := verbs.NewDomain(f, place)
//
// It is as strict as hardware, more than Soft-RoCE. A place in the send queue becomes free when
// its completion is polled. Memory that is not sent inline is read only when the message is
// delivered, late and in an order that depends on the seed. A message without posted memory,
// or with a wrong key, puts the queue pair into the error state. It does not simulate time.
//
// Like the code under test, it needs Linux.
package verbstest
