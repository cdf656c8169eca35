// SPDX-License-Identifier: Apache-2.0

// Package places starts jobs by real launchers: Slurm, Open MPI, MPICH, and sshd on three addresses of the loopback
// interface. scripts/setup-places.sh installs them. Each trains one job of three ranks, of which one is killed, and the model
// must have the bytes of that of gvw run. Over ssh connections are cut, and the launcher is interrupted and killed.
//
// A test whose launcher is not installed is skipped; with REQUIRE_ALL=1 it fails.
package places
