// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Input is what Find looks at.
type Input struct {
	Env      []string // NAME=value; required
	Hostname string   // of this machine; "": unknown. In a pod it contains the index
	Domain   string   // of the names of the job's machines, without a leading dot; "": they have none
	Total    int      // ranks of the job as the user has given them; 0: the launcher says it
}

// Rank is the place of a process in its job.
type Rank struct {
	Launcher   string   // name for messages
	Rank       int      // from 0
	Total      int      // at least 1
	Local      int      // number among the ranks of this machine, from 0; 0 also if it is unknown
	LocalTotal int      // ranks on this machine; 0: unknown
	Job        string   // identity of the job, the same on all ranks; "": the launcher has none
	Generation uint32   // times that the launcher has restarted the whole job
	First      string   // host of rank 0; "": unknown. On a single machine it is 127.0.0.1
	Restarts   Restarts // what the launcher restarts
}

// Restarts is what a launcher restarts when a process fails.
type Restarts uint8

const (
	Nothing Restarts = iota // the job ends, or continues without the process
	EachRank
	WholeJob
)

// Launcher is one launcher that Find knows.
type Launcher struct {
	Name  string
	Marks []string // variables that it sets for each rank; all of them must be there
	find  func(*vars) Rank
}

// Launchers are all launchers, the innermost first.
var Launchers = []Launcher{
	{"torchrun", []string{"TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE"}, torchrun},
	{"Open MPI", []string{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, openMPI},
	{"MPICH", []string{"PMI_RANK", "PMI_SIZE"}, mpich},
	{"PMIx", []string{"PMIX_RANK", "PMIX_NAMESPACE"}, pmix},
	{"Slurm", []string{"SLURM_PROCID"}, slurm},
	{"YARN distributed shell", []string{"YARN_SHELL_ID", "CONTAINER_ID"}, yarnShell},
	{"YARN service", []string{"COMPONENT_ID", "CONTAINER_ID"}, yarnService},
	{"AWS Batch", []string{"AWS_BATCH_JOB_NODE_INDEX", "AWS_BATCH_JOB_NUM_NODES"}, awsBatch},
	{"Kubeflow Trainer", []string{"PET_NODE_RANK", "PET_NNODES"}, kubeflow},
	{"PyTorch", []string{"RANK", "WORLD_SIZE", "MASTER_ADDR"}, torchrun},
	{"Volcano", []string{"VC_TASK_INDEX"}, volcano},
	{"Volcano", []string{"VK_TASK_INDEX"}, volcano},
	{"JobSet", []string{"JOBSET_NAME", "JOB_COMPLETION_INDEX"}, jobSet},
	{"Kubernetes", []string{"JOB_COMPLETION_INDEX"}, indexedJob},
}

// Find returns the place of the process. The error lists all variables that are wrong or missing.
func Find(in Input) (Rank, error) {
	v := &vars{Input: in, values: map[string]string{}}
	for _, kv := range in.Env {
		name, value, _ := strings.Cut(kv, "=")
		v.values[name] = value
	}
	at := slices.IndexFunc(Launchers, func(l Launcher) bool { return v.all(l.Marks) && !v.sameAsStep(l.Name) })
	if at < 0 {
		return Rank{}, errNoLauncher
	}
	l := Launchers[at]
	r := l.find(v)
	r.Launcher = l.Name
	if len(v.errs) == 0 {
		v.check(&r)
	}
	if err := errors.Join(v.errs...); err != nil {
		return Rank{}, fmt.Errorf("%s: %w", l.Name, err)
	}
	return r, nil
}

// ErrNoTotal means that the launcher does not tell the number of ranks, and Input.Total is 0.
var ErrNoTotal = errors.New("no number of ranks")

// errNoLauncher says what Find has looked for.
var errNoLauncher = errors.New("no launcher is known by its variables: " + looked())

// looked lists the launchers with their variables.
func looked() string {
	var all []string
	for _, l := range Launchers {
		all = append(all, l.Name+" ("+strings.Join(l.Marks, ", ")+")")
	}
	return strings.Join(all, "; ")
}

// vars reads variables and collects what is wrong with them.
type vars struct {
	Input
	values map[string]string
	errs   []error
}

func (v *vars) fault(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf(format, args...))
}

// get returns the first of several variables that is set and not empty; "": none is.
func (v *vars) get(names ...string) string {
	for _, name := range names {
		if v.values[name] != "" {
			return v.values[name]
		}
	}
	return ""
}

func (v *vars) all(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return v.values[name] == "" })
}

// number returns the value of the first of several variables that is set; 0 if none is.
func (v *vars) number(names ...string) int {
	for _, name := range names {
		if text := v.values[name]; text != "" {
			n, err := strconv.ParseUint(text, 10, 31)
			if err != nil {
				v.fault("%s=%s: want a whole number", name, text)
			}
			return int(n)
		}
	}
	return 0
}

// check checks the numbers of a place against each other and against Input.Total.
func (v *vars) check(r *Rank) {
	switch {
	case r.Total == 0 && v.Total == 0:
		v.fault("its environment has rank %d, but %w", r.Rank, ErrNoTotal)
		return
	case r.Total == 0:
		r.Total = v.Total
	case v.Total != 0 && v.Total != r.Total:
		v.fault("it has started %d ranks, but %d were given", r.Total, v.Total)
	}
	if r.Rank < 0 || r.Rank >= r.Total {
		v.fault("rank %d of %d: want 0 to %d", r.Rank, r.Total, r.Total-1)
	}
	if r.LocalTotal == r.Total {
		r.First = loopback
	}
}

// loopback is the first host of a job on a single machine.
const loopback = "127.0.0.1"

// sameAsStep reports whether the variables of PMI are srun's own, for the same place as Slurm's.
func (v *vars) sameAsStep(launcher string) bool {
	rank := map[string]string{"MPICH": "PMI_RANK", "PMIx": "PMIX_RANK"}[launcher]
	if rank == "" || !v.inStep() || v.values[rank] != v.values["SLURM_PROCID"] {
		return false
	}
	if launcher == "MPICH" {
		// Hydra's own variable is not there under srun.
		return v.values["HYDI_CONTROL_FD"] == "" && v.values["PMI_SIZE"] == v.get("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
	}
	return strings.HasPrefix(v.values["PMIX_NAMESPACE"], "slurm.")
}
