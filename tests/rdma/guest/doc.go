// SPDX-License-Identifier: Apache-2.0

// Package guest runs programs on a machine with two RDMA devices, where there is none: a
// QEMU guest without network, with a stock Debian kernel and two Soft-RoCE devices at the
// ends of a virtual cable.
//
//	k, err := guest.Prepare(ctx, cache, install, logf) // tools and kernel; ErrMissing: they cannot be had
//	m := guest.Machine{Kernel: k, …}
//	m.Add("/t/gvw", "bin/gvw")              // with the shared libraries it needs
//	code, err := m.Run(ctx, "gvw …", os.Stdout)
//
// In the guest there are the devices rxe0 at 10.77.0.1 on veth0 and rxe1 at 10.77.0.2 on veth1,
// a busybox shell, and ip. The host needs Debian's qemu-system-x86 and busybox-static; the
// kernel is downloaded and unpacked into a cache, without being installed. QEMU
// emulates the processor (TCG): figures from the guest say nothing of hardware.
package guest
