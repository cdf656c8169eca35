// SPDX-License-Identifier: Apache-2.0

// Package address resolves the address on which a rank listens and the one that it
// advertises, and explains why others do not reach it.
//
// An address is host:port. Its host may be a network such as 10.0.0.0/8, which stands for
// this machine's address in it, so that one command line serves all machines.
// Its port may be a range such as 26544-26600, whose ports are tried in order.
//
//	at, err := address.Parse("10.0.0.0/8:26544-26600")
//	l, err := at.Listen(ctx, transport.TCP, address.Machine)
//
// A [View] has the address that a rank advertises and the one that the server
// observes. [View.Advice] compares the views of two ranks that do not reach each other.
package address
