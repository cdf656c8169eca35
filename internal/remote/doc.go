// SPDX-License-Identifier: Apache-2.0

// Package remote runs the workers of gvw run --hosts on other machines over ssh, so that a lost connection does not lose a
// worker. Three processes stand between the launcher and a worker, all of them gvw remote:
//
//	launcher ── tether ── ssh ── sshd ── front ┄┄ keeper ── worker
//
// The tether ([Tether]) is the launcher's child. It starts ssh, and starts it again when the connection is lost. The front
// ([Front]) is the command of ssh. It starts the keeper in a session of its own, or finds that of an earlier connection,
// and sends what the keeper writes to files: the worker's diagnostics, and at the end its exit code. The keeper ([Keep])
// is the parent of the worker. It needs no connection.
//
// Tether and front exchange JSON, one value a line. The tether sends an [Order], and later "end". The front sends
// a [Report] at least every 2 s.
//
// A keeper holds the lock of its directory as long as it lives. [Hosts] parses lists of machines.
package remote
