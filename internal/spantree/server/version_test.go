// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// aged returns the encoding of a frame in another version of the protocol.
func aged(t *testing.T, version byte, f protocol.Frame) []byte {
	t.Helper()
	b, err := protocol.AppendFrame(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	b[5] = version
	switch t := protocol.TypeOf(f); {
	case !t.Checked():
	case version < protocol.ChecksumSince:
		b = b[:len(b)-protocol.ChecksumSize]
		binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	default:
		end := len(b) - protocol.ChecksumSize
		binary.LittleEndian.PutUint32(b[end:], protocol.Checksum(t, version, b[protocol.FrameHeader:end]))
	}
	return b
}

// The server refuses a rank of another version. The reason names both versions.
func TestServerRefusesOtherVersions(t *testing.T) {
	r := serveTCP(t, ServerConfig{Version: "gvw 2.0"})
	for _, version := range []byte{protocol.ProtocolVersion - 1, protocol.ProtocolVersion + 1} {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		join := aged(t, version, &protocol.JoinFrame{UniqueID: 1, Rank: 3, Total: 4, Version: "gvw 1.0"})
		if _, err := c.Write(append(protocol.AppendHello(nil), join...)); err != nil {
			t.Fatal(err)
		}
		frames := &protocol.FrameReader{R: c, Limit: protocol.MaxPayload}
		var no *protocol.RefusedFrame
		for no == nil {
			f, err := frames.Next()
			if err != nil {
				t.Fatal(err)
			}
			no, _ = f.(*protocol.RefusedFrame)
		}
		want := fmt.Sprintf("rank 3 speaks version %d of the protocol (gvw 1.0), this server version %d of the protocol (gvw 2.0)", version, protocol.ProtocolVersion)
		if no.Code != protocol.VersionDiffers || !strings.Contains(no.Reason, want) {
			t.Errorf("got %v, %q; want %v and %q", no.Code, no.Reason, protocol.VersionDiffers, want)
		}
		r.logged(want)
	}
}

// A rank refuses a server of another version, and does not try again.
func TestRankRefusesOtherVersions(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return // the test is over
		}
		defer c.Close()
		_, _ = c.Write(aged(t, protocol.ProtocolVersion+1, &protocol.WelcomeFrame{Version: "gvw 3.0"}))
		_, _ = io.Copy(io.Discard, c)
	}()
	_, err = client.Join(t.Context(), client.JoinConfig{Server: l.Addr().String(), Total: 2})
	want := fmt.Sprintf("it speaks version %d of the protocol (gvw 3.0), this program version %d", protocol.ProtocolVersion+1, protocol.ProtocolVersion)
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.VersionDiffers || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %v and %q", err, protocol.VersionDiffers, want)
	}
}
