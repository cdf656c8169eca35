// SPDX-License-Identifier: Apache-2.0

// Package webtest has what tests of files on web servers share: data, a reader, and a response
// that breaks off.
//
//	files.ServeHTTP(&webtest.CutBody{ResponseWriter: w, Left: 40}, r)
package webtest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
)

// CutBody is a response that ends the connection after Left bytes of the body.
type CutBody struct {
	http.ResponseWriter
	Left int
}

func (c *CutBody) Write(b []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(b[:min(len(b), c.Left)])
	if c.Left -= n; c.Left > 0 {
		return n, nil
	}
	control := http.NewResponseController(c.ResponseWriter)
	if err := control.Flush(); err != nil { // the client gets the bytes before the end
		return n, err
	}
	conn, _, err := control.Hijack()
	if err != nil {
		return n, err
	}
	return n, errors.Join(io.ErrClosedPipe, conn.Close())
}

// Lines returns n examples in vw's text.
func Lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d | a:%d b\n", i%2, i)
	}
	return b.String()
}

// Read returns the bytes of a file from offset on, and the error of opening or reading it.
func Read(t *testing.T, fsys hdfsio.FS, name string, offset int64) (string, error) {
	t.Helper()
	r, err := fsys.Open(t.Context(), name, offset)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}
