// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The containers of YARN's distributed shell are the ranks of one job: each calls the same gvw run --join, which finds
// its rank by the variables of the shell, and all write the model of gvw run.
func TestDistributedShellTrains(t *testing.T) {
	const name = "gvw by shell"
	c, in := hadoop(t), smallInput(t)
	jars, err := filepath.Glob(filepath.Join(c.Jars(), "lib", "hadoop-yarn-applications-distributedshell-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("%v %v", jars, err)
	}
	gvw := filepath.Join(shared.programs, "gvw")
	call := fmt.Sprintf("run --join -n 4 --join_dir %s -- -d %s%s/part.{rank} -f %[2]s/shell.model --cache_file c --quiet %[4]s",
		filepath.Join(shared.dir, "join"), c.HDFS(), in.hdfs, strings.Join(hybrid(), " "))
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	cmd := c.Command(ctx, "yarn", "org.apache.hadoop.yarn.applications.distributedshell.Client", "-appname", name, "-jar", jars[0],
		"-num_containers", "4", "-container_memory", "256", "-master_memory", "384", "-shell_command", gvw, "-shell_args", call)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("the client took %.1f s", time.Since(began).Seconds())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", out)
			logs, _ := filepath.Glob(filepath.Join(c.Dir(), "nm*", "log", "application_*", "container_*", "*"))
			t.Log(logs)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	app, err := c.App(t.Context(), name)
	if err != nil || app.Final != "SUCCEEDED" {
		t.Fatalf("%v: the application has %s: %s", err, app.Final, app.Diagnostics)
	}
	got, err := c.Get(t.Context(), "/shell.model")
	if err != nil {
		t.Fatal(err)
	}
	if want := in.want(t, hybrid()...); !bytes.Equal(got, want) {
		t.Errorf("the model has %d bytes that are not those of gvw run (%d)", len(got), len(want))
	}
}
