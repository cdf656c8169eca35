// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// workers is how many processes train together.
const workers = 4

// jobLimit bounds one training or scoring run; a run that exceeds it hangs.
const jobLimit = 2 * time.Minute

// site holds the programs, the data, the server and the folder for results.
type site struct {
	bin, out    string
	train, test string
	talk        io.Writer

	port   string
	server *exec.Cmd
	log    *os.File
	jobs   int // jobs so far, from which each takes its own unique_id
}

// startServer starts spanning_tree on a free port of this machine.
func (s *site) startServer(ctx context.Context) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	var err error
	if s.port, err = freePort(); err != nil {
		return err
	}
	if s.log, err = os.Create(filepath.Join(s.out, "server.log")); err != nil {
		return err
	}
	s.server = exec.CommandContext(ctx, filepath.Join(s.bin, "spanning_tree"), "--nondaemon", "--bind", "127.0.0.1", "--port", s.port)
	s.server.Stdout, s.server.Stderr = s.log, s.log
	s.show(s.server, true)
	if err := s.server.Start(); err != nil {
		return fmt.Errorf("cannot start the server: %w (make build makes it)", errors.Join(err, s.log.Close()))
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			s.stopServer()
			return fmt.Errorf("the server does not answer on port %s: %w; see %s", s.port, err, s.log.Name())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stopServer ends the server and waits for it.
func (s *site) stopServer() {
	_ = s.server.Process.Kill()
	_ = s.server.Wait()
	_ = s.log.Close()
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// show prints a command as it would be typed.
func (s *site) show(cmd *exec.Cmd, background bool) {
	end := ""
	if background {
		end = " &"
	}
	fmt.Fprintf(s.talk, "$ %s%s\n", strings.Join(cmd.Args, " "), end)
}

// worker returns the command line of one rank of the next job.
func (s *site) worker(ctx context.Context, dir string, rank int, options []string) *exec.Cmd {
	args := slices.Concat([]string{
		"-d", s.train, "--shard", "bytes", "--cache_file", filepath.Join(s.out, fmt.Sprintf("cache.%d", rank)),
		"--span_server", "127.0.0.1", "--span_server_port", s.port,
		"--unique_id", strconv.Itoa(s.jobs), "--total", strconv.Itoa(workers), "--node", strconv.Itoa(rank),
		"-f", filepath.Join(dir, fmt.Sprintf("model.%d", rank)),
	}, common, options)
	return exec.CommandContext(ctx, filepath.Join(s.bin, "gvw"), args...)
}

// trainJob trains with four workers and leaves models and logs in the folder name.
func (s *site) trainJob(ctx context.Context, name string, options []string) error {
	ctx, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	dir := filepath.Join(s.out, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s.jobs++
	running := make([]*exec.Cmd, workers)
	logs := make([]bytes.Buffer, workers)
	var all error
	for rank := range running {
		cmd := s.worker(ctx, dir, rank, options)
		cmd.Stdout, cmd.Stderr = &logs[rank], &logs[rank]
		if err := cmd.Start(); err != nil {
			cancel() // ends the workers that wait for this one
			all = fmt.Errorf("cannot start rank %d: %w", rank, err)
			break
		}
		running[rank] = cmd
	}
	for rank, cmd := range running {
		if cmd == nil {
			continue
		}
		if err := cmd.Wait(); err != nil {
			all = errors.Join(all, fmt.Errorf("rank %d: %w: %s", rank, err, lastLine(logs[rank].Bytes())))
		}
		path := filepath.Join(dir, fmt.Sprintf("rank.%d.log", rank))
		all = errors.Join(all, os.WriteFile(path, logs[rank].Bytes(), 0o644))
	}
	return all
}

func lastLine(log []byte) string {
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(lines[len(lines)-1])
}

// trainTwice runs the same job twice and compares the models of all ranks.
func (s *site) trainTwice(ctx context.Context, options []string) error {
	for rank := range workers {
		s.jobs++
		s.show(s.worker(ctx, filepath.Join(s.out, "first"), rank, options), rank < workers-1)
		s.jobs--
	}
	var digests []string
	begun := time.Now()
	for _, name := range []string{"first", "second"} {
		if err := s.trainJob(ctx, name, options); err != nil {
			return err
		}
		for rank := range workers {
			b, err := os.ReadFile(filepath.Join(s.out, name, fmt.Sprintf("model.%d", rank)))
			if err != nil {
				return err
			}
			digests = append(digests, fmt.Sprintf("%x", sha256.Sum256(b)))
		}
	}
	for i, d := range digests {
		if d != digests[0] {
			return fmt.Errorf("the models differ: rank 0 of the first run has %s, rank %d of run %d has %s", digests[0], i%workers, i/workers+1, d)
		}
	}
	fmt.Fprintf(s.talk, "\n%d workers, same model bytes, twice: %d models with sha256 %s… (%.1f s)\n",
		workers, len(digests), digests[0][:16], time.Since(begun).Seconds())
	return nil
}

// score predicts the test file with a model and compares the predictions with the labels.
func (s *site) score(ctx context.Context, model, predictions string) (scores, error) {
	ctx, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "gvw"), "-t", "-d", s.test, "-i", model, "-p", predictions, "--quiet")
	if out, err := cmd.CombinedOutput(); err != nil {
		return scores{}, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, lastLine(out))
	}
	labels, err := readLabels(s.test)
	if err != nil {
		return scores{}, err
	}
	margins, err := readMargins(predictions)
	if err != nil {
		return scores{}, err
	}
	if len(labels) != len(margins) {
		return scores{}, fmt.Errorf("%s has %d lines, %s has %d", predictions, len(margins), s.test, len(labels))
	}
	return newScores(labels, margins), nil
}
