// SPDX-License-Identifier: Apache-2.0

// Package page shows the jobs of a server in a browser, while they run.
//
//	p, err := page.New(page.Config{Source: server.Status})
//	go p.Run(ctx)            // takes a snapshot every half second
//	http.Serve(l, gate.Guard(p))
//
//	GET  /             the page; its files are in this program, and it loads nothing else
//	GET  /events       the jobs, and with ?job=N the job N, as server-sent events
//	GET  /status.json  the newest snapshot, as gvw jobs --json prints it
//	GET  /healthz      "ok" while snapshots are taken; for probes, which have no token
//	GET  /log          ?job=N&rank=R: the end of a rank's log, where Config.Log has it
//	POST /control      cancels a job, or kills a rank, where Config.Control permits it
//
// Other packages add paths: [Page.Handle] adds one, and [Page.View] reads the history. The handler
// has no authentication: see package httpauth.
//
// # Events
//
// The stream has messages of JSON without a type. A client keeps state and applies each message to
// it. All times are milliseconds.
//
//	{"now":T,"version":…,"jobs":[…],"gone":[…]}   jobs that have changed since the last message
//	{"now":T,"job":{"n":N,"full":true,…}}         the whole history of the job N, when the client connects
//	{"now":T,"job":{"n":N,…}}                     what has been added since the last message
//
// A job has rows, one for each rank that has changed; spans, marks and events, which are appended;
// points of the curve, which replace those from an index on; and the traffic of the job if it has changed: the time of its ranks,
// the bytes by class of edge, and the edges with the most bytes. stream.go has the fields.
//
// All clients of a job get the same bytes, which are encoded once. A client that does not read is
// disconnected when its queue is full; the browser then connects again and gets the whole history.
// Nothing is encoded while no client is connected.
//
// # Content-Security-Policy
//
// The page has no inline script and no inline style, and the browser may load only from this
// server. Text of ranks is inserted as text, never as HTML.
package page
