// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/fstest"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/harness"
)

// filesBy returns HDFS through one client, a value of --hdfs_client or webhdfs://, and a fresh
// folder there.
func filesBy(t *testing.T, way string) (*hdfsio.URLs, string) {
	t.Helper()
	c := hadoop(t)
	conf, err := siteconf.Load(c.ConfDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	cfg := hdfs.Config{
		Client: way, Conf: conf, User: me.Username, Command: []string{filepath.Join(c.BinDir(), "hdfs"), "dfs"},
		Host: "here", Pid: os.Getpid(), Spool: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	root := c.HDFS()
	if way == "webhdfs://" {
		cfg.Client, root = "", "webhdfs://"+strings.TrimPrefix(c.WebHDFS(), "http://")
	}
	u := &hdfsio.URLs{Dial: hdfs.Dialer(cfg)}
	dir := fmt.Sprintf("%s/files-%d", root, folders.Add(1))
	if err := u.Mkdir(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return u, dir
}

// All clients of HDFS pass one suite. Hadoop's own client takes seconds for each call, so only
// the first part of the suite runs with it here.
func TestFileSystems(t *testing.T) {
	t.Parallel() // beside TestNodeIsLost, which waits most of its time
	for _, way := range []string{"native", "webhdfs", "pipe"} {
		t.Run(way, func(t *testing.T) { conforms(t, way, way == "pipe") })
	}
}

// conforms runs the suite with one client.
func conforms(t *testing.T, way string, slow bool) {
	u, dir := filesBy(t, way)
	fstest.Run(t, fstest.Config{FS: u, Dir: dir, Races: way == "native" || way == "auto", Slow: slow})
}

// loseDataNode kills the only DataNode and returns a function that starts it again. The end of
// the test calls it too, because other tests need the DataNode.
func loseDataNode(t *testing.T) (again func()) {
	t.Helper()
	c := hadoop(t)
	if err := c.Kill(cluster.DataNode); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	again = func() {
		once.Do(func() {
			if err := c.StartDaemon(cluster.DataNode); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(again)
	return again
}

// Of two name nodes of a nameservice the live one is found.
func TestTheOtherNameNode(t *testing.T) {
	c := hadoop(t)
	dead := "127.0.0.1:" + sparePort(c)
	for _, way := range []string{"native", "webhdfs"} {
		conf := &siteconf.Conf{}
		conf.Set("dfs.ha.namenodes.both", "a,b")
		conf.Set("dfs.namenode.rpc-address.both.a", dead)
		conf.Set("dfs.namenode.http-address.both.a", dead)
		conf.Set("dfs.namenode.rpc-address.both.b", strings.TrimPrefix(c.HDFS(), "hdfs://"))
		conf.Set("dfs.namenode.http-address.both.b", strings.TrimPrefix(c.WebHDFS(), "http://"))
		u := &hdfsio.URLs{Dial: hdfs.Dialer(hdfs.Config{Client: way, Conf: conf, User: "anybody", Host: "here"})}
		for range 2 {
			if info, err := u.Stat(t.Context(), "hdfs://both/tmp"); err != nil || !info.Mode.IsDir() {
				t.Errorf("%s: %+v, %v", way, info, err)
			}
		}
	}
}

// sum returns a digest of a file.
func sum(ctx context.Context, u hdfsio.FS, name string, from int64) (digest [32]byte, err error) {
	r, err := u.Open(ctx, name, from)
	if err != nil {
		return digest, err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	h.Sum(digest[:0])
	return digest, errors.Join(err, r.Close())
}

// bytesOf returns n bytes without two equal blocks.
func bytesOf(n int) []byte {
	b := make([]byte, 0, n+32)
	for i := 0; len(b) < n; i++ {
		d := sha256.Sum256(fmt.Append(nil, i))
		b = append(b, d[:]...)
	}
	return b[:n]
}

// The only DataNode is killed while files are read and written, and started again: all files
// arrive complete.
func TestFilesSurviveALostDataNode(t *testing.T) {
	data := bytesOf(48 << 20)
	want := sha256.Sum256(data)
	type transfer struct {
		u    *hdfsio.URLs
		dir  string
		in   io.ReadCloser
		out  hdfsio.File
		head []byte
	}
	var all []*transfer
	for _, way := range []string{"native", "webhdfs"} {
		u, dir := filesBy(t, way)
		x := &transfer{u: u, dir: dir, head: make([]byte, 4<<20)}
		for _, name := range []string{"/read", "/written"} {
			out, err := u.Create(t.Context(), dir+name)
			if err == nil {
				_, err = out.Write(data)
			}
			if err == nil && name == "/read" {
				err = out.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			x.out = out
		}
		in, err := u.Open(t.Context(), dir+"/read", 0)
		if err == nil {
			_, err = io.ReadFull(in, x.head)
		}
		if err != nil {
			t.Fatal(err)
		}
		x.in = in
		all = append(all, x)
	}
	again := loseDataNode(t)
	var work sync.WaitGroup
	errs := make(chan error, 2*len(all))
	for _, x := range all {
		work.Go(func() { errs <- x.out.Commit() })
		work.Go(func() {
			rest, err := io.ReadAll(x.in)
			if err = errors.Join(err, x.in.Close()); err == nil && !bytes.Equal(append(x.head, rest...), data) {
				err = fmt.Errorf("%s: other bytes were read than written", x.dir)
			}
			errs <- err
		})
	}
	time.Sleep(2 * time.Second) // so that all of them find it dead
	again()
	work.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	for _, x := range all {
		if got, err := sum(t.Context(), x.u, x.dir+"/written", 0); err != nil || got != want {
			t.Errorf("%s: what was written then: %v, the same bytes: %v", x.dir, err, got == want)
		}
		if infos, err := x.u.List(t.Context(), x.dir+"/.*"); err != nil || len(infos) > 0 {
			t.Errorf("%s: left behind: %v, %v", x.dir, infos, err)
		}
	}
}

// A writer that is killed during the transfer of its model leaves no file under the name.
func TestKilledWriterLeavesNoFile(t *testing.T) {
	c := hadoop(t)
	u, dir := filesBy(t, "native")
	again := loseDataNode(t)
	data := filepath.Join(t.TempDir(), "t.vw")
	if err := os.WriteFile(data, []byte("1 |a x y\n-1 |a z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := program(ctx, c, "-d", data, "-f", dir+"/model")
	var stderr harness.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(stderr.String(), "retrying") && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if ctx.Err() != nil {
		t.Errorf("it did not try again:\n%s", stderr.String())
	}
	again()
	if _, err := u.Stat(t.Context(), dir+"/model"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the model of a dead writer: %v", err)
	}
	if infos, err := u.List(t.Context(), dir+"/*"); err != nil || len(infos) > 0 {
		t.Errorf("patterns find %v, %v", infos, err)
	}
	// Its remains do not hinder another writer.
	if out, err := program(ctx, c, "-d", data, "-f", dir+"/model").CombinedOutput(); err != nil {
		t.Errorf("another run: %v\n%s", err, out)
	}
}

// program returns a command of gvw on the cluster.
func program(ctx context.Context, c *cluster.Cluster, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(shared.programs, "gvw"), args...)
	cmd.Env = append(append(cmd.Environ(), c.Env()...), "HADOOP_CONF_DIR="+c.ConfDir())
	return cmd
}
