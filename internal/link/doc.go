// SPDX-License-Identifier: Apache-2.0

// Package link carries frames between two ranks: one ordered, checked and authenticated
// stream.
//
// A [Peer] is the other end with its open connection, which the handshake has authenticated.
// After the handshake each direction is a sequence of frames ([Frame]). Each frame has a
// CRC-32C, or a tag ([Tags]) in jobs that share a secret. The tag detects deliberate changes,
// and frames that were left out or inserted.
//
// A [Link] decodes incoming frames and composes outgoing ones. All links of an owner form a [Set]: they
// share a lock and a driver, and fail together. The [Driver] moves the bytes (packages poll,
// netconn and vwstream). The owner has a [Handler] for each link, which says where incoming data
// goes and what is sent next:
//
//	set := &link.Set{Rank: rank, Log: log, Failed: make(chan struct{}), Owner: owner}
//	set.Driver = netconn.New(set)
//	l := link.New(link.Peer{Rank: peer}, handler)
//	set.Mu.Lock()
//	err := set.Attach(l, link.Peer{Conn: conn, Rank: peer, Tags: tags})
//	set.Mu.Unlock()
//
// A link starts on its connection. It can move to a shared-memory ring or to a verbs stream
// (package upgrade) without a gap in the sequence of frames.
//
// Errors: a [BrokenError] is the end of a connection, a [CorruptError] are invalid bytes of the peer, an
// [UpgradeError] is an upgrade that the job requires and that fails. The set's [Owner] gets the
// first of them, and decides what it means for the job.
//
// The package depends on neither collectives nor jobs. The owner of a link defines the payloads
// of its call, progress and fault frames, within the limits given here.
package link
