// SPDX-License-Identifier: Apache-2.0

// Package joinflags turns options into the membership of a job.
//
// [Check] reports what is missing or contradicts itself among the options of a job. [Place]
// finds the rank of this process, [Config] returns the configuration with which it joins,
// [Guard] adds its credentials, and [ArmFaults] injects the faults of GVW_FAULT. The learner,
// gvw allreduce and gvw doctor join by these functions. [JoinShared] is all of them for the
// commands that have shared vectors.
package joinflags
