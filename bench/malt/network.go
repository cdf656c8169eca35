// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/malt"
)

// scatters is the number of updates of a measurement over TCP.
const scatters = 16

// over measures scatters to one rank over TCP, until they have arrived, beside a stream of bytes.
func over(ctx context.Context, size, rounds int) error {
	peer, name := socketPair, "socket pair"
	if path, err := exec.LookPath("iperf3"); err == nil {
		peer, name = func(ctx context.Context, _ int) (stream, error) { return iperf(ctx, path) }, "iperf3"
	}
	var ours, theirs, oursCPU, theirsCPU rates
	err := job(ctx, 2, malt.Config{NoSharedMemory: true}, func(g *malt.Group) error {
		v, err := vector(g, size/4, malt.Block)
		if err != nil {
			return err
		}
		for round := range rounds + 1 { // the first one warms up
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			begun, cpu := time.Now(), cost.ProcessTime()
			for range scatters {
				if g.Rank() != 0 {
					break
				}
				if err := v.Scatter(ctx); err != nil {
					return err
				}
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			if g.Rank() != 0 || round == 0 {
				continue
			}
			ours.add(scatters*size, time.Since(begun))
			oursCPU.add(scatters*size, cost.ProcessTime()-cpu)
			s, err := peer(ctx, scatters*size)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if s.rate > 0 { // on a busy machine iperf3 may report nothing
				theirs, theirsCPU = append(theirs, s.rate), append(theirsCPU, s.perCPU)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	row(fmt.Sprintf("scatter of %d MiB to a rank over TCP", size>>20), ours, theirs, name)
	row("the same, per second of processor time of both ends", oursCPU, theirsCPU, name)
	return nil
}

// stream is the speed of a peer: bytes per second, and per second of processor time of both ends.
type stream struct{ rate, perCPU float64 }

// iperf measures one stream of iperf3, for one second.
func iperf(ctx context.Context, path string) (stream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return stream{}, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return stream{}, err
	}
	s := exec.CommandContext(ctx, path, "-s", "-1", "-B", "127.0.0.1", "-p", port)
	if err := s.Start(); err != nil {
		return stream{}, err
	}
	defer func() {
		_ = s.Process.Kill() // with -1 it may still wait for the end of the test
		_ = s.Wait()
	}()
	out, err := exec.CommandContext(ctx, path, "-c", "127.0.0.1", "-p", port, "-t", "1", "-J").Output()
	for tries := 0; err != nil && tries < 20; tries++ { // the server may not listen yet
		time.Sleep(50 * time.Millisecond)
		out, err = exec.CommandContext(ctx, path, "-c", "127.0.0.1", "-p", port, "-t", "1", "-J").Output()
	}
	if err != nil {
		return stream{}, err
	}
	var report struct {
		End struct {
			Received struct {
				Bits float64 `json:"bits_per_second"`
			} `json:"sum_received"`
			CPU struct {
				Sender   float64 `json:"host_total"` // percent of a processor
				Receiver float64 `json:"remote_total"`
			} `json:"cpu_utilization_percent"`
		} `json:"end"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return stream{}, err
	}
	rate := report.End.Received.Bits / 8
	return stream{rate, rate / (report.End.CPU.Sender + report.End.CPU.Receiver) * 100}, nil
}

// socketPair measures a bare TCP connection.
func socketPair(ctx context.Context, size int) (stream, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return stream{}, err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return stream{}, err
	}
	in, err := l.Accept()
	if err != nil {
		return stream{}, errors.Join(err, out.Close())
	}
	defer in.Close()
	begun, cpu := time.Now(), cost.ProcessTime()
	var writer sync.WaitGroup
	var failed error
	writer.Go(func() {
		block := make([]byte, 256<<10)
		for sent := 0; sent < size && failed == nil; sent += len(block) {
			_, failed = out.Write(block)
		}
		failed = errors.Join(failed, out.Close())
	})
	block := make([]byte, 256<<10)
	for err == nil {
		_, err = in.Read(block)
	}
	writer.Wait()
	if err == io.EOF {
		err = nil
	}
	return stream{float64(size) / time.Since(begun).Seconds(), float64(size) / (cost.ProcessTime() - cpu).Seconds()}, errors.Join(err, failed)
}
