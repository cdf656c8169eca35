// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package verbs

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// TestFigures measures messages of several sizes from one device of the guest to the other, each
// end in a process of its own, and prints the medians of three rounds, in which the systems
// take turns: a stream that copies, one that sends registered memory, TCP, and perftest. They
// show what is put on top of a device, never the speed of one: Soft-RoCE is slower than TCP by
// nature.
func TestFigures(t *testing.T) {
	inGuest(t)
	if os.Getenv("GVW_RDMA_BENCH") == "" {
		t.Skip("GVW_RDMA_BENCH=1 asks for it")
	}
	const copied, direct = "stream", "stream, registered"
	rates := []system{
		{copied, func(size, times int) (string, float64, error) { return streamRate(t, size, times, false) }},
		{direct, func(size, times int) (string, float64, error) { return streamRate(t, size, times, true) }},
		{"tcp", tcpRate},
		{"ib_write_bw", func(size, times int) (string, float64, error) { return perftestRate("ib_write_bw", size, times) }},
		{"ib_send_bw -e", func(size, times int) (string, float64, error) { return perftestRate("ib_send_bw", size, times, "-e") }},
	}
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		got := turns(t, rates, size, max(2, min(1000, 16<<20/size)), "MB/s")
		for _, peer := range []string{"ib_write_bw", "ib_send_bw -e", "tcp"} {
			fmt.Printf("RATIO %d B, to %s: copied %.2f, registered %.2f\n", size, peer, got[copied]/got[peer], got[direct]/got[peer])
		}
	}
	got := turns(t, []system{
		{copied, func(size, times int) (string, float64, error) { return streamLatency(t, times) }},
		{"ib_send_lat -e", func(size, times int) (string, float64, error) {
			us, err := perftest("ib_send_lat", regexp.MustCompile(`(?m)^\s*8\s+\d+\s+\S+\s+\S+\s+(\S+)`), "-e", "-s", "8", "-n", strconv.Itoa(times))
			return "", us, err
		}},
		{"ib_send_lat", func(size, times int) (string, float64, error) {
			us, err := perftest("ib_send_lat", regexp.MustCompile(`(?m)^\s*8\s+\d+\s+\S+\s+\S+\s+(\S+)`), "-s", "8", "-n", strconv.Itoa(times))
			return "", us, err
		}},
	}, 8, 500, "us there and back, half, median")
	fmt.Printf("RATIO 8 B, ib_send_lat -e to copied: %.2f\n", got["ib_send_lat -e"]/got[copied])
}

// system is what is measured, and what it says besides.
type system struct {
	name    string
	measure func(size, times int) (more string, figure float64, err error)
}

// turns measures systems in turn, and prints and returns the median of each.
func turns(t *testing.T, systems []system, size, times int, unit string) map[string]float64 {
	all, more := map[string][]float64{}, map[string]string{}
	for range 3 {
		for _, s := range systems {
			told, f, err := s.measure(size, times)
			if err != nil {
				t.Errorf("%s, %d bytes: %v", s.name, size, err)
				continue
			}
			all[s.name], more[s.name] = append(all[s.name], f), told
		}
	}
	medians := map[string]float64{}
	for _, s := range systems {
		if f := all[s.name]; len(f) > 0 {
			slices.Sort(f)
			medians[s.name] = f[len(f)/2]
			fmt.Printf("FIGURE %s, %d B: %.1f %s (%.1f to %.1f)%s\n", s.name, size, f[len(f)/2], unit, f[0], f[len(f)-1], more[s.name])
		}
	}
	return medians
}

// rester waits as the poll loop of package allreduce does.
type rester struct {
	s       *Stream
	backoff transport.Backoff
	turns   int
	idle    time.Time
	slept   bool
	Polls   int
	Sleeps  int
}

func newRester(s *Stream) *rester {
	return &rester{s: s, backoff: transport.Backoff{Tries: 64, Spin: 100 * time.Microsecond}}
}

// moved begins anew, after some bytes.
func (r *rester) moved() {
	if r.slept {
		r.backoff.Slept(time.Since(r.idle))
	}
	r.turns, r.slept = 0, false
}

// rest follows a try in vain.
func (r *rester) rest(read, write bool) {
	r.Polls++
	r.turns++
	switch {
	case r.turns%4 != 1:
	case r.turns == 1:
		r.idle = time.Now()
	case r.slept || r.backoff.Over(r.turns, r.idle):
		if r.slept = true; r.s.Arm(read, write) {
			return
		}
		r.Sleeps++
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(r.s.FD()), Events: unix.POLLIN}}, 1000)
		r.s.Silence()
		return
	}
	transport.Yield()
}

// get reads n bytes, and put writes data.
func (r *rester) get(buf []byte, n int) error {
	for begun := time.Now(); n > 0; {
		k, err := r.s.Read(buf[:min(n, len(buf))])
		switch {
		case err == ErrAgain:
			if r.rest(true, false); r.Polls%1024 == 0 && time.Since(begun) > time.Minute {
				return fmt.Errorf("%d bytes have not come within a minute", n)
			}
		case err != nil:
			return err
		default:
			n -= k
			r.moved()
		}
	}
	return nil
}

