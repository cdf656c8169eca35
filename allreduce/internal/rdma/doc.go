// SPDX-License-Identifier: Apache-2.0

// Package rdma keeps the RDMA device of a rank, and the memory that is registered with it.
//
// A [Device] lasts as long as the rank's membership. It is open for one epoch of the job at a
// time:
//
//	var d rdma.Device
//	err := d.Open(rdma.Port{Library: verbs.System(), Addr: "10.0.0.3:26550"})
//	s, err := d.NewStream() // one for each link of the epoch
//	…
//	direct, copied, err := d.Close()
//
// Registered memory stays registered over the epochs: Open registers all of it again.
//
//	err = d.Register(mem) // before or after Open
//	b, err := d.Alloc(1 << 20)
//	…
//	d.Release() // when no epoch follows
//
// # Contract
//
// Register, Unregister and Alloc may be called while the device is closed, and take effect in the
// next epoch. All streams are closed before Close, and no collective is under way during
// Unregister. The methods may be called by several goroutines.
package rdma
