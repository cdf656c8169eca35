// SPDX-License-Identifier: Apache-2.0

//go:build long

package secure

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
)

func init() { yarnJob = (*site).job }

// job trains in two maps of YARN. Only the gateway has a ticket: the maps write the model over TLS with the delegation
// token that YARN gives them.
func (s *site) job(t *testing.T, ticket string, text []byte) {
	half := bytes.IndexByte(text[len(text)/2+1000:], '\n') + len(text)/2 + 1001
	ada, dir := s.files(t, "native", "ada"), t.TempDir()
	if err := ada.Mkdir(t.Context(), s.cluster.HDFS()+"/in"); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string][]byte{"part.0": text[:half], "part.1": text[half:]} {
		put(t, ada, s.cluster.HDFS()+"/in/"+name, part)
		if err := os.WriteFile(filepath.Join(dir, name), part, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := strings.Fields("-b 14 --hybrid 1:3 --loss_function logistic --l2 1")
	local := exec.Command(s.gvw, append([]string{"run", "-n", "2", "--", "-d", "part.{rank}", "-f", "want", "--cache_file", "c", "--quiet"}, options...)...)
	local.Dir = dir
	if out, err := local.CombinedOutput(); err != nil {
		t.Fatalf("gvw run: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../../scripts/mapscript.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{
		script, "/out", "/in", "2", "--port", strconv.Itoa(s.cluster.SparePort(1)), "--server", "127.0.0.1",
		"--env", "SSL_CERT_FILE=" + s.cluster.Authority(),
	}, options...)...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Environ(), s.cluster.Env()...), "GVW="+s.gvw, "SPANNING_TREE="+filepath.Join(s.programs, "spanning_tree"), "TMPDIR="+dir,
		"KRB5_CONFIG="+s.realm.Conf(), "KRB5CCNAME="+ticket)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // mapscript.sh then kills its job
	cmd.WaitDelay = 15 * time.Second
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("mapscript.sh took %.1f s", time.Since(began).Seconds())
	if err != nil {
		for _, daemon := range []string{cluster.ResourceManager, cluster.NodeManager + "1", cluster.JobHistoryServer} {
			text, _ := os.ReadFile(s.cluster.LogFile(daemon)) // without it the rest must do
			out = append(out, text[max(0, len(text)-4000):]...)
		}
		logs, _ := filepath.Glob(filepath.Join(dir, "mapscript.*", "client.log")) // as above
		for _, name := range logs {
			text, _ := os.ReadFile(name)
			out = append(out, text[max(0, len(text)-6000):]...)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("cannot ask the cluster for its room")) {
		t.Errorf("gvw hadoop slots needs no login, so the documents are wrong: %s", out)
	}
	if got := get(t, ada, s.cluster.HDFS()+"/out/model"); !bytes.Equal(got, want) {
		t.Errorf("the model has %d bytes that are not those of gvw run (%d)", len(got), len(want))
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "rank 0 of 2") {
		t.Errorf("%v: rank 0's log: %s", err, log)
	}
	maps, err := filepath.Glob(filepath.Join(s.cluster.Dir(), "nm1", "log", "application_*", "container_*", "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	by := 0
	for _, name := range maps {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("by=webhdfs")) && bytes.Contains(text, []byte("not_native=")) {
			by++
		}
	}
	if by == 0 {
		t.Errorf("no map uses WebHDFS with its token: %v", maps)
	}
}
