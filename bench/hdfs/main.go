// SPDX-License-Identifier: Apache-2.0

// Command hdfs measures how fast gvw reads a file from HDFS with each of its clients, beside
// hdfs dfs -cat in the same run:
//
//	go run ./bench/hdfs -file hdfs://HOST:PORT/tmp/gvw-bench -make 1024
//
// HADOOP_CONF_DIR names the cluster; hdfs has to be in PATH. Rounds are interleaved.
// The time to start Java is measured by hdfs dfs -stat and subtracted, because it is
// negligible in a job, which reads for longer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
)

func main() {
	file := flag.String("file", "", "the file to read, hdfs://HOST:PORT/PATH")
	megabytes := flag.Int("make", 0, "make it, of so many MiB, if it is not there")
	rounds := flag.Int("rounds", 5, "how often each reads it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *file, *megabytes, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "hdfs:", err)
		os.Exit(1)
	}
}

// reader reads the file once, to its end.
type reader struct {
	name  string
	read  func(ctx context.Context) (int64, error)
	takes []time.Duration
}

func bench(ctx context.Context, file string, megabytes, rounds int) error {
	ways, err := ours(file)
	if err != nil {
		return err
	}
	if err := ensure(ctx, ways[0].files, file, megabytes); err != nil {
		return err
	}
	info, err := ways[0].files.Stat(ctx, file)
	if err != nil {
		return err
	}
	start := &reader{name: "hdfs dfs -stat", read: func(ctx context.Context) (int64, error) {
		return info.Size, exec.CommandContext(ctx, "hdfs", "dfs", "-stat", file).Run()
	}}
	cat := &reader{name: "hdfs dfs -cat", read: func(ctx context.Context) (int64, error) { return catFile(ctx, file) }}
	all := []*reader{start, cat}
	for _, w := range ways {
		all = append(all, &reader{name: "gvw, " + w.name, read: func(ctx context.Context) (int64, error) { return readFile(ctx, w.files, file) }})
	}
	for range rounds {
		for _, r := range all {
			begun := time.Now()
			n, err := r.read(ctx)
			if err == nil && n != info.Size {
				err = fmt.Errorf("%d bytes came, want %d", n, info.Size)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.takes = append(r.takes, time.Since(begun))
		}
	}
	java := start.median()
	peer := cat.median() - java
	fmt.Printf("%s, %d MiB, medians of %d, %s; starting Java takes %.2f s, taken off\n\n", file, info.Size>>20, rounds, setup.Machine(), java.Seconds())
	fmt.Printf("%-16s %8s %8s %8s\n", "", "s", "MB/s", "ratio")
	for _, r := range all[1:] {
		took := r.median()
		switch {
		case r == cat:
			took -= java
		case strings.HasSuffix(r.name, "pipe"):
			took -= 2 * java // hdfs dfs -stat, the size request, starts Java too
		}
		fmt.Printf("%-16s %8.2f %8.0f %8.2f\n", r.name, took.Seconds(), float64(info.Size)/1e6/took.Seconds(), peer.Seconds()/took.Seconds())
	}
	return nil
}

func (r *reader) median() time.Duration {
	slices.Sort(r.takes)
	return r.takes[len(r.takes)/2]
}

// way is HDFS by one of our clients.
type way struct {
	name  string
	files *hdfsio.URLs
}

func ours(file string) ([]way, error) {
	if scheme, _, _, ok := hdfsio.SplitURL(file); !ok || scheme != "hdfs" {
		return nil, errors.New("-file: give hdfs://HOST:PORT/PATH")
	}
	conf, err := siteconf.Load(os.Getenv("HADOOP_CONF_DIR"), os.Getenv)
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	var all []way
	for _, client := range []string{"native", "webhdfs", "pipe"} {
		cfg := hdfs.Config{Client: client, Conf: conf, User: me.Username, Command: []string{"hdfs", "dfs"}, Host: "bench", Pid: os.Getpid()}
		all = append(all, way{client, &hdfsio.URLs{Dial: hdfs.Dialer(cfg)}})
	}
	return all, nil
}

// ensure writes the file if it is missing.
func ensure(ctx context.Context, files *hdfsio.URLs, file string, megabytes int) error {
	if _, err := files.Stat(ctx, file); err == nil || megabytes == 0 {
		return err
	}
	out, err := files.Create(ctx, file)
	if err != nil {
		return err
	}
	line := []byte("1 |a w1234:0.5 w99 w100 x77:1.25 |b some more words of an example\n")
	block := make([]byte, 0, 1<<20)
	for len(block)+len(line) <= 1<<20 {
		block = append(block, line...)
	}
	for range megabytes {
		if _, err := out.Write(block); err != nil {
			return errors.Join(err, out.Abort())
		}
	}
	return out.Commit()
}

// readFile reads the file a megabyte at a time, as a learner's parser does.
func readFile(ctx context.Context, files *hdfsio.URLs, file string) (int64, error) {
	r, err := files.Open(ctx, file, 0)
	if err != nil {
		return 0, err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 1<<20))
	return n, errors.Join(err, r.Close())
}

func catFile(ctx context.Context, file string) (int64, error) {
	cmd := exec.CommandContext(ctx, "hdfs", "dfs", "-cat", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 1<<20))
	return n, errors.Join(err, cmd.Wait())
}
