// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Cluster is a running Hadoop cluster.
type Cluster struct {
	cfg     Config
	hold    net.Listener // reserves the block of ports; nil: the port was given
	mu      sync.Mutex
	daemons map[string]*daemon
}

// Names of the daemons; NodeManagers are numbered from 1.
const (
	NameNode         = "namenode"
	DataNode         = "datanode"
	ResourceManager  = "resourcemanager"
	NodeManager      = "nodemanager"
	JobHistoryServer = "jobhistoryserver"
	ZooKeeper        = "zookeeper" // of the registry of services; StartDaemon starts it
)

// startWithin bounds the start of a daemon: 10 s on an idle machine, much more on a busy one.
const startWithin = 4 * time.Minute

// Start starts a cluster and returns when it is ready: HDFS has left safe mode and all
// NodeManagers are active. It uses the data below Dir of an earlier cluster again. After an
// error no process is left.
func Start(ctx context.Context, cfg Config) (_ *Cluster, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := &Cluster{cfg: cfg, daemons: map[string]*daemon{}}
	for _, dir := range []string{"conf", "logs", "pids", "tmp", "bin", "dfs/name", "dfs/data"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := c.endLeftOver(); err != nil {
		return nil, err
	}
	if cfg.Port == 0 {
		if c.cfg.Port, c.hold, err = reserve(); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := errors.Join(c.writeConf(), c.writeCommands()); err != nil {
		return nil, err
	}
	if cfg.Kerberos != nil {
		if err := c.writeKeys(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "dfs/name/current/VERSION")); err != nil {
		format := c.java(ctx, "256m", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
		if out, err := format.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cluster: cannot format HDFS: %w\n%s", err, out)
		}
	}
	if err := errors.Join(c.StartDaemon(NameNode), c.StartDaemon(DataNode)); err != nil {
		return nil, err
	}
	if cfg.Nodes > 0 {
		if err := c.StartDaemon(ResourceManager); err != nil {
			return nil, err
		}
	}
	for k := range cfg.Nodes {
		if err := c.StartDaemon(NodeManager + strconv.Itoa(k+1)); err != nil {
			return nil, err
		}
	}
	if cfg.Kerberos != nil {
		return c, c.awaitSecure(ctx)
	}
	if err := c.await(ctx, "HDFS", startWithin, c.hdfsReady); err != nil {
		return nil, err
	}
	for _, dir := range []string{"/tmp", "/user/" + cfg.User} {
		if err := c.mkdir(ctx, dir); err != nil {
			return nil, err
		}
	}
	if cfg.Nodes == 0 {
		return c, nil
	}
	if err := c.StartDaemon(JobHistoryServer); err != nil {
		return nil, err
	}
	if err := c.await(ctx, "YARN", startWithin, c.yarnReady); err != nil {
		return nil, err
	}
	return c, c.await(ctx, "the job history", startWithin, c.historyReady)
}

// Stop ends all processes, NodeManagers and their containers first.
func (c *Cluster) Stop() error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	stop := func(name string) {
		wait.Go(func() {
			err := c.StopDaemon(name)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	for k := range c.cfg.Nodes {
		stop(NodeManager + strconv.Itoa(k+1))
	}
	wait.Wait()
	for _, name := range []string{ResourceManager, JobHistoryServer, ZooKeeper, DataNode, NameNode} {
		stop(name)
	}
	wait.Wait()
	if c.hold != nil {
		errs = append(errs, c.hold.Close())
		c.hold = nil
	}
	return errors.Join(errs...)
}

// ConfDir returns the value of HADOOP_CONF_DIR for clients.
func (c *Cluster) ConfDir() string { return c.conf() }

// BinDir returns the folder of Hadoop's commands: hadoop, hdfs, mapred, yarn.
func (c *Cluster) BinDir() string { return filepath.Join(c.cfg.Dir, "bin") }

// Dir returns the folder of the cluster's files.
func (c *Cluster) Dir() string { return c.cfg.Dir }

// HDFS returns the address of the file system: hdfs://localhost:PORT.
func (c *Cluster) HDFS() string { return "hdfs://" + c.at("localhost", nameRPC) }

// WebHDFS returns the HTTP address of the NameNode: http://127.0.0.1:PORT.
func (c *Cluster) WebHDFS() string { return "http://" + c.at("127.0.0.1", nameHTTP) }

// SecureWebHDFS returns the address of WebHDFS with TLS, of a cluster with Kerberos: swebhdfs://localhost:PORT.
func (c *Cluster) SecureWebHDFS() string { return "swebhdfs://" + c.at("localhost", nameHTTPS) }

// SparePort returns an unused port below the ephemeral range. Each number has its own port;
// they repeat after nineteen.
func (c *Cluster) SparePort(number int) int {
	return c.cfg.Port + sparePorts + number%(blockOfPorts-sparePorts-1)
}

// Jars returns the folder that Fetch has made.
func (c *Cluster) Jars() string { return c.cfg.Jars }

// ClassPath returns the class path of Hadoop's clients.
func (c *Cluster) ClassPath() string { return c.classPath(":") }

// Env returns the environment for Hadoop's commands and clients.
func (c *Cluster) Env() []string {
	path := c.BinDir() + string(os.PathListSeparator) + filepath.Join(c.cfg.Java, "bin")
	for _, kv := range new(exec.Cmd).Environ() {
		if len(kv) > 5 && kv[:5] == "PATH=" {
			path += string(os.PathListSeparator) + kv[5:]
		}
	}
	return []string{"PATH=" + path, "HADOOP_CONF_DIR=" + c.conf(), "JAVA_HOME=" + c.cfg.Java}
}

// Command returns a command of Hadoop: hadoop, hdfs, mapred or yarn.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.BinDir(), name), args...)
	cmd.Env = append(cmd.Environ(), c.Env()...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// jpms holds the options that Hadoop's own scripts add since Java 17.
var jpms = func() (all []string) {
	for _, p := range []string{"io", "lang", "lang.reflect", "math", "net", "text", "util", "util.concurrent", "util.zip"} {
		all = append(all, "--add-opens=java.base/java."+p+"=ALL-UNNAMED")
	}
	for _, p := range []string{"util", "x509"} {
		all = append(all, "--add-opens=java.base/sun.security."+p+"=ALL-UNNAMED")
	}
	return append(all, "--add-exports=java.base/sun.net.dns=ALL-UNNAMED", "--add-exports=java.base/sun.net.util=ALL-UNNAMED")
}()

// options returns the options of every JVM, chosen for a fast start.
func (c *Cluster) options(heap string) []string {
	var login []string
	if c.cfg.Kerberos != nil {
		login = []string{"-Djava.security.krb5.conf=" + c.cfg.Kerberos.Conf}
	}
	return slices.Concat(login, []string{
		"-Xmx" + heap, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:+IgnoreUnrecognizedVMOptions",
		"-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir=" + filepath.Join(c.cfg.Dir, "tmp"),
	}, jpms)
}

func (c *Cluster) java(ctx context.Context, heap, class string, args ...string) *exec.Cmd {
	all := slices.Concat(c.options(heap), []string{"-cp", c.classPath(":"), class}, args)
	cmd := exec.CommandContext(ctx, filepath.Join(c.cfg.Java, "bin", "java"), all...)
	cmd.Dir = c.cfg.Dir // in another folder HttpServer2 may find a source tree and use it
	cmd.Env = append(cmd.Environ(), "JAVA_HOME="+c.cfg.Java, "HADOOP_CONF_DIR="+c.conf())
	return cmd
}
