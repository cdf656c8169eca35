// SPDX-License-Identifier: Apache-2.0

// Package httpauth admits requests to HTTP servers by a token.
//
// A program sends the token in the header Authorization ([Bearer]). A browser cannot, so a [Gate]
// also has a link that works once. The link gives the browser a cookie, and redirects it to the page.
//
//	gate := httpauth.NewGate(token, port, secure)
//	server.Handler = gate.Guard(mux)
//	fmt.Println("http://127.0.0.1:8080" + gate.Link())
//
// Tokens are compared by their digests in constant time. The cookie is a random value of this
// process, not the token. JavaScript cannot read it, and no other site can send it.
package httpauth
