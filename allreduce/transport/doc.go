// SPDX-License-Identifier: Apache-2.0

// Package transport is what ranks and servers reach each other by: something that
// listens and dials ([Network]). [TCP] is the operating system's; package mem has one
// that lives inside a process, for tests with a virtual clock and with faults.
package transport
