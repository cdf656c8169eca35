// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce/topo"
)

func vwKids(n, rank int) int   { return topo.VW(n).Degree(rank) }
func vwParent(n, rank int) int { return topo.VW(n).Parent(rank) }

// packet is a packet of a dump, between a client and the server.
type packet struct {
	client     string // its port
	fromServer bool
	data       string // hex
}

// dump returns the recorded packets between vw workers and vw's own server.
func dump(t *testing.T) (packets []packet) {
	t.Helper()
	f, err := os.Open("testdata/three_workers_adaptive_b4.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// " 0.016829 26543->60492 F  len=2      00 00"
		words := strings.Fields(lines.Text())
		from, to, _ := strings.Cut(words[1], "->")
		_, data, _ := strings.Cut(lines.Text(), "len=")
		_, data, _ = strings.Cut(data, " ")
		p := packet{client: from, fromServer: from == "26543", data: strings.ReplaceAll(data, " ", "")}
		if p.fromServer {
			p.client = to
		}
		if (from == "26543" || to == "26543") && p.data != "" {
			packets = append(packets, p)
		}
	}
	return packets
}

// The server answers three recorded workers of vw with the same bytes as vw's
// own server. That server builds its tree by the order of arrival. In the
// recording this was the order of ranks, so both trees are equal.
func TestGoldenBytesOfThreeWorkers(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	clients := map[string]*peer{}
	read := 0
	for _, p := range dump(t) {
		c := clients[p.client]
		if c == nil {
			c = r.dial()
			clients[p.client] = c
		}
		if p.fromServer {
			c.reads(p.data)
			read += len(p.data) / 2
			continue
		}
		b, err := hex.DecodeString(p.data)
		if err != nil {
			t.Fatal(err)
		}
		c.write(b)
	}
	if len(clients) != 3 || read != 3*(4+2)+2*6+8 {
		t.Fatalf("the dump has %d clients and %d bytes from the server", len(clients), read)
	}
	for _, c := range clients {
		c.ends()
	}
}
