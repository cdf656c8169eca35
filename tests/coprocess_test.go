// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// coprocess is a gvw that answers each line of its input.
type coprocess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startCoprocess starts a coprocess. After the time limit the process is killed, and the answer
// is an error.
func startCoprocess(t *testing.T, dir string, args ...string) *coprocess {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	p := &coprocess{cmd: exec.CommandContext(ctx, gvwBin, args...)}
	p.cmd.Dir, p.cmd.Stderr = dir, os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// ask writes text and returns the line that answers it.
func (p *coprocess) ask(t *testing.T, w io.Writer, text string) string {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("no answer to %q: %v", text, err)
	}
	return line
}

// end closes stdin, and returns the rest of stdout.
func (p *coprocess) end(t *testing.T) string {
	t.Helper()
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return string(rest)
}

// pipedText returns n lines for which a model has predictions.
func pipedText(n int) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	lines := make([]string, n)
	for i := range lines {
		a := rng.IntN(9)
		lines[i] = fmt.Sprintf("%d 't%d |f a:%d b%d |g c%d:%.2f\n", a%2, i, a, rng.IntN(7), rng.IntN(11), rng.Float64())
	}
	return lines
}

// TestEachLineIsAnsweredBeforeTheNext writes a line and waits for the prediction
// before it writes the next one. Predictions and models are those of a file.
func TestEachLineIsAnsweredBeforeTheNext(t *testing.T) {
	t.Parallel()
	lines := pipedText(300)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "text.vw"), strings.Join(lines, ""))
	gvw(t, dir, "-d", "text.vw", "-f", "trained", "--quiet")
	for _, options := range []string{
		"-t -i trained -p /dev/stdout",
		"-p stdout",
		"-r stdout -q fg",
		"--audit",
		"-p stdout -k --cache_file CACHE --passes 3 --holdout_period 5",
		"-p stdout --oaa 2 --indexing 0 --loss_function logistic",
		"-p stdout --ftrl",
		"-p stdout -t -i trained GZIP",
		"-p stdout -f MODEL",
	} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			args := func(who string) []string {
				text := strings.NewReplacer("CACHE", who+filepath.Base(t.Name())+".cache", "MODEL", who+".model", " GZIP", "").Replace(options)
				return append(strings.Fields(text), "--quiet")
			}
			want := gvw(t, dir, append(args("file"), "-d", "text.vw")...).stdout
			p := startCoprocess(t, dir, args("pipe")...)
			var w io.Writer = p.in
			if strings.Contains(options, "GZIP") {
				z := gzip.NewWriter(p.in)
				defer z.Close()
				w = flushing{z}
			}
			answers := strings.Count(want, "\n") / len(lines)
			if strings.Contains(options, "--passes") {
				answers = 1 // of the first pass
			}
			var got strings.Builder
			for _, line := range lines {
				got.WriteString(p.ask(t, w, line))
				for range answers - 1 {
					got.WriteString(p.ask(t, w, ""))
				}
			}
			if z, ok := w.(flushing); ok {
				if err := z.Close(); err != nil {
					t.Fatal(err)
				}
			}
			got.WriteString(p.end(t))
			if got.String() != want {
				t.Errorf("other predictions than those of a file:\n%s", firstDifference(got.String(), want))
			}
			if strings.Contains(options, "MODEL") {
				if readFile(t, filepath.Join(dir, "pipe.model")) != readFile(t, filepath.Join(dir, "file.model")) {
					t.Error("another model than that of a file")
				}
			}
		})
	}
}

// flushing is a gzip stream that flushes after each write.
type flushing struct{ *gzip.Writer }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.Flush()
	}
	return n, err
}

// firstDifference returns the first line that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
