// SPDX-License-Identifier: Apache-2.0

// Package daemon serves vw's socket protocol (vw --daemon): a client sends lines of examples over
// TCP, and receives a line with the prediction for each, in their order.
//
//	s, err := daemon.New(daemon.Config{Engine: e})
//	err = s.Serve(ctx, listener)   // until ctx ends
//
// A line ends in a line feed; the last one may end with the client's sending direction. Empty lines
// have no answer. An example without features whose tag begins with save is a command: save_NAME
// writes the model to NAME, without an answer. All of this is vw's behaviour.
//
// One process serves all connections at the same time, whereas vw serves as many as it has
// children. A connection that waits for its client has no buffers.
//
// # Faults
//
// vw has no errors in its protocol: a child that fails closes its connection. Here a line that has
// no answer is answered by a line that begins with "error: ", and the connection continues. It
// closes after a line that is too long, and where the bytes are vw's binary format, HTTP or TLS: a web
// page can make a browser on this machine connect, and must not send it commands.
//
// # Limits
//
// A client is disconnected if its line is longer than MaxLine, if it has not sent the rest of a
// line LineTimeout after its beginning, or if it has read nothing of its answers for WriteTimeout. Connections
// above MaxConns are closed. An idle client is not disconnected, as in vw.
package daemon
