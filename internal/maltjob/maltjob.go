// SPDX-License-Identifier: Apache-2.0

// Package maltjob describes a job of shared vectors by the configuration of a job of collectives:
//
//	g, err := malt.Join(ctx, maltjob.Config(join))
//
// Programs read one set of options for both kinds of jobs, and the linear learner joins both.
package maltjob

import (
	"cmp"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/malt"
)

// Config returns the configuration of shared vectors for a rank. Stall keeps the default of package
// malt, which is another one; Spare and Elastic are left out, too. A job that is open until it is wired
// (allreduce.Open) has vectors that grow. The vectors use the RDMA device of the collectives.
func Config(j *allreduce.Config) malt.Config {
	onLoss := j.OnLoss
	if onLoss == allreduce.Open {
		onLoss = malt.Grow
	}
	device := ""
	if j.Transport != allreduce.TransportTCP {
		device = cmp.Or(j.VerbsDevice, "auto")
	}
	return malt.Config{
		Owner: j.Owner, Verbs: device,
		Server: j.Server, Job: j.Job, Rank: j.Rank, Total: j.Total, OnLoss: onLoss,
		Network: j.Network, Listen: j.Listen, Advertise: j.Advertise, Allow: j.Allow, Credentials: j.Credentials, Host: j.Host,
		DialTimeout: j.DialTimeout, StartTimeout: j.StartTimeout, Heartbeat: j.Heartbeat, LostAfter: j.LostAfter,
		ReplaceTimeout: j.ReplaceTimeout, ServerTimeout: j.ServerTimeout, NoSharedMemory: j.NoSharedMemory, Log: j.Log,
	}
}
