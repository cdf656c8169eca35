// SPDX-License-Identifier: Apache-2.0

// Package engine answers lines of examples by a model. Servers of several protocols are rims
// around it: package daemon has vw's socket, and package web has HTTP.
//
//	e, err := engine.New(ctx, engine.Config{Load: load, Save: save, Log: log})
//	m := e.Acquire()                     // the current model; a reload does not change it
//	s, err := m.Session(engine.Text)
//	dst, err = s.Answer(ctx, dst, line)  // one line of vw's text in, one line of prediction out
//	m.Put(s)
//	m.Release()
//	err = e.Close(ctx)                   // saves what has been learned
//
// A model that learns is one learner under a lock: parsing is parallel, and learning is not. A
// model of a test does not change, so its sessions predict in parallel.
//
// # Errors
//
// Answer returns an error for a line that has no answer, and the engine continues: no line harms
// the session, or another one. A [LineError] is a fault of the line, which the client may be sent.
//
// # Checkpoints
//
// With Config.Checkpoint a learning engine saves its model every Every examples and every
// Interval. Both are guarantees: after a crash, the file lacks at most the last Every examples,
// and none that was answered more than Interval before. To that end a save begins at half of
// either, and learning waits if Every examples have been learned since the last complete file.
// Close saves the rest, so that an orderly end loses nothing.
package engine
