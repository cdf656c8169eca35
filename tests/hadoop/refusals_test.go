// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refusalLimit bounds the time until gvw reports a refusal of HDFS.
const refusalLimit = 30 * time.Second

// A refusal of HDFS ends a run soon, with the file, the operation, the client and a remedy.
func TestRefusalsOfHDFS(t *testing.T) {
	c := hadoop(t)
	u, dir := filesBy(t, "native")
	path := strings.TrimPrefix(dir, c.HDFS())
	data := filepath.Join(t.TempDir(), "t.vw")
	if err := os.WriteFile(data, []byte("1 |a x y\n-1 |a z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"/names", "/space"} {
		if err := u.Mkdir(t.Context(), dir+sub); err != nil {
			t.Fatal(err)
		}
	}
	// The first quota leaves room only for the folder itself, the second for one byte.
	admin(t, "-setQuota", "1", path+"/names")
	admin(t, "-setSpaceQuota", "1", path+"/space")
	for _, way := range []string{"native", "webhdfs"} {
		for _, x := range []struct {
			name string
			user string
			args []string
			want []string
		}{
			{"missing input", "", []string{"-d", dir + "/none.vw"}, []string{"cannot open " + dir + "/none.vw", "check the name"}},
			{"missing folder", "", []string{"-d", data, "-f", dir + "/none/model"}, []string{"cannot create " + dir + "/none/model", "hdfs dfs -mkdir -p"}},
			{"permission", "eve", []string{"-d", data, "-f", dir + "/model"}, []string{"cannot create " + dir + "/model", "eve", "HADOOP_USER_NAME"}},
			{"quota of names", "", []string{"-d", data, "-f", dir + "/names/model"}, []string{"cannot create " + dir + "/names/model", "NameSpace quota", "-setQuota"}},
			{"quota of space", "", []string{"-d", data, "-f", dir + "/space/model"}, []string{"cannot write " + dir + "/space/model", "DiskSpace quota", "-setSpaceQuota"}},
		} {
			t.Run(way+" "+x.name, func(t *testing.T) {
				refused(t, way, x.user, x.args, x.want)
			})
		}
	}
	admin(t, "-safemode", "enter")
	for _, way := range []string{"native", "webhdfs"} {
		t.Run(way+" safe mode", func(t *testing.T) {
			refused(t, way, "", []string{"-d", data, "-f", dir + "/model"}, []string{"cannot create " + dir + "/model", "safe mode", "-safemode leave"})
		})
	}
	admin(t, "-safemode", "leave")
}

// refused runs gvw and checks for exit code 5 and these words in the last line.
func refused(t *testing.T, way, user string, args, want []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), refusalLimit)
	defer cancel()
	cmd := program(ctx, hadoop(t), append(args, "--hdfs_client", way)...)
	if user != "" {
		cmd.Env = append(cmd.Env, "HADOOP_USER_NAME="+user)
	}
	if !strings.Contains(strings.Join(args, " "), "hdfs://") {
		t.Fatal("nothing of it is on HDFS")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 5 {
		t.Fatalf("%v, want exit code 5\n%s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	last := lines[len(lines)-1]
	for _, words := range append(want, "("+way+")") {
		if !strings.Contains(last, words) {
			t.Errorf("the last line does not say %q:\n%s", words, last)
		}
	}
}

// admin runs hdfs dfsadmin.
func admin(t *testing.T, args ...string) {
	t.Helper()
	cmd := hadoop(t).Command(t.Context(), "hdfs", append([]string{"dfsadmin"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("hdfs dfsadmin %v: %v\n%s", args, err, out)
	}
}
