// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/serve/engine"
	"github.com/gvw-project/gvw/learn"
)

// serve starts a server of a model that predicts 0 for every example, and returns its address.
// Functions of change see the configuration of the engine before it starts.
func serve(t testing.TB, cfg Config, model learn.Config, change ...func(*engine.Config)) (addr string, s *Server) {
	t.Helper()
	model.Features.Bits = 8
	ec := engine.Config{Load: func(ctx context.Context) (*learn.Live, error) { return learn.Open(ctx, model) }}
	for _, f := range change {
		f(&ec)
	}
	e, err := engine.New(t.Context(), ec)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Engine = e
	if s, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, e.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), s
}

var testing0 = learn.Config{TestOnly: true}

// dial connects a client, whose reads and writes must not take long.
func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return nc.(*net.TCPConn)
}

// talk sends the pieces, ends the sending direction, and returns all answers.
func talk(t testing.TB, addr string, pieces ...string) string {
	t.Helper()
	nc := dial(t, addr)
	for _, p := range pieces {
		if _, err := io.WriteString(nc, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The protocol is vw's, however its bytes are divided. tests/daemon_test.go compares it with the
// real vw.
func TestProtocol(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, Config{Limits: engine.Limits{MaxLine: 100}}, testing0)
	long := "|a " + strings.Repeat("x", 100)
	for _, c := range []struct {
		name string
		send []string
		want string
	}{
		{"line", []string{"|a x\n"}, "0\n"},
		{"tags", []string{"'one|a x\n1 two|a x\n"}, "0 one\n0 two\n"},
		{"no line feed at the end", []string{"'one|a x\n'two|a x"}, "0 one\n0 two\n"},
		{"empty lines", []string{"\n\r\n", "|a x\n\n"}, "0\n"},
		{"carriage return", []string{"'one|a x\r\n"}, "0 one\n"},
		{"pieces", []string{"'on", "e|a", " x\n't", "wo|\n"}, "0 one\n0 two\n"},
		{"binary", []string{"\x00abc\n|a x\n"}, "error: this is vw's binary format: send text, one example a line\n"},
		{"HTTP", []string{"POST /a|b%20 HTTP/1.1\r\nHost: a\r\n\r\n|a x\n"}, "error: this is HTTP: use gvw serve\n"},
		{"HTTP in pieces", []string{"GE", "T / HTTP/1.0"}, "error: this is HTTP: use gvw serve\n"},
		{"TLS", []string{"\x16\x03\x01\n|a x\n"}, "error: this is TLS: use gvw serve\n"},
		{"features of HTTP", []string{"|a GET / HTTP/1.1\n1 'GET|a /index HTTP/1.1\nGET|a / HTTP/1.0\n"}, "0\n0 GET\n0 GET\n"},
		{"long", []string{"|a x\n" + long + "\n|a x\n"}, "0\nerror: the line is longer than 100 bytes\n"},
		{"long in pieces", []string{"|a x\n" + long[:60], long[60:] + long}, "0\nerror: the line is longer than 100 bytes\n"},
		{"file", []string{"save_/x|\n|a x\n"}, "error: cannot save the model: this server saves no models\n0\n"}, // not that it is no relative name
		{"fault", []string{"save_x|\n|a x\n"}, "error: cannot save the model: this server saves no models\n0\n"},
		{"nothing", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, talk(t, addr, c.send...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A web page that makes a browser on this machine send a request cannot save a model.
func TestWebPageSavesNothing(t *testing.T) {
	t.Parallel()
	var saved atomic.Int32
	addr, _ := serve(t, Config{}, learn.Config{}, func(c *engine.Config) {
		c.Save = func(context.Context, string, func(io.Writer) error) error {
			saved.Add(1)
			return nil
		}
	})
	request := "POST / HTTP/1.1\r\nHost: 127.0.0.1:26542\r\nOrigin: https://other.example\r\nContent-Length: 12\r\n\r\n'save_/a/b|\n"
	if diff := cmp.Diff("error: this is HTTP: use gvw serve\n", talk(t, addr, request)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := saved.Load(); n != 0 {
		t.Errorf("%d models were saved", n)
	}
	if got := talk(t, addr, "'save_/a/b|\n"); got != "" || saved.Load() != 1 {
		t.Errorf("a client of the protocol: got %q and %d models, want one", got, saved.Load())
	}
}

// Answers come in the order of the lines on each of many connections, in batches and one by one.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, Config{}, learn.Config{})
	var wg sync.WaitGroup
	for c := range 20 {
		wg.Go(func() {
			var send strings.Builder
			for i := range 500 {
				fmt.Fprintf(&send, "'c%d-%d|a x\n", c, i) // no label: nothing is learned
			}
			got := talk(t, addr, send.String())
			want := strings.ReplaceAll(strings.ReplaceAll(send.String(), "'", "0 "), "|a x", "")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("connection %d (-want +got):\n%s", c, diff)
			}
		})
	}
	wg.Wait()
}

// A client that does not read, or does not end its line, is disconnected with a message in the log. It
// harms no other client.
func TestSlowClientsAreDropped(t *testing.T) {
	t.Parallel()
	var log logBuffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	lines1, s := serve(t, Config{Limits: engine.Limits{LineTimeout: 2 * time.Second}, Log: logger}, testing0)
	addr, _ := serve(t, Config{Limits: engine.Limits{WriteTimeout: 2 * time.Second}, Log: logger}, testing0)
	part, reads := dial(t, lines1), dial(t, addr)
	if _, err := io.WriteString(part, "|a x"); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Repeat([]byte("'"+strings.Repeat("t", 1000)+"|\n"), 1000)
	for { // until the buffers of the system are full and the server has given up
		if _, err := reads.Write(lines); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("a client that reads nothing is still connected")
			}
			break
		}
	}
	if _, err := io.Copy(io.Discard, part); err != nil {
		t.Fatal(err)
	}
	if got := talk(t, addr, "|a x\n"); got != "0\n" {
		t.Errorf("another client: %q", got)
	}
	if n := conns(s); n > 0 { // the end that was read above comes after the removal
		t.Errorf("%d connections are left after all have ended", n)
	}
	for _, want := range []string{"4 bytes of a line have arrived, and not the rest", "has not read its answers"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is missing in the log:\n%s", want, log.String())
		}
	}
}

// logBuffer is a buffer for several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Of more than MaxConns connections the newest are closed, until others leave.
func TestMaxConns(t *testing.T) {
	t.Parallel()
	addr, s := serve(t, Config{MaxConns: 2}, testing0)
	first := dial(t, addr)
	for _, nc := range []net.Conn{first, dial(t, addr)} {
		if _, err := io.WriteString(nc, "|a x\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(nc, make([]byte, len("0\n"))); err != nil { // the server has it
			t.Fatal(err)
		}
	}
	if b, err := io.ReadAll(dial(t, addr)); len(b) > 0 || err != nil {
		t.Errorf("a third connection: %q, %v", b, err)
	}
	if err := first.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, first); err != nil { // until the server has closed it
		t.Fatal(err)
	}
	if n := conns(s); n != 1 {
		t.Errorf("%d connections after one of two has left, want 1", n)
	}
	if got := talk(t, addr, "|a x\n"); got != "0\n" {
		t.Errorf("after one has left: %q", got)
	}
}

// Only clients of this machine may name any file of save_NAME.
func TestOnThisMachine(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true},
		{&net.TCPAddr{IP: net.IPv6loopback}, true},
		{&net.UnixAddr{Name: "socket", Net: "unix"}, true},
		{&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false},
		{&net.TCPAddr{}, false},
		{nil, false},
	} {
		if got := onThisMachine(remote{addr: c.addr}); got != c.want {
			t.Errorf("%v: %v, want %v", c.addr, got, c.want)
		}
	}
}

