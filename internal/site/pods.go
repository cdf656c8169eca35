// SPDX-License-Identifier: Apache-2.0

package site

import (
	"slices"
	"strconv"
	"strings"
)

// indexedJob reads what Kubernetes sets in the pods of an indexed job. The name of a pod's host is that of the job with the
// index. The job replaces a pod that has failed.
func indexedJob(v *vars) Rank {
	r := Rank{Rank: v.number("JOB_COMPLETION_INDEX"), Restarts: EachRank}
	if name, ok := strings.CutSuffix(v.Hostname, "-"+v.get("JOB_COMPLETION_INDEX")); ok && name != "" {
		r.Job = "kubernetes-" + name
		r.First = v.inDomain(name + "-0")
	}
	return r
}

// jobSet reads what the manifest of a JobSet sets from the labels of its pods, beside the variables of an indexed job. A
// JobSet starts all its jobs again if one fails. The ranks of job J of R are the J-th of R equal parts.
func jobSet(v *vars) Rank {
	r := indexedJob(v)
	r.Restarts, r.Job, r.First = WholeJob, "jobset-"+v.get("JOBSET_NAME"), ""
	r.Generation = uint32(v.number("JOBSET_RESTART_ATTEMPT"))
	job, jobs := v.number("JOBSET_JOB_INDEX"), max(v.number("JOBSET_REPLICAS"), 1)
	switch {
	case job >= jobs:
		v.fault("JOBSET_JOB_INDEX=%d, and JOBSET_REPLICAS is %d: set both by the labels job-index and replicatedjob-replicas", job, jobs)
	case v.Total%jobs != 0:
		v.fault("%d ranks do not divide among the %d jobs of JOBSET_REPLICAS", v.Total, jobs)
	}
	r.Rank += job * (v.Total / jobs)
	if name, ok := strings.CutSuffix(v.Hostname, "-"+strconv.Itoa(job)+"-"+v.get("JOB_COMPLETION_INDEX")); ok && name != "" {
		r.First = v.inDomain(name + "-0-0")
	}
	return r
}

// kubeflow reads what Kubeflow Trainer sets for torchrun in each of its pods. Here the pod is one rank.
func kubeflow(v *vars) Rank {
	if n := v.get("PET_NPROC_PER_NODE"); n != "" && n != "1" && n != "auto" && n != "cpu" {
		v.fault("PET_NPROC_PER_NODE=%s: a pod is one rank: set numProcPerNode to 1, or start the command by torchrun", n)
	}
	r := Rank{Rank: v.number("PET_NODE_RANK"), Total: v.number("PET_NNODES"), First: v.get("PET_MASTER_ADDR"), Restarts: WholeJob}
	if id := v.get("PET_RDZV_ID", "PET_MASTER_ADDR"); id != "" {
		r.Job = "kubeflow-" + id
	}
	r.Generation = uint32(v.number("JOBSET_RESTART_ATTEMPT"))
	return r
}

// volcano reads what Volcano's plugins env and svc set: the index of a pod in its task, and for each task a list of hosts.
// The ranks are the pods of the task that has this host.
func volcano(v *vars) Rank {
	r := Rank{Rank: v.number("VC_TASK_INDEX", "VK_TASK_INDEX")}
	var lists []string
	for name := range v.values {
		if strings.HasPrefix(name, "VC_") && strings.HasSuffix(name, "_HOSTS") {
			lists = append(lists, name)
		}
	}
	slices.Sort(lists)
	own := slices.DeleteFunc(slices.Clone(lists), func(name string) bool {
		return !slices.ContainsFunc(strings.Split(v.values[name], ","), func(host string) bool {
			first, _, _ := strings.Cut(host, ".")
			return first == v.Hostname
		})
	})
	if len(own) > 0 {
		lists = own
	}
	if len(lists) != 1 {
		v.fault("which of the %d lists of hosts (VC_…_HOSTS) has %q is not known: use the plugins env and svc", len(lists), v.Hostname)
		return r
	}
	hosts := strings.Split(v.values[lists[0]], ",")
	r.Total, r.First, r.Job = len(hosts), hosts[0], "volcano-"+hosts[0]
	return r
}

// awsBatch reads the variables of a multi-node job. The main node is rank 0 whatever its index: the others know its
// address. Batch starts a failed job again as a whole.
func awsBatch(v *vars) Rank {
	r := Rank{Rank: v.number("AWS_BATCH_JOB_NODE_INDEX"), Total: v.number("AWS_BATCH_JOB_NUM_NODES"), Restarts: WholeJob}
	switch main := v.number("AWS_BATCH_JOB_MAIN_NODE_INDEX"); r.Rank {
	case main:
		r.Rank = 0
		r.First = v.Hostname // the main node does not have its own address
	case 0:
		r.Rank = main
	}
	if at := v.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"); at != "" {
		r.First = at
	}
	if attempt := v.number("AWS_BATCH_JOB_ATTEMPT"); attempt > 1 {
		r.Generation = uint32(attempt - 1)
	}
	if id, _, _ := strings.Cut(v.get("AWS_BATCH_JOB_ID"), "#"); id != "" {
		r.Job = "batch-" + id
	}
	return r
}

// inDomain returns the full name of a host of the job.
func (v *vars) inDomain(host string) string {
	if v.Domain == "" {
		return host
	}
	return host + "." + v.Domain
}