func (r *rester) put(data []byte) error {
	for len(data) > 0 {
		k, err := r.s.Write(nil, data)
		switch {
		case err == ErrAgain:
			r.rest(false, true)
		case err != nil:
			return err
		default:
			data = data[k:]
			r.moved()
		}
	}
	return nil
}

// profile is what a process has used, and done.
func (r *rester) profile(since *syscall.Rusage) string {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	ms := func(a, b syscall.Timeval) float64 { return float64(a.Nano()-b.Nano()) / 1e6 }
	return fmt.Sprintf("%d posted, %d copied, %d polls in vain, %d sleeps, user %.0f ms, system %.0f ms",
		r.s.Posted, r.s.Bounced, r.Polls, r.Sleeps, ms(u.Utime, since.Utime), ms(u.Stime, since.Stime))
}

// withPeer connects a stream to one of another process, which does the other end's part of the
// measurement, and tells of it afterwards.
func withPeer(t *testing.T, what string, size, times int, measure func(r *rester) error) (told string, err error) {
	a, err := guestDomain(t, "10.77.0.1").NewStream()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFiguresPeer$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("VERBS_FIGURES_PEER=%x %s %d %d", a.Offer(), what, size, times))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var theirs []byte
	if _, err := fmt.Fscanf(out, "%x\n", &theirs); err != nil {
		return "", err
	}
	if err := a.Accept(theirs); err != nil {
		return "", err
	}
	time.Sleep(200 * time.Millisecond) // until both have nothing else to do
	r := newRester(a)
	var before syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	if err := measure(r); err != nil {
		return "", err
	}
	mine := r.profile(&before)
	rest, err := io.ReadAll(out)
	peer, _, _ := strings.Cut(string(rest), "\n")
	return "; this end " + mine + "; the other " + peer, errors.Join(err, cmd.Wait())
}

// TestFiguresPeer is the other end of TestFigures.
func TestFiguresPeer(t *testing.T) {
	var theirs []byte
	var what string
	var size, times int
	if _, err := fmt.Sscanf(os.Getenv("VERBS_FIGURES_PEER"), "%x %s %d %d", &theirs, &what, &size, &times); err != nil {
		t.Skip("this is a process of TestFigures")
	}
	s, err := guestDomain(t, "10.77.0.2").NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Accept(theirs); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%x\n", s.Offer())
	r := newRester(s)
	var before syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	switch buf := make([]byte, 256<<10); what {
	case "echo":
		for range times {
			if err := errors.Join(r.get(buf, 8), r.put(buf[:8])); err != nil {
				t.Fatal(err)
			}
		}
	default:
		if err := errors.Join(r.get(buf, size*times), r.put(buf[:1])); err != nil {
			t.Fatal(err)
		}
	}
	for !s.Flushed() {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(r.profile(&before))
}

// streamRate is how fast so many messages go, in MB/s, until a byte says that all have come.
func streamRate(t *testing.T, size, times int, registered bool) (told string, rate float64, err error) {
	t.Run("stream", func(t *testing.T) {
		told, err = withPeer(t, "rate", size, times, func(r *rester) error {
			data := make([]byte, size)
			if registered {
				if err := r.s.domain.Register(data); err != nil {
					return err
				}
				defer r.s.domain.Unregister(data)
			}
			begun := time.Now()
			for range times {
				if err := r.put(data); err != nil {
					return err
				}
			}
			err := r.get(make([]byte, 1), 1)
			defer func() {
				for !r.s.Flushed() { // nothing is sent from data any more
					transport.Yield()
				}
			}()
			rate = float64(size) * float64(times) / time.Since(begun).Seconds() / 1e6
			return err
		})
	})
	return told, rate, err
}

// streamLatency is half of the way of 8 bytes there and back, in microseconds: the median, which
// perftest calls typical.
func streamLatency(t *testing.T, times int) (told string, us float64, err error) {
	t.Run("echo", func(t *testing.T) {
		told, err = withPeer(t, "echo", 8, times, func(r *rester) error {
			each, buf := make([]float64, times), make([]byte, 8)
			for i := range each {
				begun := time.Now()
				if err := errors.Join(r.put(buf), r.get(buf, 8)); err != nil {
					return err
				}
				each[i] = float64(time.Since(begun).Nanoseconds()) / 2e3
			}
			slices.Sort(each)
			us = each[times/2]
			return nil
		})
	})
	return told, us, err
}

// tcpRate is streamRate over TCP, from one address of the guest to the other, in one process.
func tcpRate(size, times int) (told string, rate float64, err error) {
	l, err := net.Listen("tcp", "10.77.0.2:0")
	if err != nil {
		return "", 0, err
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
		return "", 0, err
	}
	defer c.Close()
	data, begun := make([]byte, size), time.Now()
	for range times {
		if _, err := c.Write(data); err != nil {
			return "", 0, err
		}
	}
	err = <-done
	return "", float64(size) * float64(times) / time.Since(begun).Seconds() / 1e6, err
}

func perftestRate(name string, size, times int, more ...string) (told string, rate float64, err error) {
	row := regexp.MustCompile(`(?m)^\s*` + strconv.Itoa(size) + `\s+\d+\s+\S+\s+(\S+)`)
	mib, err := perftest(name, row, append(more, "-s", strconv.Itoa(size), "-n", strconv.Itoa(max(5, times)))...)
	return "", mib * (1 << 20) / 1e6, err
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
