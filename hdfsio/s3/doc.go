// SPDX-License-Identifier: Apache-2.0

// Package s3 reads objects from Amazon S3 and from servers with its interface, as a
// [remote.Backend] of one bucket:
//
//	b, err := s3.New(s3.Config{Bucket: "data", Env: os.Getenv})
//	fsys, err := remote.New(b, remote.Config{Prefix: "s3://data", Verbatim: true, Host: host})
//	infos, err := fsys.List(ctx, "s3://data/2026/*.vw.gz")
//
// It is package web with signatures, listings, and the errors of S3. Names with a slash are in
// directories, as elsewhere.
//
// Credentials are those of the usual chain (credentials.go). Without any, requests are not
// signed, for public buckets. The region is AWS_REGION or that of the profile; a server that
// names another one in its refusal gets the next request for that one.
package s3
