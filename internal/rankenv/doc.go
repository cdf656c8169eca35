// SPDX-License-Identifier: Apache-2.0

// Package rankenv reads the job of a rank from environment variables, as gvw run -n N -- PROGRAM sets them for each
// rank. It is for the libraries whose programs gvw run launches.
//
//	r, err := rankenv.Read(os.LookupEnv)
//
// An empty variable counts as not set. The variables:
//
//	GVW_SPAN_SERVER       server, host or host:port; required
//	GVW_SPAN_SERVER_PORT  port of the server (26543)
//	GVW_UNIQUE_ID         number of the job (0)
//	GVW_RUN_ID            name of the run (none)
//	GVW_TOTAL             ranks of the job; required
//	GVW_NODE              this rank; required
//	GVW_GENERATION        restarts of the whole job (0)
//	GVW_ON_LOSS           policy on the loss of a rank: abort, wait or shrink (abort)
//	GVW_BIND              host to listen on (all addresses)
//	GVW_SECRET_FD         descriptor from which the secret is read (none)
//	GVW_LAUNCHER_FD       descriptor of the launcher's pipe: with it the server's time-out is 2 min
//
// The secret can be read once: a second call in the same process fails if there is one.
package rankenv
