// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipeFile is an output whose reader waits for each write.
type pipeFile struct{ *io.PipeWriter }

func (f pipeFile) Commit() error { return f.Close() }
func (f pipeFile) Abort() error  { return f.CloseWithError(io.ErrUnexpectedEOF) }

// TestAnAnswerWaitsForNoTimer writes examples one by one, each after the prediction of the one
// before. The clock of the bubble advances only when all goroutines wait for it, so an answer
// that waited for a timer would take time.
func TestAnAnswerWaitsForNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		questions, ask := io.Pipe()
		answers, out := io.Pipe()
		c := Config{
			Data: DataConfig{Inputs: []Input{{Name: "pipe", Open: func(context.Context) (io.ReadCloser, error) { return questions, nil }}}},
			Loss: LossConfig{Function: "logistic"},
			Output: OutputConfig{Predictions: "p", Create: func(string) (Output, error) {
				return pipeFile{out}, nil
			}},
		}
		done := make(chan error, 1)
		go func() {
			_, err := Run(t.Context(), c)
			out.Close()
			done <- err
		}()
		r, began := bufio.NewReader(answers), time.Now()
		for i := range 1000 {
			if _, err := fmt.Fprintf(ask, "%d 't%d | a%d b%d\n", i%2*2-1, i, i%7, i%3); err != nil {
				t.Fatal(err)
			}
			line, err := r.ReadString('\n')
			if want := fmt.Sprintf(" t%d\n", i); err != nil || !strings.HasSuffix(line, want) {
				t.Fatalf("example %d: got %q, %v, want an answer that ends with %q", i, line, err, want)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("1000 answers took %v of virtual time, want none", took)
		}
		if err := ask.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
