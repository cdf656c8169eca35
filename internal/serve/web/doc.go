// SPDX-License-Identifier: Apache-2.0

// Package web serves predictions over HTTP, by models that have names.
//
//	h, err := web.New(web.Config{Models: []web.Model{{Name: "spam", Engine: e}}, Token: token})
//	http.Server{Handler: h, …}
//
//	POST /predict            lines of vw's text, or of JSON with Content-Type: application/json; the first model
//	POST /predict?model=NAME the model NAME
//	GET  /model[?model=NAME] its identity, options and counters, as JSON
//	GET  /healthz            "ok" while the server accepts requests; needs no token
//	GET  /metrics            counters in Prometheus's text format
//
// # Predictions
//
// The body has one example per line, and the answer one line per example, as a file of -p has it.
// A request uses one model for all of its lines, also if a reload replaces it meanwhile. The
// answer begins before the body has ended, so a body may be a stream.
//
// With Content-Type application/json or application/x-ndjson the lines are objects of vw's JSON
// format, and the answer is a JSON object per line: {"prediction":0.5,"tag":"a"}, or {"error":"…"}.
//
// # Faults
//
// A malformed line is answered by a line that begins with "error: ", or by an object with the
// member error, and the following lines have their answers. If the request has one line only, the
// status is 400. Text is read strictly: other than in vw, no part of a malformed line is used.
//
// # Browsers
//
// A page of another site can make a browser send a request. Such a request is answered by the status 403, and so is one for a
// host other than localhost or a loopback address if Config.Local is set and Config.Token is not.
//
// # Limits
//
// Config.Limits and Config.MaxBody bound requests for predictions. A client whose next line does not arrive in time is answered by
// the status 408, and disconnected. The handler sets the deadlines of such requests itself. The http.Server has
// those of headers and of the other requests: ReadHeaderTimeout, ReadTimeout, WriteTimeout and IdleTimeout.
package web
