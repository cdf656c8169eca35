// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// wire is one direction of a connection, in memory.
type wire struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (w *wire) Read(b []byte) (int, error)  { return w.in.Read(b) }
func (w *wire) Write(b []byte) (int, error) { return w.out.Write(b) }

func exchange(t testing.TB) Exchange {
	t.Helper()
	return secretOf(t, goodSecret).Control().Exchange([]byte("a"), []byte("b"))
}

// records returns the sealed record of each text of a client.
func records(t testing.TB, x Exchange, texts ...string) [][]byte {
	t.Helper()
	w := new(wire)
	c := x.Seal(w, Client)
	var out [][]byte
	for _, text := range texts {
		w.out.Reset()
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		out = append(out, bytes.Clone(w.out.Bytes()))
	}
	return out
}

func read(x Exchange, b []byte) (string, error) {
	got, err := io.ReadAll(x.Seal(&wire{in: iotest.OneByteReader(bytes.NewReader(b))}, Server))
	return string(got), err
}

func TestSealedBytesArrive(t *testing.T) {
	x := exchange(t)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 3000)).Draw(t, "parts")
		if rapid.Bool().Draw(t, "long") {
			parts = append(parts, bytes.Repeat([]byte("0123456789"), 20_000)) // more than a record
		}
		w := new(wire)
		c := x.Seal(w, Client)
		for _, p := range parts {
			if _, err := c.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		w.in = &w.out
		got, err := io.ReadAll(x.Seal(w, Server))
		if want := bytes.Join(parts, nil); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, %v; want %d", len(got), err, len(want))
		}
	})
}

func TestEveryChangeIsDetected(t *testing.T) {
	x := exchange(t)
	r := records(t, x, "first", "second", "third")
	other := records(t, secretOf(t, goodSecret).Control().Exchange([]byte("a"), []byte("c")), "first", "second")
	server := new(wire)
	if _, err := x.Seal(server, Server).Write([]byte("first")); err != nil {
		t.Fatal(err)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		bytes []byte
		want  string // what is read before the end
	}{
		"one omitted":               {join(r[0], r[2]), "first"},
		"the first omitted":         {join(r[1], r[2]), ""},
		"one twice":                 {join(r[0], r[0]), "first"},
		"two exchanged":             {join(r[1], r[0]), ""},
		"of another conversation":   {join(r[0], other[1]), "first"},
		"all of another":            {join(other[0]), ""},
		"its own records":           {server.out.Bytes(), ""},
		"a length of nothing":       {join(make([]byte, sealHead)), ""},
		"a huge length":             {join(bytes.Repeat([]byte{255}, sealHead)), ""},
		"two made one":              {join(r[0][:4], r[0][4:20], r[0][20:24], r[1]), ""},
		"records in another record": {join(r[0], records(t, x, string(r[1]))[0]), "first"},
	} {
		got, err := read(x, c.bytes)
		if got != c.want || !errors.Is(err, ErrSeal) {
			t.Errorf("%s: read %q, %v; want %q and the broken seal", name, got, err, c.want)
		}
	}
	whole := join(r...)
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		if got, err := read(x, flipped); err == nil || len(got) > len("firstsecond") {
			t.Fatalf("byte %d flipped: read %q, %v", i, got, err)
		}
	}
	for i := 1; i < len(r[0]); i++ {
		if got, err := read(x, r[0][:i]); got != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d bytes of a record: read %q, %v", i, got, err)
		}
	}
}

// After a broken record nothing more is read, even if later records are valid.
func TestABrokenSealStaysBroken(t *testing.T) {
	x := exchange(t)
	r := records(t, x, "first", "second")
	bad := bytes.Clone(r[0])
	bad[sealHead] ^= 1
	c := x.Seal(&wire{in: bytes.NewReader(append(bad, r[1]...))}, Server)
	for range 3 {
		if n, err := c.Read(make([]byte, 10)); n != 0 || !errors.Is(err, ErrSeal) {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}
}

// A deadline within a record loses none of it.
func TestReadContinuesAfterADeadline(t *testing.T) {
	synctest.Test(t, readGoesOnAfterADeadline)
}

func readGoesOnAfterADeadline(t *testing.T) {
	x := exchange(t)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	r := records(t, x, "first")[0]
	c := x.Seal(far, Server)
	for _, part := range [][]byte{r[:7], r[7:22]} {
		sent := make(chan error, 1)
		go func() { _, err := near.Write(part); sent <- err }()
		// The pipe delivers the part at once or in pieces; then the deadline ends the wait.
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("half a record: %v", err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	go func() { _, _ = near.Write(r[22:]) }()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := c.Read(b); string(b[:n]) != "first" || err != nil {
		t.Fatalf("read %q, %v", b[:n], err)
	}
}

// FuzzSealed checks that reading arbitrary bytes yields only a prefix of what was written.
func FuzzSealed(f *testing.F) {
	x := exchange(f)
	texts := []string{"first", "second", "third"}
	r := records(f, x, texts...)
	f.Add(bytes.Join(r, nil))
	f.Add(append(bytes.Clone(r[0]), r[2]...))
	f.Add(make([]byte, 2*sealHead))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _ := io.ReadAll(x.Seal(&wire{in: bytes.NewReader(b)}, Server))
		for _, text := range texts {
			n := min(len(text), len(got))
			if string(got[:n]) != text[:n] {
				t.Fatalf("%q was never written", got)
			}
			got = got[n:]
		}
		if len(got) > 0 {
			t.Fatalf("%q was never written", got)
		}
	})
}
