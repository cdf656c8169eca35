// SPDX-License-Identifier: Apache-2.0

// Package engine answers lines of examples by a model. Package daemon serves it over vw's socket
// protocol, and package web over HTTP.
//
//	e, err := engine.New(ctx, engine.Config{Load: load, Save: save, Log: log})
//	m := e.Acquire()                     // the current model; a reload does not change it
//	s, err := m.Session(engine.Text)
//	dst, err = s.Answer(ctx, dst, line)  // one line of vw's text in, one line of prediction out
//	m.Put(s)
//	m.Release()
//	err = e.Close(ctx)                   // saves what has been learned
//
// A model that learns is one learner under a lock: sessions parse in parallel, and learn in turn. A
// model of a test does not change, so its sessions also predict in parallel.
//
// # Errors
//
// Answer returns an error for a line that has no answer. The session then answers further lines, and other
// sessions are not affected. A [LineError] is a fault of the line, and is meant for the client. Other errors
// are faults of the server.
//
// # Checkpoints
//
// With Config.Checkpoint a learning engine saves its model to a file. After a crash the file lacks at
// most the last Every examples, and none that was answered more than Interval before. For this a save begins at half of
// either, and learning waits if Every examples have been learned since the last complete file. Close saves the rest.
//
// # Configurations of servers
//
// Servers have a [Limits] in their Config, and report their faults by [Faults], so that both have the same
// defaults, checks and texts.
package engine
