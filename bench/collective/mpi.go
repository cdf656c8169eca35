// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

//go:embed peer/mpi.c
var mpiSource []byte

// mpi is a peer that runs our C program (peer/mpi.c).
type mpi struct {
	cfg    Config
	system string
	launch []string // without the number of ranks, which is appended
	env    []string
	dir    string // folder of the compiled program
}

func openMPI(ctx context.Context, cfg Config) (system, error) {
	run, ok := speaks(ctx, "Open MPI", "mpirun.openmpi", "mpirun")
	cc, has := speaks(ctx, "", "mpicc.openmpi", "mpicc")
	if !ok || !has {
		return nil, &missingError{"openmpi", "not installed (Debian: apt-get install openmpi-bin libopenmpi-dev)"}
	}
	links := "tcp,self"
	if cfg.Transport == "shm" {
		links = "vader,self"
	}
	return buildMPI(ctx, &mpi{
		cfg: cfg, system: "openmpi",
		// Both options are needed where ranks outnumber cores, and in containers.
		launch: []string{
			run, "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", links,
			"--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo", "-np",
		},
	}, cc)
}

func mpich(ctx context.Context, cfg Config) (system, error) {
	run, ok := speaks(ctx, "HYDRA", "mpirun.mpich", "mpiexec.hydra", "mpirun")
	cc, has := speaks(ctx, "", "mpicc.mpich", "mpicc")
	if !ok || !has {
		return nil, &missingError{"mpich", "not installed (Debian: apt-get install mpich)"}
	}
	// With these settings some turns of MPICH 4.0.2 hang before the first batch, in a plain
	// shell too. The time limit of a turn ends them.
	env := []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "MPIR_CVAR_NOLOCAL=1"}
	if cfg.Transport == "shm" {
		env = []string{"UCX_TLS=posix,sysv,self"}
	}
	return buildMPI(ctx, &mpi{cfg: cfg, system: "mpich", launch: []string{run, "-n"}, env: env}, cc)
}

// buildMPI compiles the program with the compiler wrapper of the peer.
func buildMPI(ctx context.Context, m *mpi, cc string) (system, error) {
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return nil, err
	}
	m.dir = dir
	source := filepath.Join(dir, "mpi.c")
	if err := os.WriteFile(source, mpiSource, 0o644); err != nil {
		return nil, errors.Join(err, m.close())
	}
	out, err := grouped(exec.CommandContext(ctx, cc, "-O3", "-o", m.binary(), source)).CombinedOutput()
	if err != nil {
		err = &missingError{m.system, fmt.Sprintf("%s cannot compile our program: %v: %s", cc, err, lastWords(string(out)))}
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *mpi) binary() string         { return filepath.Join(m.dir, "mpi") }
func (m *mpi) name() (string, string) { return m.system, "" }
func (m *mpi) close() error           { return os.RemoveAll(m.dir) }

func (m *mpi) turn(ctx context.Context) ([]Batch, error) {
	args := append(slices.Clone(m.launch[1:]), strconv.Itoa(m.cfg.Ranks), m.binary(),
		sizesArg(m.cfg.Sizes), strconv.FormatInt(m.cfg.PerSize.Milliseconds(), 10))
	cmd := grouped(exec.CommandContext(ctx, m.launch[0], args...))
	cmd.Env = append(cmd.Environ(), m.env...)
	return program(ctx, cmd)
}
