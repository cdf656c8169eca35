// SPDX-License-Identifier: Apache-2.0

// Package auth authenticates the ranks of a job, its server, and the programs that query
// that server.
//
// It has two mechanisms, which may be combined. A [Secret] is shared by all; its
// holders are trusted. With [TLS] each program has a certificate of one authority.
//
//	secret, err := auth.ReadSecret("/etc/gvw/secret")
//	tls, err := auth.ReadTLS("rank.crt", "rank.key", "ca.crt")
//	creds := &auth.Credentials{Secret: secret, TLS: tls}
//
// A nil *Credentials requires nothing and presents nothing.
//
// # The exchange
//
// Both sides first send a random nonce. A [Key] and all bytes that both have sent
// determine an [Exchange]. It is the same on both sides only if both have the key, and
// have received each other's bytes unchanged. Each side then sends a proof, and checks
// the other's:
//
//	x := secret.Control().Exchange(hello, welcome, nonce)
//	send(x.Proof(auth.Client))
//	if !x.Accepts(auth.Server, receive()) { ... }
//	conn = x.Seal(conn, auth.Client)
//
// A proof is an HMAC-SHA-256. It is useless in another conversation, whose nonces differ.
// It is also useless for the other role or with the key of another purpose, since their
// names are part of it. The secret is never sent. An eavesdropper learns nothing from
// proofs as long as the secret cannot be guessed, so it should be random (gvw keygen
// generates one).
//
// [Exchange.Seal] adds a number and a code of 16 bytes to each record that is written.
// A record that is changed, omitted, repeated or taken from another conversation ends
// the connection with [ErrSeal]. Seal does not encrypt. It protects connections to the
// server, and connections over which a rank gets missing state from another one. On
// connections that carry vectors, each frame has a tag of [Exchange.Tags] instead, which
// detects the same changes without a copy.
//
// # TLS
//
// TLS is version 1.3, with a certificate on both sides. The name in a server's
// certificate is checked. Ranks have no names: any certificate of the authority is
// accepted from a rank. Keep the key of the authority on a machine without ranks.
// An exchange over TLS is bound to that connection ([Binding]).
//
// Without certificates, [Ephemeral] still encrypts. Together with a Secret, whose proofs
// are bound to the connection, it also prevents man-in-the-middle attacks.
//
// # Errors
//
// An [*Error] describes which side's credentials are wrong. All other errors come from the
// network.
package auth
