// SPDX-License-Identifier: Apache-2.0

// Package spantree is how the ranks of a job find each other: the server on
// the gateway, which vw calls spanning_tree, and the client that joins a job
// there.
//
// # The server
//
//	s, err := spantree.NewServer(spantree.ServerConfig{StateFile: "/var/lib/gvw/state"})
//	l, err := net.Listen("tcp", ":26543")
//	err = s.Serve(ctx, l)
//
// It speaks two protocols on one port, told apart by the first 24 bytes: the
// one of vw 7 to 9, byte for byte, and a native one of frames, which
// docs/protocol.md draws. Workers of both may be in one job.
//
// A job is filling until all its ranks are in; then it is wired, and everybody
// knows whom to talk to. vw workers leave the server at this point. Native
// ranks keep their connection: over it they send heartbeats, learn at once and
// all alike who was lost and why, and end together:
//
//	joined → ready → wired → COMPLETE → DELIVER → DONE → BYE
//
// A native job may recover from the loss of a rank: the epoch ends, another
// attempt of the rank takes its seat, and the next epoch goes on at the newest
// step that any rank has completed. That attempt may be a spare: a process without a rank
// (JoinConfig.Spare), which the server gives one when it is lost.
//
// Such a job may also start without ranks that do not come (JoinConfig.Elastic): the server
// decides who takes part, once, when the time is over, and Roster tells.
//
// # A rank
//
//	m, err := spantree.Join(ctx, spantree.JoinConfig{
//		Server: "gateway:26543", Job: spantree.Job{UniqueID: 7}, Rank: 3, Total: 4,
//		Advertise: ":30001", Options: "bits=18 loss=logistic",
//	})
//	defer m.Close()
//	// read the data …
//	w, err := m.Ready(ctx, shard) // returns when the job is wired: w says how
//	// train; <-m.Over() tells that the epoch has ended, m.Cause() why
//	files, err := m.Complete(ctx, digest, []string{"model"}) // all hold the same model
//	// deliver the files, with m.Done for each
//	err = m.Bye(ctx)
//
// # How it is built
//
// The server's rules are a pure machine (machine.go, admit.go, wiring.go,
// finish.go; for losses recover.go, standby.go, resume.go, pull.go, links.go,
// shrink.go, handover.go, spares.go, elastic.go; for the server's own end restart.go): events and the
// time go in, actions come out. What it says to whom can be read in the
// transcripts of testdata/machine. Around it server.go and conn.go hold the
// sockets: every connection has a reader and a writer of its own, so a client
// that is silent, slow, or sends garbage harms nobody. journal.go is what
// survives a restart.
//
// guard.go and dial.go have both sides prove who they are, where ServerConfig.Credentials
// and JoinConfig.Credentials ask for it (package auth); bounds.go is what clients may take.
//
// Of vw's twelve ways to fail (the tests in failures_test.go go through them)
// the server takes those that are its own: nothing a client sends ends it,
// blocks it, or makes it allocate without bound.
//
// # Limits of this version
//
// Unless JOIN says otherwise a rank that is lost after the wiring ends its job:
// every rank gets the same *[LostError], and a later attempt of a rank that is
// held is refused. A rank whose server has gone works on, and fails at the end,
// where it needs it.
package spantree
