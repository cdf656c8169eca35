// SPDX-License-Identifier: Apache-2.0

// Package address says where a rank listens, what it tells others, and, when they do
// not find it there, why.
//
// An address is host:port. Its host may be a network such as 10.0.0.0/8: it stands for
// this machine's address in there, so that one command line serves all machines.
// Its port may be a range such as 26544-26600: the ports are tried in order.
//
//	at, err := address.Parse("10.0.0.0/8:26544-26600")
//	l, err := at.Listen(ctx, transport.TCP, address.Machine)
//
// A [View] is what is known of a rank's address: what others are told, and from where
// the server sees it. [Advice] compares the views of two ranks that do not meet.
package address
