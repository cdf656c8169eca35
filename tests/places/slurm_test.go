// SPDX-License-Identifier: Apache-2.0

//go:build linux

package places

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/harness"
)

// slurmConf is the configuration of a cluster that has only this machine.
const slurmConf = `ClusterName=places
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=%[2]s/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/ctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
`

// cluster starts Slurm on this machine and returns the variable by which its programs find it.
func cluster(t *testing.T) string {
	t.Helper()
	need(t, "munged", "slurmctld", "slurmd", "srun")
	if os.Geteuid() != 0 {
		missing(t, "slurmd needs root")
	}
	dir, err := os.MkdirTemp("", "gvw-slurm-") // munge wants parents that only root can write
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // it never fails
	conf := filepath.Join(dir, "slurm.conf")
	for name, content := range map[string][]byte{
		filepath.Join(dir, "munge.key"): key,
		conf:                            fmt.Appendf(nil, slurmConf, host, dir, freePort(t), freePort(t)),
	} {
		if err := os.WriteFile(name, content, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	env := "SLURM_CONF=" + conf
	file := func(name string) string { return filepath.Join(dir, name) }
	outputs := []*harness.Buffer{daemon(t, nil, "munged", "--foreground", "--force", "--socket="+file("munge.sock"), "--key-file="+file("munge.key"),
		"--pid-file="+file("munged.pid"), "--log-file="+file("munged.log"), "--seed-file="+file("munged.seed"))}
	if !harness.Until(20*time.Second, 50*time.Millisecond, func() bool { _, err := os.Stat(file("munge.sock")); return err == nil }) {
		t.Fatalf("munged does not start: %s", outputs[0])
	}
	outputs = append(outputs, daemon(t, []string{env}, "slurmctld", "-D", "-f", conf), daemon(t, []string{env}, "slurmd", "-D", "-f", conf))
	var state []byte
	if !harness.Until(30*time.Second, 200*time.Millisecond, func() bool {
		cmd := exec.CommandContext(t.Context(), "sinfo", "-h", "-o", "%T")
		cmd.Env = append(os.Environ(), env)
		state, _ = cmd.CombinedOutput() // an error is no idle node
		return strings.TrimSpace(string(state)) == "idle"
	}) {
		t.Fatalf("Slurm has no idle node: %s\n%v", state, outputs)
	}
	return env
}

func TestSlurm(t *testing.T) {
	env := cluster(t)
	dir, want := folder(t)
	out, err := start(t, dir, []string{env, killed}, "srun", append([]string{"-n", "3", "-O", gvwBin, "run", "--join", "--"}, options("model")...)...)()
	check(t, dir, want, out, err)
	// A batch script is no step: the mistake must not become a job that waits.
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+gvwBin+" run --join -- -d t.vw\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := start(t, dir, []string{env}, "sbatch", "--wait", "-n", "1", "-o", "batch.log", script)(); err == nil {
		t.Errorf("the batch script succeeded: %s", out)
	}
	if log := string(model(t, dir, "batch.log")); !strings.Contains(log, "write srun before the command") {
		t.Errorf("the batch script: %s", log)
	}
}
