// SPDX-License-Identifier: Apache-2.0

package site

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// env returns the variables of a text.
func env(text string) []string { return strings.Fields(text) }

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want Rank
	}{
		"srun on two nodes": {
			Input{Env: env("SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=8 SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n[07-08] SLURM_STEP_NUM_NODES=2 SLURM_LOCALID=1 SLURM_RESTART_COUNT=2")},
			Rank{Launcher: "Slurm", Rank: 3, Total: 4, Local: 1, Job: "slurm-17.0", Generation: 2, First: "n07"},
		},
		"srun on one node": {
			Input{Env: env("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=17 SLURM_STEP_ID=1 SLURM_STEP_NODELIST=vm SLURM_STEP_NUM_NODES=1")},
			Rank{Launcher: "Slurm", Total: 2, LocalTotal: 2, Job: "slurm-17.1", First: "127.0.0.1"},
		},
		"srun --mpi=pmi2": {
			Input{Env: env("PMI_RANK=1 PMI_SIZE=2 PMI_JOBID=17.0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_NODELIST=a,b")},
			Rank{Launcher: "Slurm", Rank: 1, Total: 2, Job: "slurm-17.0", First: "a"},
		},
		"Hydra in a step of Slurm": {
			Input{Env: env("PMI_RANK=1 PMI_SIZE=2 HYDI_CONTROL_FD=7 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=17 SLURM_STEP_ID=0")},
			Rank{Launcher: "MPICH", Rank: 1, Total: 2, Local: 1, LocalTotal: 2, First: "127.0.0.1"},
		},
		"mpirun in a batch script": {
			Input{Env: env("OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=652673025 PMIX_RANK=5 SLURM_PROCID=0 SLURM_NTASKS=8")},
			Rank{Launcher: "Open MPI", Rank: 5, Total: 8, Local: 1, LocalTotal: 4, Job: "openmpi-652673025-811c9dc5"},
		},
		"PMIx": {
			Input{Env: env("PMIX_RANK=1 PMIX_NAMESPACE=prte-7"), Total: 2},
			Rank{Launcher: "PMIx", Rank: 1, Total: 2, Job: "pmix-prte-7"},
		},
		"torchrun": {
			Input{Env: env("TORCHELASTIC_RUN_ID=job7 RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=29500 TORCHELASTIC_RESTART_COUNT=1 SLURM_PROCID=1")},
			Rank{Launcher: "torchrun", Rank: 2, Total: 4, LocalTotal: 2, Job: "torch-job7", Generation: 1, First: "n1", Restarts: WholeJob},
		},
		"torchrun of PyTorch 2.15.0 on one machine": {
			Input{Env: env("GROUP_RANK=0 GROUP_WORLD_SIZE=1 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=43741 RANK=1 ROLE_RANK=1 ROLE_WORLD_SIZE=2 TORCHELASTIC_MAX_RESTARTS=0 TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_RUN_ID=459d8549-f69d-4ff1-bbbb-91c227797f21 TORCHELASTIC_USE_AGENT_STORE=True WORLD_SIZE=2")},
			Rank{Launcher: "torchrun", Rank: 1, Total: 2, Local: 1, LocalTotal: 2, Job: "torch-459d8549-f69d-4ff1-bbbb-91c227797f21", First: "127.0.0.1", Restarts: WholeJob},
		},
		"torchrun without a name": {
			Input{Env: env("TORCHELASTIC_RUN_ID=none RANK=0 WORLD_SIZE=4 MASTER_ADDR=n1 MASTER_PORT=29500")},
			Rank{Launcher: "torchrun", Total: 4, Job: "torch-n1:29500", First: "n1", Restarts: WholeJob},
		},
		"a PyTorchJob": {
			Input{Env: env("RANK=1 WORLD_SIZE=2 MASTER_ADDR=job-master-0 MASTER_PORT=23456")},
			Rank{Launcher: "PyTorch", Rank: 1, Total: 2, Job: "torch-job-master-0:23456", First: "job-master-0"},
		},
		"an indexed job": {
			Input{Env: env("JOB_COMPLETION_INDEX=3"), Hostname: "train-3", Domain: "ranks.ml.svc.cluster.local", Total: 4},
			Rank{Launcher: "Kubernetes", Rank: 3, Total: 4, Job: "kubernetes-train", First: "train-0.ranks.ml.svc.cluster.local", Restarts: EachRank},
		},
		"a JobSet of two jobs": {
			Input{Env: env("JOBSET_NAME=ml JOBSET_JOB_INDEX=1 JOBSET_REPLICAS=2 JOBSET_RESTART_ATTEMPT=3 JOB_COMPLETION_INDEX=2"), Hostname: "ml-ranks-1-2", Domain: "ml", Total: 6},
			Rank{Launcher: "JobSet", Rank: 5, Total: 6, Job: "jobset-ml", Generation: 3, First: "ml-ranks-0-0.ml", Restarts: WholeJob},
		},
		"Kubeflow Trainer": {
			Input{Env: env("PET_NODE_RANK=1 PET_NNODES=3 PET_NPROC_PER_NODE=1 PET_MASTER_ADDR=t-node-0-0.t PET_MASTER_PORT=29400 JOB_COMPLETION_INDEX=1")},
			Rank{Launcher: "Kubeflow Trainer", Rank: 1, Total: 3, Job: "kubeflow-t-node-0-0.t", First: "t-node-0-0.t", Restarts: WholeJob},
		},
		"Volcano with two tasks": {
			Input{Env: env("VC_TASK_INDEX=1 VK_TASK_INDEX=1 VC_WORKER_HOSTS=j-worker-0.j,j-worker-1.j VC_MASTER_HOSTS=j-master-0.j"), Hostname: "j-worker-1"},
			Rank{Launcher: "Volcano", Rank: 1, Total: 2, Job: "volcano-j-worker-0.j", First: "j-worker-0.j"},
		},
		"the main node of AWS Batch": {
			Input{Env: env("AWS_BATCH_JOB_NODE_INDEX=2 AWS_BATCH_JOB_NUM_NODES=3 AWS_BATCH_JOB_MAIN_NODE_INDEX=2 AWS_BATCH_JOB_ID=a-b#2 AWS_BATCH_JOB_ATTEMPT=1"), Hostname: "ip-10-0-0-7"},
			Rank{Launcher: "AWS Batch", Total: 3, Job: "batch-a-b", First: "ip-10-0-0-7", Restarts: WholeJob},
		},
		"another node of AWS Batch": {
			Input{Env: env("AWS_BATCH_JOB_NODE_INDEX=0 AWS_BATCH_JOB_NUM_NODES=3 AWS_BATCH_JOB_MAIN_NODE_INDEX=2 AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=10.0.0.7 AWS_BATCH_JOB_ID=a-b#0 AWS_BATCH_JOB_ATTEMPT=3")},
			Rank{Launcher: "AWS Batch", Rank: 2, Total: 3, Job: "batch-a-b", Generation: 2, First: "10.0.0.7", Restarts: WholeJob},
		},
		"YARN's distributed shell": {
			Input{Env: env("YARN_SHELL_ID=1 CONTAINER_ID=container_e17_1410901177871_0001_02_000002"), Total: 3},
			Rank{Launcher: "YARN distributed shell", Total: 3, Job: "yarn-1410901177871_0001", Generation: 1, Restarts: WholeJob},
		},
		"a service of YARN": {
			Input{Env: env("COMPONENT_ID=2 CONTAINER_ID=container_1410901177871_0001_01_000004"), Total: 3},
			Rank{Launcher: "YARN service", Rank: 2, Total: 3, Job: "yarn-1410901177871_0001", Restarts: EachRank},
		},
	} {
		got, err := Find(c.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFindErrors(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"no launcher":              {Input{Env: env("HOME=/root")}, "no launcher is known by its variables: torchrun (TORCHELASTIC_RUN_ID, RANK, WORLD_SIZE); Open MPI ("},
		"a batch script":           {Input{Env: env("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=1")}, "write srun before"},
		"a number is wrong":        {Input{Env: env("PMI_RANK=x PMI_SIZE=2")}, "MPICH: PMI_RANK=x: want a whole number"},
		"rank out of range":        {Input{Env: env("PMI_RANK=2 PMI_SIZE=2")}, "rank 2 of 2: want 0 to 1"},
		"another total":            {Input{Env: env("PMI_RANK=1 PMI_SIZE=2"), Total: 3}, "it has started 2 ranks, but 3 were given"},
		"no total":                 {Input{Env: env("JOB_COMPLETION_INDEX=1")}, "no number of ranks"},
		"a container's name":       {Input{Env: env("YARN_SHELL_ID=1 CONTAINER_ID=x"), Total: 1}, "CONTAINER_ID=x"},
		"shell ids begin with 1":   {Input{Env: env("YARN_SHELL_ID=0 CONTAINER_ID=container_1_2_01_3"), Total: 1}, "rank -1"},
		"several processes a pod":  {Input{Env: env("PET_NODE_RANK=0 PET_NNODES=2 PET_NPROC_PER_NODE=4")}, "numProcPerNode"},
		"an elastic range":         {Input{Env: env("PET_NODE_RANK=0 PET_NNODES=1:4")}, "PET_NNODES=1:4"},
		"an unknown task":          {Input{Env: env("VC_TASK_INDEX=0 VC_A_HOSTS=a VC_B_HOSTS=b"), Hostname: "c"}, "2 lists of hosts"},
		"JobSet, parts":            {Input{Env: env("JOBSET_NAME=m JOBSET_JOB_INDEX=1 JOBSET_REPLICAS=2 JOB_COMPLETION_INDEX=0"), Total: 3}, "do not divide"},
		"JobSet, index":            {Input{Env: env("JOBSET_NAME=m JOBSET_JOB_INDEX=1 JOB_COMPLETION_INDEX=0"), Total: 2}, "JOBSET_REPLICAS"},
		"Slurm, a list of nodes":   {Input{Env: env("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_NODELIST=n[1")}, "brackets"},
		"a list of too many nodes": {Input{Env: env("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_NODELIST=n[0-4000000000]")}, "more than 65536"},
	} {
		_, err := Find(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestExpand(t *testing.T) {
	for list, want := range map[string]string{
		"":                     "",
		"a":                    "a",
		"a,b":                  "a b",
		"n[1-3,07],login":      "n1 n2 n3 n07 login",
		"n[08-11]":             "n08 n09 n10 n11",
		"r[1-2]n[1-2]":         "r1n1 r1n2 r2n1 r2n2",
		"gpu[2]-ib,x[0-1].net": "gpu2-ib x0.net x1.net",
	} {
		got, err := Expand(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, %v; want %s", list, got, err, want)
		}
	}
	for _, list := range []string{"a,", ",a", "n[", "n]", "n[[1]]", "n[]", "n[2-1]", "n[x]", "n[0-70000]", "a[0-999]b[0-999]"} {
		if got, err := Expand(list); err == nil {
			t.Errorf("%s: got %d hosts, want an error", list, len(got))
		}
	}
}
