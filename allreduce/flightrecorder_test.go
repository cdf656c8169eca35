// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFlightRecorder: a rank whose peer stalls leaves a trace that can be read, names it
// in the log, and leaves nothing else.
func TestFlightRecorder(t *testing.T) {
	dir := t.TempDir()
	j := newTCPJob(t, 2, Config{TraceDir: dir})
	j.ready()
	j.limitWaits(500 * time.Millisecond)
	errs := j.all(func(rank int) error {
		if rank == 1 {
			for end := time.Now().Add(time.Minute); !strings.Contains(j.logs[0].String(), ".trace") && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			<-j.groups[1].epoch.Engine.Failed // else this rank may wait for MaxWait, and leave a trace too
		}
		return j.groups[rank].Barrier(ctx)
	})
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "MaxWait") {
		t.Fatalf("got %v, want that MaxWait was exceeded", errs[0])
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 || !strings.HasPrefix(filepath.Base(files[0]), "gvw-rank0-") || !strings.HasSuffix(files[0], "Z-1.trace") {
		t.Fatalf("got the files %q, %v, want one of rank 0", files, err)
	}
	if log := j.logs[0].String(); !strings.Contains(log, files[0]) {
		t.Errorf("the log does not name %s:\n%s", files[0], log)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// A trace for go tool trace has this header, and its table of stacks names this function.
	if !bytes.HasPrefix(b, []byte("go 1.")) || !bytes.Contains(b, []byte("TestFlightRecorder")) {
		t.Errorf("a trace of %d bytes begins with %q", len(b), b[:min(len(b), 16)])
	}
}

func TestTraceDirMustBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: "is no directory", file + "x": "no such file"} {
		_, err := Join(ctx, Config{Server: "127.0.0.1:1", Total: 2, TraceDir: dir})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "TraceDir") {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
}
