// SPDX-License-Identifier: Apache-2.0

// Package mesh opens the data connections between the ranks of a job.
//
// A rank has one [Mesh] for as long as its job lasts: a listener, and the handshakes that are
// pending on it. For every epoch it has an [Epoch], the connections of that epoch.
//
//	m, err := mesh.Listen(ctx, mesh.Config{Job: job, Rank: 3, Total: 8}, owner)
//	… join the job with m.Advertised(), and wait for the wiring w of its first epoch …
//	e := m.Epoch(mesh.EpochConfig{
//		Wiring: w, Members: w.Members, Tree: topo.Binary(len(w.Members)), Self: position, Over: over,
//	})
//	m.Accept()
//	err = e.Connect(ctx)      // the connections of the tree are open
//	err = e.HandOver(install) // they and all later ones belong to the user
//	e.Reach(5, time.Minute, failed)
//	…
//	e.End()
//	m.Close()
//
// # Who connects
//
// Of two neighbours in the tree the child connects to its parent. Of two other ranks the higher
// one connects to the lower one. So each connection has one dialler, which retries until the
// connection is open, the epoch ends, or the peer is known to be unreachable. An acceptor drops
// connections of ranks that have no reason to connect.
//
// # Handshake
//
// Each side sends a hello (hello.go has its layout), then a proof that it has the key of the
// epoch: a key derived from the token that the server has given to all members, and from the
// secret of the job if there is one (package auth). What follows on the connection can be
// tagged or sealed with a key derived from the handshake. A connection without a valid handshake
// within ten seconds is dropped. If too many handshakes are pending, the oldest is dropped, so a
// flood of connections does not exhaust descriptors and does not delay ranks.
//
// The last message of a handshake goes from the dialler to the acceptor. If it is dropped, the
// dialler takes the connection for open and the acceptor does not. [EpochConfig.Ask] exists for this
// case: both ends report to the server, which ends the epoch.
//
// # Transfers
//
// A rank that lacks the state or results at the start of an epoch takes them from another rank
// over a connection of its own: [Mesh.Pull] on one side, [Owner.Serve] on the other. Their
// handshake differs in its first bytes only.
//
// # vw workers
//
// Real vw workers have no handshake. In a job with one, connections are opened in vw's order,
// the parent first, and identified by their places in the tree.
//
// The package carries connections, not messages. It may not import package allreduce, so that
// other users of a job's connections can use it.
package mesh
