// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// vwServer implements the part of vw's own server that one job of three ranks needs, byte for
// byte and connection by connection. As vw does, it refuses an id at or above the total, by
// which gvw recognises vw's server.
func vwServer(l net.Listener, total uint64) error {
	var ranks []net.Conn
	for uint64(len(ranks)) < total {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		defer c.Close()
		var reg [24]byte
		if _, err := io.ReadFull(c, reg[:]); err != nil {
			return fmt.Errorf("nonce read failed: %w", err)
		}
		ok := uint32(0)
		if binary.LittleEndian.Uint64(reg[16:]) < binary.LittleEndian.Uint64(reg[8:]) {
			ok = 1
			ranks = append(ranks, c)
		}
		if err := binary.Write(c, binary.LittleEndian, ok); err != nil {
			return err
		}
	}
	// The in-order tree of three: 1 is the root, 0 and 2 are its children.
	for i, kids := range []uint16{0, 2, 0} {
		if err := binary.Write(ranks[i], binary.LittleEndian, kids); err != nil {
			return err
		}
	}
	var ports [3][2]byte
	for i, c := range ranks {
		if _, err := io.ReadFull(c, ports[i][:]); err != nil {
			return fmt.Errorf("port read failed: %w", err)
		}
	}
	for i, c := range ranks {
		parent := []byte{127, 0, 0, 1, ports[1][0], ports[1][1]}
		if i == 1 {
			parent = []byte{255, 255, 255, 255, 255, 255, 255, 255}
		}
		if _, err := c.Write(parent); err != nil {
			return err
		}
	}
	return nil
}

// TestVWServer lets gvw workers join vw's own server: they fall back to vw's protocol, stream
// and sequence of calls, and write the same model as with our server.
func TestVWServer(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
	dir := t.TempDir()
	parts := shards(t, dir, writeFile(t, filepath.Join(dir, "all.vw"), text), 3)
	options := strings.Fields("--passes 2 --loss_function logistic --holdout_off --predict_only_model")
	never := func(int) bool { return false }
	want := mixed(t, dir, startServer(t), 1, parts, nil, never, options)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- vwServer(l, 3) }()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	got := mixed(t, dir, port, 2, parts, nil, never, options)
	l.Close()
	if err := <-served; err != nil {
		t.Errorf("vw's server: %v", err)
	}
	for i := range got {
		compareModels(t, fmt.Sprintf("rank %d through vw's server", i), got[i], want[0])
	}
}
