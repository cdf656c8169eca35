// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
)

// located is a file system that knows where blocks are.
type located struct {
	hdfsio.Local
	blocks []hdfsio.Block
	err    error
}

func (l located) Blocks(context.Context, string) ([]hdfsio.Block, error) { return l.blocks, l.err }

func TestBlocksHere(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	two := []hdfsio.Block{{Hosts: []string{"elsewhere", host + ".example.org"}}, {Hosts: []string{"elsewhere"}}}
	for _, c := range []struct {
		fsys hdfsio.FS
		name string
		want string
	}{
		{located{blocks: two}, "hdfs:///x", ", 1 of 2 blocks on this machine"},
		{located{blocks: two}, "x", ""},
		{located{err: errors.ErrUnsupported}, "hdfs:///x", ""},
		{hdfsio.Local{}, "hdfs:///x", ""},
	} {
		if got := blocksHere(t.Context(), c.fsys, c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"h1", "H1.example.org", true}, {"h1", "h2", false}, {"10.0.0.1", "10.0.0.2", false}, {"10.0.0.1", "10.0.0.1", true}} {
		if got := sameHost(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// Where Hadoop's files are looked for, and in which order.
func TestHadoopIsFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts without a suffix are no programs there")
	}
	home, conf := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{
		filepath.Join(home, "etc", "hadoop", "core-site.xml"): 0o644,
		filepath.Join(conf, "core-site.xml"):                  0o644,
		filepath.Join(home, "bin", "hadoop"):                  0o755,
		filepath.Join(home, "jdk", "bin", "java"):             0o755,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("<configuration/>"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		env  []string
		conf string
		cmd  []string
	}{
		{[]string{"HADOOP_CONF_DIR=" + conf, "HADOOP_HOME=" + home}, conf, []string{filepath.Join(home, "bin", "hadoop"), "fs"}},
		{[]string{"HADOOP_HOME=" + home}, filepath.Join(home, "etc", "hadoop"), []string{filepath.Join(home, "bin", "hadoop"), "fs"}},
		{[]string{"HADOOP_CONF_DIR=" + conf, "CLASSPATH=x.jar", "JAVA_HOME=" + filepath.Join(home, "jdk")}, conf, nil}, // no map task's
		{
			[]string{"HADOOP_CONF_DIR=" + conf, "CLASSPATH=x.jar", "JAVA_HOME=" + filepath.Join(home, "jdk"), "CONTAINER_ID=c"},
			conf,
			[]string{filepath.Join(home, "jdk", "bin", "java"), "-Xmx256m", "-cp", "x.jar", "org.apache.hadoop.fs.FsShell"},
		},
	} {
		p := &cli.Process{Env: c.env}
		got, err := siteConf(p)
		if err != nil || got.Dir != c.conf {
			t.Errorf("%v: site files of %q, %v, want %q", c.env, got.Dir, err, c.conf)
		}
		if cmd := hadoopClient(p); !slices.Equal(cmd, c.cmd) {
			t.Errorf("%v: client %q, want %q", c.env, cmd, c.cmd)
		}
	}
	if _, err := siteConf(&cli.Process{Env: []string{"HADOOP_CONF_DIR=" + home}}); err == nil {
		t.Error("a folder without site files: no error")
	}
}
