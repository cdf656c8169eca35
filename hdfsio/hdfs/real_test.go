// SPDX-License-Identifier: Apache-2.0

package hdfs

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/fstest"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
)

// realHDFS names the variable with the URL of a folder on a real HDFS, as in
// hdfs://localhost:8020/tmp. HADOOP_CONF_DIR is its configuration, hdfs is in PATH.
const realHDFS = "GVW_TEST_HDFS"

// real returns a configuration for the real HDFS, and a fresh folder there.
func real(t *testing.T) (Config, string) {
	t.Helper()
	where := os.Getenv(realHDFS)
	if where == "" {
		if os.Getenv("REQUIRE_HDFS") == "1" {
			t.Fatal(realHDFS + " is not set")
		}
		t.Skip("needs a real HDFS (make test-hadoop starts one); " + realHDFS + " is not set")
	}
	conf, err := siteconf.Load(os.Getenv("HADOOP_CONF_DIR"), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	client, err := exec.LookPath("hdfs")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Conf: conf, User: firstOf(os.Getenv("HADOOP_USER_NAME"), os.Getenv("USER"), "root"), Command: []string{client, "dfs"},
		Host: "here", Pid: os.Getpid(), Spool: t.TempDir(), Patience: 30 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return cfg, fmt.Sprintf("%s/gvw-%08x", strings.TrimSuffix(where, "/"), rand.Uint32())
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// urls is the file system of a way, and a folder there.
func urls(t *testing.T, cfg Config, way, dir string) (*hdfsio.URLs, string) {
	t.Helper()
	if way == "webhdfs://" {
		nodes, err := cfg.Conf.NameNodes("", siteconf.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		_, _, path, _ := hdfsio.SplitURL(dir)
		dir = "webhdfs://" + nodes[0] + path
	} else {
		cfg.Client = way
	}
	u := &hdfsio.URLs{Dial: Dialer(cfg)}
	if err := u.Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	return u, dir
}

func TestConformanceOnARealHDFS(t *testing.T) {
	cfg, dir := real(t)
	for i, way := range []string{"native", "webhdfs", "webhdfs://", "auto", "pipe"} {
		t.Run(strings.Trim(way, ":/"), func(t *testing.T) {
			u, dir := urls(t, cfg, way, fmt.Sprintf("%s/%d", dir, i))
			fstest.Run(t, fstest.Config{FS: u, Dir: dir, Races: way == "native" || way == "auto", Slow: way == "pipe"})
		})
	}
}
