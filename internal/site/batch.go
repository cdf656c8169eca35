// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// torchrun reads the variables of PyTorch's launchers. torchrun restarts all processes of the job if one fails.
func torchrun(v *vars) Rank {
	r := Rank{
		Rank: v.number("RANK"), Total: v.number("WORLD_SIZE"), Local: v.number("LOCAL_RANK"), LocalTotal: v.number("LOCAL_WORLD_SIZE"),
		Generation: uint32(v.number("TORCHELASTIC_RESTART_COUNT")), First: v.get("MASTER_ADDR"),
	}
	id := v.get("TORCHELASTIC_RUN_ID")
	if id != "" {
		r.Restarts = WholeJob
	}
	// "none" is torchrun's default, which other jobs have, too. The port is that of PyTorch's own server.
	if at := v.get("MASTER_ADDR"); (id == "" || id == "none") && at != "" {
		id = at + ":" + v.get("MASTER_PORT")
	}
	if id != "none" && id != "" {
		r.Job = "torch-" + id
	}
	return r
}

// openMPI reads the variables of mpirun, mpiexec and prterun.
func openMPI(v *vars) Rank {
	r := Rank{
		Rank: v.number("OMPI_COMM_WORLD_RANK"), Total: v.number("OMPI_COMM_WORLD_SIZE"),
		Local: v.number("OMPI_COMM_WORLD_LOCAL_RANK"), LocalTotal: v.number("OMPI_COMM_WORLD_LOCAL_SIZE"),
	}
	if id := v.get("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"); id != "" {
		// The namespace of version 4 has 16 bits. The address of mpirun distinguishes further jobs.
		r.Job = fmt.Sprintf("openmpi-%s-%08x", id, hash32(v.get("OMPI_MCA_orte_hnp_uri")))
	}
	return r
}

// mpich reads the variables of Hydra, the launcher of MPICH, Intel MPI and MVAPICH. It has no identity of the job.
func mpich(v *vars) Rank {
	r := Rank{
		Rank: v.number("PMI_RANK"), Total: v.number("PMI_SIZE"),
		Local: v.number("MPI_LOCALRANKID"), LocalTotal: v.number("MPI_LOCALNRANKS"),
	}
	if id := v.get("PMI_JOBID"); id != "" {
		r.Job = "mpi-" + id
	}
	return r
}

// pmix reads what every launcher with PMIx sets.
func pmix(v *vars) Rank {
	return Rank{Rank: v.number("PMIX_RANK"), Job: "pmix-" + v.get("PMIX_NAMESPACE")}
}

// inStep reports whether the process belongs to a step of Slurm. The batch script and a shell of salloc have a rank and a
// number of tasks, too, but no step; newer versions have reserved numbers for theirs.
func (v *vars) inStep() bool {
	const reserved = 0xfffffff0
	n, err := strconv.ParseUint(v.get("SLURM_STEP_ID", "SLURM_STEPID"), 10, 32)
	return err == nil && n < reserved
}

// slurm reads the variables of srun. Slurm starts a job again as a whole, after the loss of a node (--requeue).
func slurm(v *vars) Rank {
	if !v.inStep() {
		v.fault("this process is not in a step: SLURM_STEP_ID is not set, as in a batch script: write srun before the command")
		return Rank{}
	}
	r := Rank{
		Rank: v.number("SLURM_PROCID"), Total: v.number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), Local: v.number("SLURM_LOCALID"),
		Generation: uint32(v.number("SLURM_RESTART_COUNT")),
	}
	if id := v.get("SLURM_JOB_ID", "SLURM_JOBID"); id != "" {
		r.Job = "slurm-" + id + "." + v.get("SLURM_STEP_ID", "SLURM_STEPID")
	}
	if v.number("SLURM_STEP_NUM_NODES", "SLURM_NNODES") == 1 {
		r.LocalTotal = r.Total
	}
	list := v.get("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
	switch hosts, err := Expand(list); {
	case err != nil:
		v.fault("the list of nodes %q: %w", list, err)
	case len(hosts) > 0:
		r.First = hosts[0]
	}
	return r
}

// application returns the identity of a YARN application and its attempt, from 1, by the name of a container such as
// container_e17_1410901177871_0001_01_000005.
func (v *vars) application() (id string, attempt int) {
	name := v.get("CONTAINER_ID")
	f := strings.Split(strings.TrimPrefix(name, "container_"), "_")
	if len(f) == 5 {
		f = f[1:] // without the epoch of the ResourceManager
	}
	if len(f) == 4 && strings.HasPrefix(name, "container_") {
		if n, err := strconv.ParseUint(f[2], 10, 31); err == nil && n > 0 {
			return "yarn-" + f[0] + "_" + f[1], int(n)
		}
	}
	v.fault("CONTAINER_ID=%s: want a name such as container_1410901177871_0001_01_000005", name)
	return "", 1
}

// yarnShell reads the variables of the distributed shell, which numbers its containers from 1. Another attempt of the
// ApplicationMaster starts all of them again.
func yarnShell(v *vars) Rank {
	id, attempt := v.application()
	return Rank{Rank: v.number("YARN_SHELL_ID") - 1, Job: id, Generation: uint32(attempt - 1), Restarts: WholeJob}
}

// yarnService reads the variables that the environment of a component has if its Yarnfile sets them:
// COMPONENT_ID=${COMPONENT_ID}. The service starts a component that has ended again, with its number.
func yarnService(v *vars) Rank {
	id, _ := v.application()
	return Rank{Rank: v.number("COMPONENT_ID"), Job: id, Restarts: EachRank}
}

func hash32(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // it never fails
	return h.Sum32()
}
