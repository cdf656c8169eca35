// SPDX-License-Identifier: Apache-2.0

// Package web reads files from web servers, as a [remote.Backend]:
//
//	b, err := web.New(web.Config{Base: "https://example.org"})
//	fsys, err := remote.New(b, remote.Config{Prefix: "https://example.org", Verbatim: true, Host: host})
//	r, err := fsys.Open(ctx, "https://example.org/train.vw", 1<<20)
//
// A file needs a length: that of HEAD, or of a request for its first byte where HEAD is refused.
// Opening at an offset is a request for a range. A server without ranges sends the whole file, of
// which the part before the offset is discarded.
//
// Every request names the ETag that the file had at first (If-Match). Another ETag, length or
// date is [remote.ErrChanged], so that no mixture of two files is read. Status codes 408, 429 and
// 5xx, and connections that break, are retried by package remote.
//
// Servers list no files, so there are no patterns. Compressed files are transferred as stored.
// Proxies are those of the environment (HTTPS_PROXY).
package web
