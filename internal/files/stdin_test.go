// SPDX-License-Identifier: Apache-2.0

//go:build unix

package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
)

// TestStdinEndsOnlyIfConfirmed writes stdin as a program does that confirms its end, and as one that is killed before.
func TestStdinEndsOnlyIfConfirmed(t *testing.T) {
	const text = "1 | a\n-1 | b\n"
	for _, confirms := range []bool{true, false} {
		p := &cli.Process{}
		stdin, data, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		mark, confirm, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fd, err := syscall.Dup(int(mark.Fd())) // the reader closes it
		if err := errors.Join(err, mark.Close()); err != nil {
			t.Fatal(err)
		}
		p.Stdin, p.Env = stdin, []string{fmt.Sprint("GVW_STDIN_END_FD=", fd)}
		inputs, err := New(p).Inputs(t.Context(), nil, []string{"-"}, "", hdfsio.Shard{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = data.WriteString(text) // which fits the buffer of the pipe
		if confirms {
			_, markErr := confirm.Write([]byte{1})
			err = errors.Join(err, markErr)
		}
		if err := errors.Join(err, data.Close(), confirm.Close()); err != nil {
			t.Fatal(err)
		}
		in, err := inputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if string(got) != text || confirms != (err == nil) || !confirms && !errors.Is(err, errCutOff) {
			t.Errorf("confirmed %v: got %q, %v", confirms, got, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}
