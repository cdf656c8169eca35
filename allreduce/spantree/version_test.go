// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// aged is a frame as another version of the protocol writes it.
func aged(t *testing.T, version byte, f frame) []byte {
	t.Helper()
	b, err := appendFrame(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	b[5] = version
	switch t := typeOf(f); {
	case !t.checked():
	case version < checksumSince:
		b = b[:len(b)-checksumSize]
		binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	default:
		end := len(b) - checksumSize
		binary.LittleEndian.PutUint32(b[end:], checksum(t, version, b[frameHeader:end]))
	}
	return b
}

// A rank of another version is refused by the server, in words that name both.
func TestServerRefusesOtherVersions(t *testing.T) {
	r := serveTCP(t, ServerConfig{Version: "gvw 2.0"})
	for _, version := range []byte{protocolVersion - 1, protocolVersion + 1} {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		join := aged(t, version, &joinFrame{UniqueID: 1, Rank: 3, Total: 4, Version: "gvw 1.0"})
		if _, err := c.Write(append(appendHello(nil), join...)); err != nil {
			t.Fatal(err)
		}
		frames := &frameReader{r: c, limit: bigFrame}
		var no *refusedFrame
		for no == nil {
			f, err := frames.next()
			if err != nil {
				t.Fatal(err)
			}
			no, _ = f.(*refusedFrame)
		}
		want := fmt.Sprintf("rank 3 speaks version %d of the protocol (gvw 1.0), this server version %d of the protocol (gvw 2.0)", version, protocolVersion)
		if no.Code != VersionDiffers || !strings.Contains(no.Reason, want) {
			t.Errorf("got %v, %q; want %v and %q", no.Code, no.Reason, VersionDiffers, want)
		}
		r.logged(want)
	}
}

// A rank does not join a server of another version, and does not try again.
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
		_, _ = c.Write(aged(t, protocolVersion+1, &welcomeFrame{Version: "gvw 3.0"}))
		_, _ = io.Copy(io.Discard, c)
	}()
	_, err = Join(t.Context(), JoinConfig{Server: l.Addr().String(), Total: 2})
	want := fmt.Sprintf("it speaks version %d of the protocol (gvw 3.0), this program version %d", protocolVersion+1, protocolVersion)
	if no := as[*RefusedError](t, err); no.Code != VersionDiffers || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %v and %q", err, VersionDiffers, want)
	}
}
