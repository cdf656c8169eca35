// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestFigures measures messages of several sizes from one device of the guest to the other, and
// prints the medians of three rounds, in which the systems take turns: a stream that copies, one
// that sends registered memory, TCP, and ib_write_bw and ib_send_lat of perftest. They
// show what is put on top of a device, never the speed of one: Soft-RoCE is slower than TCP by
// nature.
func TestFigures(t *testing.T) {
	inGuest(t)
	if os.Getenv("GVW_RDMA_BENCH") == "" {
		t.Skip("GVW_RDMA_BENCH=1 asks for it")
	}
	systems := []struct {
		name string
		rate func(size, times int) (float64, error)
	}{
		{"stream", func(size, times int) (float64, error) { return streamRate(t, size, times, false) }},
		{"stream, registered", func(size, times int) (float64, error) { return streamRate(t, size, times, true) }},
		{"tcp", tcpRate},
		{"ib_write_bw", perftestRate},
	}
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		times := max(2, min(2000, 16<<20/size))
		got := map[string][]float64{}
		for range 3 {
			for _, s := range systems {
				r, err := s.rate(size, times)
				if err != nil {
					t.Errorf("%s, %d bytes: %v", s.name, size, err)
					continue
				}
				got[s.name] = append(got[s.name], r)
			}
		}
		for _, s := range systems {
			if rates := got[s.name]; len(rates) > 0 {
				slices.Sort(rates)
				fmt.Printf("FIGURE %s, %d B: %.1f MB/s (%.1f to %.1f)\n", s.name, size, rates[len(rates)/2], rates[0], rates[len(rates)-1])
			}
		}
	}
	if us, err := streamLatency(t); err != nil {
		t.Error(err)
	} else {
		fmt.Printf("FIGURE stream, 8 B there and back, half: %.1f us\n", us)
	}
	if us, err := perftest("ib_send_lat", regexp.MustCompile(`(?m)^\s*8\s+\d+\s+\S+\s+\S+\s+(\S+)`), "-s", "8", "-n", "500"); err != nil {
		t.Error(err)
	} else {
		fmt.Printf("FIGURE ib_send_lat, 8 B, typical: %.1f us\n", us)
	}
}

// streamRate is how fast so many messages go, in MB/s.
func streamRate(t *testing.T, size, times int, registered bool) (rate float64, err error) {
	t.Run("stream", func(t *testing.T) {
		a, b := guestPair(t)
		data := make([]byte, size)
		if registered {
			if err = a.domain.Register(data); err != nil {
				return
			}
			defer func() { err = a.domain.Unregister(data) }()
		}
		total, done := size*times, make(chan error, 1)
		go func() { done <- drain(b, make([]byte, 256<<10), total) }()
		begun := time.Now()
		for sent := 0; sent < total; {
			n, e := a.Write(nil, data[sent%size:])
			if e != nil && e != ErrAgain {
				err = e
				return
			}
			if sent += n; n == 0 {
				runtime.Gosched()
			}
		}
		if err = <-done; err == nil {
			rate = float64(total) / time.Since(begun).Seconds() / 1e6
		}
		for !a.Flushed() {
		}
	})
	return rate, err
}

// drain reads total bytes.
func drain(s *Stream, buf []byte, total int) error {
	for begun := time.Now(); total > 0; {
		n, err := s.Read(buf)
		if err != nil && err != ErrAgain {
			return err
		}
		if total -= n; n == 0 {
			if time.Since(begun) > time.Minute {
				return fmt.Errorf("%d bytes have not come within a minute", total)
			}
			runtime.Gosched()
		}
	}
	return nil
}

// streamLatency is half of the way of 8 bytes there and back, in microseconds.
func streamLatency(t *testing.T) (us float64, err error) {
	a, b := guestPair(t)
	const times = 500
	done := make(chan error, 1)
	buf := func() []byte { return make([]byte, 8) }
	go func() {
		mine := buf()
		for range times {
			if err := drain(b, mine, 8); err != nil {
				done <- err
				return
			}
			if _, err := b.Write(mine, nil); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	begun, mine := time.Now(), buf()
	for range times {
		if _, err := a.Write(mine, nil); err != nil {
			return 0, err
		}
		if err := drain(a, mine, 8); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(begun).Microseconds()) / times / 2, <-done
}

// tcpRate is streamRate over TCP, from one address of the guest to the other.
func tcpRate(size, times int) (float64, error) {
	l, err := net.Listen("tcp", "10.77.0.2:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.CopyN(io.Discard, c, int64(size)*int64(times))
			c.Close()
		}
		done <- err
	}()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(10, 77, 0, 1)}}).Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, err
	}
	defer c.Close()
	data, begun := make([]byte, size), time.Now()
	for range times {
		if _, err := c.Write(data); err != nil {
			return 0, err
		}
	}
	err = <-done
	return float64(size) * float64(times) / time.Since(begun).Seconds() / 1e6, err
}

func perftestRate(size, times int) (float64, error) {
	row := regexp.MustCompile(`(?m)^\s*` + strconv.Itoa(size) + `\s+\d+\s+\S+\s+(\S+)`)
	mib, err := perftest("ib_write_bw", row, "-s", strconv.Itoa(size), "-n", strconv.Itoa(max(5, times)))
	return mib * (1 << 20) / 1e6, err
}

// perftest runs a program of perftest at both ends, and finds its figure.
func perftest(name string, row *regexp.Regexp, args ...string) (float64, error) {
	args = append(args, "-x", "1", "-F")
	server := exec.Command("/t/"+name, append([]string{"-d", "rxe1"}, args...)...)
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	time.Sleep(time.Second) // until it listens
	out, err := exec.Command("/t/"+name, append(append([]string{"-d", "rxe0"}, args...), "10.77.0.2")...).CombinedOutput()
	m := row.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("%s: %v\n%s", name, err, out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
