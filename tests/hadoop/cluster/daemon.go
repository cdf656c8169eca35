// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemon is a process of the cluster.
type daemon struct {
	name  string
	pid   int
	ended chan struct{} // closed when the process has ended
}

// StartDaemon starts a daemon that is not running.
func (c *Cluster) StartDaemon(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.daemons[name]; d != nil && d.alive() {
		return fmt.Errorf("cluster: the %s runs already", name)
	}
	heap, class, args, err := c.call(name)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(c.LogFile(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := c.java(context.Background(), heap, class, args...)
	cmd.Args = append([]string{cmd.Args[0], "-Dproc_" + name}, cmd.Args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = ofItsOwn()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cluster: cannot start the %s: %w", name, err)
	}
	d := &daemon{name: name, pid: cmd.Process.Pid, ended: make(chan struct{})}
	go func() { // StopDaemon waits for it
		defer close(d.ended)
		_ = cmd.Wait() // its log has the reason
	}()
	c.daemons[name] = d
	return os.WriteFile(c.pidFile(name), []byte(strconv.Itoa(d.pid)), 0o644)
}

// call returns the program of a daemon. Those of Hadoop accept generic options, so that one
// configuration serves all.
func (c *Cluster) call(name string) (heap, class string, args []string, err error) {
	switch name {
	case NameNode:
		return "256m", "org.apache.hadoop.hdfs.server.namenode.NameNode", nil, nil
	case DataNode:
		return "256m", "org.apache.hadoop.hdfs.server.datanode.DataNode", nil, nil
	case ResourceManager:
		return "300m", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager", nil, nil
	case ZooKeeper:
		return "64m", "org.apache.zookeeper.server.ZooKeeperServerMain", []string{filepath.Join(c.conf(), "zoo.cfg")}, nil
	case JobHistoryServer:
		return "200m", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer", nil, nil
	}
	number, found := strings.CutPrefix(name, NodeManager)
	k, err := strconv.Atoi(number)
	if !found || err != nil || k < 1 || k > c.cfg.Nodes {
		return "", "", nil, fmt.Errorf("cluster: no daemon is called %q", name)
	}
	own := filepath.Join(c.cfg.Dir, "nm"+number)
	for _, dir := range []string{"local", "log"} {
		if err := os.MkdirAll(filepath.Join(own, dir), 0o755); err != nil {
			return "", "", nil, err
		}
	}
	first := nodePorts + 10*(k-1)
	set := func(key, value string) { args = append(args, "-D", key+"="+value) }
	set("yarn.nodemanager.address", c.at("localhost", first))
	set("yarn.nodemanager.localizer.address", c.at("localhost", first+1))
	set("yarn.nodemanager.webapp.address", c.at("127.0.0.1", first+2))
	set("mapreduce.shuffle.port", strconv.Itoa(c.cfg.Port+first+3))
	set("yarn.nodemanager.collector-service.address", c.at("localhost", first+4))
	set("yarn.nodemanager.local-dirs", filepath.Join(own, "local"))
	set("yarn.nodemanager.log-dirs", filepath.Join(own, "log"))
	return "256m", "org.apache.hadoop.yarn.server.nodemanager.NodeManager", args, nil
}

// LogFile returns the path of a daemon's log.
func (c *Cluster) LogFile(name string) string { return filepath.Join(c.cfg.Dir, "logs", name+".out") }

func (c *Cluster) pidFile(name string) string { return filepath.Join(c.cfg.Dir, "pids", name) }

// Pid returns a daemon's process id; 0: it is not running.
func (c *Cluster) Pid(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.daemons[name]; d != nil && d.alive() {
		return d.pid
	}
	return 0
}

func (d *daemon) alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// Kill ends only the daemon, by SIGKILL; processes that it has started stay.
func (c *Cluster) Kill(name string) error {
	c.mu.Lock()
	d := c.daemons[name]
	c.mu.Unlock()
	if d == nil {
		return fmt.Errorf("cluster: no %s was started", name)
	}
	if err := signalPid(d.pid, syscall.SIGKILL); err != nil && d.alive() {
		return err
	}
	<-d.ended
	return nil
}

// StopDaemon ends a daemon, and a NodeManager's containers with it.
func (c *Cluster) StopDaemon(name string) error {
	c.mu.Lock()
	d := c.daemons[name]
	delete(c.daemons, name)
	c.mu.Unlock()
	if d == nil {
		return nil
	}
	err := c.end(d.pid, strings.HasPrefix(name, NodeManager))
	select {
	case <-d.ended:
	case <-time.After(10 * time.Second):
		err = errors.Join(err, fmt.Errorf("cluster: the %s (process %d) does not end", name, d.pid))
	}
	return errors.Join(err, os.Remove(c.pidFile(name)))
}

// end sends SIGTERM to a process, and SIGKILL if it does not end soon. A NodeManager that gets
// SIGTERM ends its containers and then waits half a minute without need, so it is killed when
// they have ended.
func (c *Cluster) end(pid int, containers bool) error {
	kids := descendants(pid)
	if err := signalPid(pid, syscall.SIGTERM); err != nil {
		return nil // it has ended
	}
	patience := 5 * time.Second
	if containers {
		patience = c.cfg.KillDelay + 5*time.Second
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && running(pid); time.Sleep(50 * time.Millisecond) {
		if containers && !anyRuns(kids) {
			break
		}
	}
	for _, p := range append(kids, append(descendants(pid), pid)...) {
		if p == pid || c.owns(p) {
			_ = signalPid(p, syscall.SIGKILL) // it may have ended
		}
	}
	return nil
}

func anyRuns(pids []int) bool {
	for _, p := range pids {
		if running(p) {
			return true
		}
	}
	return false
}

// endLeftOver ends the daemons of a cluster of the same Dir whose starter was killed.
func (c *Cluster) endLeftOver() error {
	files, err := filepath.Glob(filepath.Join(c.cfg.Dir, "pids", "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && c.owns(pid) {
			if err := c.end(pid, strings.HasPrefix(filepath.Base(file), NodeManager)); err != nil {
				return err
			}
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// died names a daemon that has ended by itself, with the end of its log.
func (c *Cluster) died() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, d := range c.daemons {
		if !d.alive() {
			text, _ := os.ReadFile(c.LogFile(name)) // without it the error has only the name
			return fmt.Errorf("cluster: the %s has ended:\n%s", name, text[max(0, len(text)-3000):])
		}
	}
	return nil
}