// remote is a connection from an address.
type remote struct {
	net.Conn
	addr net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.addr }

// JSON lines are answered, and a line of another format is an error.
func TestJSONLines(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, Config{Kind: engine.JSON}, testing0)
	got := talk(t, addr, `{"_tag":"one","a":{"x":1}}`+"\n|a x\n"+`{"a":{"x":1}}`)
	if lines := strings.Split(got, "\n"); len(lines) != 4 || lines[0] != "0 one" || !strings.HasPrefix(lines[1], "error: ") || lines[2] != "0" {
		t.Errorf("got %q", got)
	}
}

// docs/serving.md has the limits.
func TestLimitsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{}.withDefaults()
	connections := fmt.Sprintf("%d,%03d", c.MaxConns/1000, c.MaxConns%1000)
	for _, row := range []string{
		fmt.Sprintf("| longest line | %d MiB (", c.Limits.MaxLine>>20),
		fmt.Sprintf("| connections | %s; further ones are closed |", connections),
		fmt.Sprintf("| time for the rest of a line | %.0f s from its first byte |", c.Limits.LineTimeout.Seconds()),
		fmt.Sprintf("| time for the next line of a body | %.0f s |", c.Limits.LineTimeout.Seconds()),
		fmt.Sprintf("| time for a client to read its answers | %.0f s |", c.Limits.WriteTimeout.Seconds()),
	} {
		if !bytes.Contains(page, []byte(row)) {
			t.Errorf("%q is missing in docs/serving.md", row)
		}
	}
}

// Validate reports all faults.
func TestConfigFaults(t *testing.T) {
	c := Config{Limits: engine.Limits{MaxLine: -1, LineTimeout: -1, WriteTimeout: -1}, MaxConns: -1}
	err := c.Validate()
	for _, want := range []string{"Engine", "Limits.MaxLine", "MaxConns", "Limits.LineTimeout", "Limits.WriteTimeout"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+want) {
			t.Errorf("%s is missing in %v", want, err)
		}
	}
}

// Whatever bytes a client sends, the answers are lines, and another client is served.
func FuzzConnection(f *testing.F) {
	for _, s := range []string{"|a x\n", "\x00\x00", "1 |a x:1:2\n\n'save_x|\n", "'t|a", strings.Repeat("x", 300), "GET / HTTP/1.1\r\n\r\n'save_x|\n", "\x16\x03\x01"} {
		f.Add([]byte(s), 3)
	}
	addr, _ := serve(f, Config{Limits: engine.Limits{MaxLine: 200}}, testing0)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		nc := dial(t, addr)
		_, err1 := nc.Write(b[:cut])
		_, err2 := nc.Write(b[cut:])
		_ = errors.Join(err1, err2, nc.CloseWrite()) // the server may have closed the connection
		got, err := io.ReadAll(nc)
		if err == nil && len(got) > 0 && got[len(got)-1] != '\n' {
			t.Errorf("%q is no line", got)
		}
		if got := talk(t, addr, "'other|a x\n"); got != "0 other\n" {
			t.Errorf("another client: %q", got)
		}
	})
}

// conns returns the number of connections of a server.
func conns(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
