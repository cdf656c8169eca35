// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// slowCluster is a name node that redirects to a data node, and that data node, on connections in
// memory. The data node confirms the request, reads slowly, and responds late.
type slowCluster struct {
	pause   time.Duration // before each chunk of data
	respond time.Duration // from the last chunk to the response
	got     int64         // bytes
}

// connect makes a connection to one of them.
func (s *slowCluster) connect(_ context.Context, _, address string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		req, err := http.ReadRequest(bufio.NewReader(far))
		if err != nil {
			return
		}
		if strings.HasPrefix(address, "name") {
			_, _ = io.WriteString(far, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://data:9864/f\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		_, _ = io.WriteString(far, "HTTP/1.1 100 Continue\r\n\r\n")
		for b := make([]byte, 32<<10); ; {
			time.Sleep(s.pause)
			n, err := io.ReadFull(req.Body, b)
			if s.got += int64(n); err != nil {
				break
			}
		}
		time.Sleep(s.respond)
		_, _ = io.WriteString(far, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}()
	return near, nil
}

// A write may take hours while data is accepted, and its response up to writeTimeout. Only a data
// node that does neither is lost.
func TestSlowWrites(t *testing.T) {
	const size = 100 * 32 << 10
	for _, c := range []struct {
		what           string
		pause, respond time.Duration
		lost           bool
	}{
		{"slow link", 50 * time.Second, 0, false},
		{"late response", 0, writeTimeout - 10*time.Second, false},
		{"both", 100 * time.Second, writeTimeout - 10*time.Second, false},
		{"no response", time.Second, time.Hour, true},
		{"no progress", time.Hour, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowCluster{pause: c.pause, respond: c.respond}
			w, err := New(Config{Nodes: []string{"name:9870"}, User: "ada", connect: s.connect})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err = w.Put("/f", io.LimitReader(zeros{}, size), 0o600)
			took := time.Since(began)
			if c.lost {
				if err == nil || !remote.Transient(err) || took > 3*writeTimeout {
					t.Errorf("%s: got %v after %v, want an error after which the write is tried again", c.what, err, took)
				}
			} else if err != nil || s.got != size {
				t.Errorf("%s: %d bytes of %d arrived, after %v: %v", c.what, s.got, size, took, err)
			}
			_ = w.Close()
			time.Sleep(200 * time.Hour) // the servers end
		})
	}
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
