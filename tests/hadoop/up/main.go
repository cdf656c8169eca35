// SPDX-License-Identifier: Apache-2.0

// Command up starts a Hadoop for tests on this machine and keeps it until it is
// interrupted:
//
//	go run ./tests/hadoop/up -dir /tmp/hadoop [-nodes 2] [-node_mb 768] [-port 18000]
//
// It prints what to set in a shell in order to use it. With -nodes 0 it starts only HDFS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	cache, _ := os.UserCacheDir() // without a home directory the flag is required
	dir := flag.String("dir", "", "folder of the cluster's state (required)")
	jars := flag.String("cache", filepath.Join(cache, "gvw"), "folder of the jars")
	cfg := cluster.Config{Java: os.Getenv("JAVA_HOME")}
	flag.IntVar(&cfg.Nodes, "nodes", 2, "NodeManagers; 0: HDFS only")
	flag.IntVar(&cfg.NodeMB, "node_mb", 0, "memory of each in MB (default 768)")
	flag.IntVar(&cfg.Port, "port", 0, "first of 100 ports (default: a free block from 18000 on)")
	flag.DurationVar(&cfg.KillDelay, "kill_delay", 0, "time between SIGTERM and SIGKILL of a container (default 250ms)")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		return errors.New("usage: up -dir DIR [-nodes N] (-help says more)")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if cfg.Dir, err = filepath.Abs(*dir); err != nil {
		return err
	}
	if cfg.Java, err = cluster.FindJava(ctx, cfg.Java); err != nil {
		return err
	}
	if err := cluster.FindMaven(); err != nil {
		return err
	}
	if cfg.Jars, err = cluster.Fetch(ctx, *jars, cfg.Java); err != nil {
		return err
	}
	if u, err := user.Current(); err == nil {
		cfg.User = u.Username
	}
	began := time.Now()
	c, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	fmt.Fprintf(os.Stderr, "up after %.1f s; ^C ends it\n", time.Since(began).Seconds())
	for _, kv := range c.Env() {
		fmt.Printf("export %s\n", kv)
	}
	fmt.Printf("# %s, %s\n", c.HDFS(), c.WebHDFS())
	<-ctx.Done()
	return nil
}
