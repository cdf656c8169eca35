// SPDX-License-Identifier: Apache-2.0

// Package site serves the page of package page over HTTP, with TLS, a token and limits.
//
//	s, err := site.Start(site.Config{Address: "8090", Page: page.Config{Source: server.Status}}, nil)
//	fmt.Println("page:", s.URL)
//	defer s.Close()
//
// Every request but that of a probe ([page.HealthPath]) needs the token or the cookie of package
// httpauth, also on the loopback interface, which other users of the machine share. A site that listens on another interface needs a token or
// a certificate of its own: see [Config].
package site
