// SPDX-License-Identifier: Apache-2.0

// Package site finds the place of a process in its job by what its launcher has put into the environment.
//
//	r, err := site.Find(site.Input{Env: os.Environ(), Hostname: name})
//
// [Find] knows Slurm, Open MPI, MPICH and Intel MPI (Hydra), PMIx, torchrun, Kubernetes (indexed jobs, JobSet, Kubeflow
// Trainer), Volcano, AWS Batch and YARN (distributed shell and services). It is pure: it reads no file and asks no server.
//
// A process often has the variables of several launchers: mpirun in a Slurm job, torchrun in a pod. The launcher that was
// called last knows the process best. [Launchers] lists them in that order, and the first one whose variables are there
// determines the place. There is one exception: srun --mpi=pmi2 or pmix sets the variables of PMI for the same place, and
// then Slurm's are taken, which name the machines, too.
//
// Some launchers do not say all: Kubernetes has no number of ranks in the environment, Hydra no identity of the job, and
// mpirun no first host. The fields of [Rank] are then empty, or Input.Total replaces what is missing.
package site
