// SPDX-License-Identifier: Apache-2.0

// Package auth decides who may talk to whom: the ranks of a job, its server, and
// the people who ask that server.
//
// There are two ways, which may be combined. A [Secret] is shared by all; who has it
// is trusted. [TLS] gives everybody a certificate of one authority.
//
//	secret, err := auth.ReadSecret("/etc/gvw/secret")
//	tls, err := auth.ReadTLS("rank.crt", "rank.key", "ca.crt")
//	creds := &auth.Credentials{Secret: secret, TLS: tls}
//
// A nil *Credentials asks for nothing and shows nothing.
//
// # The exchange
//
// Both sides say something that nobody has said before: a nonce. A [Key] and
// everything that both have said make an [Exchange], the same on both sides only if
// both hold the key and have heard each other without a change. Then each shows a
// proof, and checks the other's:
//
//	x := secret.Control().Exchange(hello, welcome, nonce)
//	send(x.Proof(auth.Client))
//	if !x.Accepts(auth.Server, receive()) { ... }
//	conn = x.Seal(conn, auth.Client)
//
// A proof is an HMAC-SHA-256. It is of no use in another conversation, since the
// other side's nonce differs there; nor for the other role, or with the key of
// another purpose, since their names are in it. The secret is never sent, and a
// listener learns nothing from proofs as long as it cannot be guessed: it should
// be drawn, not thought of (gvw keygen does).
//
// [Exchange.Seal] gives every piece that is written a number and a code of 16 bytes.
// What is changed, left out, sent twice or taken from another conversation ends
// the connection with [ErrSeal]. It hides nothing. Connections to the server are
// sealed, and those over which a rank takes what it lacks from another one. Of those over
// which vectors go each frame has a tag of [Exchange.Tags], which sees the same and
// copies nothing.
//
// # TLS
//
// Version 1.3, both sides with a certificate. Of a server the name is checked, too;
// of another rank it is not, since ranks have no names: a certificate of the
// authority is what makes one a rank. Keep the key of the authority where no rank
// is. An exchange over TLS is bound to that connection ([Binding]).
//
// Where there are no certificates, [Ephemeral] hides what is said all the same: with a
// Secret, whose proofs are bound to the connection, nobody can stand in the middle.
//
// # Errors
//
// [*Error] says whose credentials are wrong, and how. All else is the network's.
package auth
