// SPDX-License-Identifier: Apache-2.0

// Descent is a program that uses package allreduce as others do: gvw run starts it, and
// it survives the loss of a rank. Each rank has the numbers RANK and 10; all of them find
// the mean of all numbers by gradient descent.
//
//	gvw run -n 3 -- descent [KILL_RANK KILL_STEP]
//
// With arguments the first attempt of that rank kills itself in the Work of that step.
package main

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gvw-project/gvw/allreduce"
)

const steps = 20

type state struct {
	Done int
	X    float64
}

type descent struct {
	numbers []float64
	state
	read    bool // the state came from another rank, so there are no results
	part    [2]float64
	sums    [2]float64
	records [][]byte
	worked  int
}

var _ allreduce.Recoverable = (*descent)(nil)

func (d *descent) Next() (string, bool) { return fmt.Sprintf("step %d", d.Done+1), d.Done < steps }

func (d *descent) Keep(bool) {}

func (d *descent) Work(ctx context.Context) error {
	killAt(d.Done + 1)
	d.worked++
	d.part = [2]float64{}
	for _, a := range d.numbers {
		d.part[0] += 2 * (d.X - a)
		d.part[1]++
	}
	return context.Cause(ctx)
}

func (d *descent) Exchange(ctx context.Context, g *allreduce.Group) (err error) {
	if err := g.AllReduceInto(ctx, allreduce.Vec(d.sums[:]), allreduce.Vec(d.part[:]), allreduce.Sum); err != nil {
		return err
	}
	d.records, err = g.AllGatherV(ctx, d.records, nil)
	return err
}

func (d *descent) Commit() error {
	d.X -= 0.25 * d.sums[0] / d.sums[1]
	d.Done++
	d.read = false
	return nil
}

func (d *descent) WriteState(w io.Writer) error { return gob.NewEncoder(w).Encode(d.state) }

func (d *descent) ReadState(r io.Reader) error {
	d.read = true
	return gob.NewDecoder(r).Decode(&d.state)
}

func (d *descent) WriteResults(w io.Writer) error {
	if d.read {
		return allreduce.ErrNoResults
	}
	return gob.NewEncoder(w).Encode(d.sums)
}

func (d *descent) ReadResults(r io.Reader) error { return gob.NewDecoder(r).Decode(&d.sums) }

// killAt kills this process where its arguments ask for it.
func killAt(step int) {
	attempt := os.Getenv("GVW_ATTEMPT")
	if len(os.Args) < 3 || os.Getenv("GVW_NODE") != os.Args[1] || fmt.Sprint(step) != os.Args[2] || attempt != "" && attempt != "1" {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		log.Fatal(err)
	}
	select {}
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	cfg, err := allreduce.ConfigFromEnv(os.LookupEnv)
	if err != nil {
		return err
	}
	if os.Getenv("GVW_ON_LOSS") == "" {
		cfg.OnLoss = allreduce.Wait // unless gvw run --on_loss decides
	}
	g, err := allreduce.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer g.Close()
	d := &descent{numbers: []float64{float64(cfg.Rank), 10}}
	if err := g.Run(ctx, d); err != nil {
		g.Fail(ctx, err)
		return err
	}
	fmt.Printf("rank %d of %d: x = %.12g, %d steps of work\n", cfg.Rank, cfg.Total, d.X, d.worked)
	return g.Done(ctx)
}
