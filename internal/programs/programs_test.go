// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/datasets"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/learn"
)

// table has the commands of this package.
func table() *cli.Table {
	return cli.NewTable(&cli.FlagSet{At: "gvw", Specs: flags.Learn}, []*cli.Command{
		{Name: "svm", Run: SVM, Sets: []*cli.FlagSet{{At: "gvw svm", Specs: flags.SVM}}},
		{Name: "nn", Run: NN, Sets: []*cli.FlagSet{{At: "gvw nn", Specs: flags.NN}}},
		{Name: "factor", Run: Factor, Sets: []*cli.FlagSet{{At: "gvw factor", Specs: flags.Factor}}},
	})
}

// execute runs a command in this process, and returns what it writes to stderr.
func execute(ctx context.Context, args ...string) (string, error) {
	var out, diagnostics bytes.Buffer
	p := &cli.Process{Args: args, Stdin: os.Stdin, Stdout: &out, Stderr: &diagnostics, Exit: func(int) {}}
	c := table().Command(args[0])
	err := c.Run(ctx, p, c, args[1:])
	if end := p.End(); err == nil {
		err = end
	}
	return diagnostics.String(), err
}

// succeed is execute for a command that must succeed.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := execute(t.Context(), args...)
	if err != nil {
		t.Fatalf("gvw %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// hang is a time within which every job of a test ends.
const hang = 5 * time.Minute

// parallel runs a command as all ranks of a job, in this process.
func parallel(t *testing.T, total int, args ...string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.WithoutCancel(t.Context()), l) }()
	defer func() { s.Close(); <-served }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), hang, errors.New("the ranks hang"))
	defer cancel()
	outs, errs := make([]string, total), make([]error, total)
	var ranks sync.WaitGroup
	for rank := range total {
		ranks.Go(func() {
			outs[rank], errs[rank] = execute(ctx, append(slices.Clip(args), "--span_server", "127.0.0.1", "--span_server_port", port, "--unique_id", "1",
				"--total", strconv.Itoa(total), "--node", strconv.Itoa(rank), "--bind", "127.0.0.1")...)
		})
	}
	ranks.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d of gvw %s: %v\n%s", rank, strings.Join(args, " "), err, outs[rank])
		}
	}
}

// A fault slow:F at exchange stretches the learning between two exchanges of its rank.
func TestASlowRankLearnsSlowly(t *testing.T) {
	plan, err := fault.Parse("rank:1,exchange:3,slow:4")
	if err != nil {
		t.Fatal(err)
	}
	var sleeps, negative atomic.Int64
	fault.Arm(plan, fault.Life{}, fault.Hands{Sleep: func(d time.Duration) {
		sleeps.Add(1)
		if d < 0 {
			negative.Add(1)
		}
	}})
	defer fault.Arm(nil, fault.Life{}, fault.Hands{})
	const examples, passes, every = 100, 4, 10
	parallel(t, 2, "svm", "-d", written(t, linear(1, examples)...), "-b", "10", "--passes", fmt.Sprint(passes), "--cb_size", fmt.Sprint(every), "--malt", "all", "--sync", "bsp")
	// A rank has about half of the examples, and is slow between the exchanges from the third to the last one.
	if n := sleeps.Load(); n < examples/4*passes/every-3 || n > examples*passes/every-3 || negative.Load() > 0 {
		t.Errorf("the rank was slowed down %d times, %d times by less than 0", n, negative.Load())
	}
}

// dataSet returns the training and the test file of a data set beside the repository, or skips the test.
func dataSet(t *testing.T, set string) (train, test string) {
	t.Helper()
	sampled.NotInCheck(t, os.Getenv)
	return datasets.File(t, os.Getenv, set, "train.vw.gz"), datasets.File(t, os.Getenv, set, "test.vw.gz")
}

// measured tests a model, and returns a measure.
func measured(t *testing.T, name, command, model, test string) float64 {
	t.Helper()
	out := succeed(t, command, "-t", "-i", model, "-d", test)
	t.Log(strings.TrimSpace(out))
	m := regexp.MustCompile(name + ` ([-0-9.e]+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no %s in %q", name, out)
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// written writes lines to a file, and returns its name.
func written(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOptionsThatWouldBeIgnoredAreErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"svm -t -d x", "without -i"},
		{"svm -t -i m -f n -d x", "--final_regressor would be ignored"},
		{"svm -p p -d x", "--predictions would be ignored"},
		{"svm --span_server h --unique_id 1 --total 2 --node 0 --malt all --on_loss wait -d x", "--on_loss wait"},
		{"svm --span_server h --unique_id 1 --total 2 --node 0 --malt all --on_loss shrink -d x -f stdout", "--final_regressor stdout"},
		{"nn --span_server h --unique_id 1 --total 2 --node 0 --malt all --on_loss shrink -d x -f -", "--final_regressor -"},
		{"svm --malt all -d x", "--malt would be ignored"},
		{"svm --span_server h --unique_id 1 --total 2 --node 0 -d x", "--malt GRAPH"},
		{"svm --outer_rate 0.5 --malt_compress f16 -d x", "--outer_rate would be ignored"},
		{"svm --span_server h --unique_id 1 --total 2 --node 0 --malt all --outer_momentum 1 -d x", "Momentum: got 1"},
		{"svm --span_server h --unique_id 1 --total 2 --node 0 --malt all", "give -d FILE"},
	} {
		if _, err := execute(t.Context(), strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gvw %s: got %v, want %q", c.args, err, c.want)
		}
	}
}

// A model keeps its options. The same ones may be given again; others would have no effect.
func TestOptionsThatAModelContradictsAreErrors(t *testing.T) {
	for _, c := range []struct {
		program, line, kept string
		others              []string
	}{
		{"svm", "1 | a b", "-b 10 --lambda 0.01 --t0 50 --average", []string{"--bit_precision 11", "--lambda 0.5", "--t0 60"}},
		{"svm", "1 | a b", "-b 10", []string{"--average"}},
		{"factor", "3 |u a |i b", "--rank 3 --only_biases -l 0.1 --rate_decay 0.1 --lambda 0.1", []string{
			"--rank 4", "--learning_rate 0.2", "--rate_decay 0", "--lambda 0.2",
		}},
		{"factor", "3 |u a |i b", "--rank 3", []string{"--only_biases"}},
		{"nn", "2 | a b", "--hidden 4,3 --classes 3 --loss_function ranking --activation tanh --embedding --text --average " +
			"--batch 2 --rule momentum -l 0.1 --rate_decay 0.1 --momentum 0.5 --lambda 0.1", []string{
			"--hidden 4", "--classes 7", "--loss_function softmax --classes 3", "--activation relu", "--batch 3", "--rule adagrad", "--learning_rate 5",
			"--rate_decay 0.2", "--momentum 0.6", "--lambda 0.2", "--standardize",
		}},
		{"nn", "1 | a b", "--standardize", []string{"--hidden 4", "--embedding --hidden 4", "--text", "--average"}},
		{"nn", "1 | a b", "--quantile_transform", []string{"--standardize"}},
		{"nn", "1 | a b", "--hidden 4", []string{"--embedding --hidden 4", "--quantile_transform"}},
	} {
		data, model := written(t, c.line), filepath.Join(t.TempDir(), "m")
		succeed(t, append([]string{c.program, "-d", data, "-f", model}, strings.Fields(c.kept)...)...)
		succeed(t, append([]string{c.program, "-d", data, "-i", model, "--passes", "2", "--random_seed", "3"}, strings.Fields(c.kept)...)...)
		for _, other := range c.others {
			for _, mode := range []string{"--passes 1", "--testonly"} {
				args := append([]string{c.program, "-d", data, "-i", model}, strings.Fields(mode+" "+other)...)
				option, _, _ := strings.Cut(other, " ")
				if _, err := execute(t.Context(), args...); err == nil || !strings.Contains(err.Error(), option) || !strings.Contains(err.Error(), "would be ignored: the model "+model) {
					t.Errorf("%s %s with a model of %q: got %v, want an error", c.program, other, c.kept, err)
				}
			}
		}
	}
}

func TestAModelOfAnotherKindIsRefused(t *testing.T) {
	name := written(t, "this is no model, but some text")
	if _, err := execute(t.Context(), "svm", "-t", "-i", name, "-d", name); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s: svm", name)) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// Bad data and damaged models are data errors, which have an exit code of their own.
func TestFaultsOfDataAreDataErrors(t *testing.T) {
	label, ratings, unlabelled := written(t, "-1 | a b", "1 | a"), written(t, "3 |u a |i b"), written(t, "| a b", "|u a |i b")
	three := written(t, "1 | a b c")
	models := map[string]string{}
	for program, data := range map[string]string{"svm": label, "nn": label, "factor": ratings} {
		model := filepath.Join(t.TempDir(), program)
		succeed(t, program, "-d", data, "-f", model, "--passes", "1")
		models[program] = model
		cut := read(t, model)
		if err := os.WriteFile(model+".cut", cut[:len(cut)-1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"factor -d " + three, three + ": example 1 of the input has 3 features"},
		{"nn --classes 3 -d " + label, label + ": an example has the label -1"},
		{"svm -d " + unlabelled, unlabelled + ": there are no labelled examples"},
		{"svm -d " + unlabelled + " -d " + written(t, "| c"), unlabelled + " and others: there are no labelled examples"},
		{"nn -d " + unlabelled, "there are no labelled examples"},
		{"factor -d " + unlabelled, "there are no labelled examples"},
		{"svm -d " + label + " -i " + models["svm"] + ".cut", models["svm"] + ".cut: svm"},
		{"nn -t -d " + label + " -i " + models["nn"] + ".cut", models["nn"] + ".cut: nn"},
		{"factor -t -d " + ratings + " -i " + models["factor"] + ".cut", models["factor"] + ".cut: factor"},
		{"nn -d " + label + " -i " + models["svm"], "model of another kind"},
	} {
		_, err := execute(t.Context(), strings.Fields(c.args)...)
		if _, ok := errors.AsType[*learn.DataError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gvw %s: got %T %v, want a data error with %q", c.args, err, err, c.want)
		}
	}
}

// A model whose file cannot be created is an error before the first pass, and a failed training leaves no file.
func TestModelIsCreatedBeforeTraining(t *testing.T) {
	data := written(t, "1 |a x", "-1 |a y")
	out, err := execute(t.Context(), "svm", "-d", data, "-f", filepath.Join(t.TempDir(), "none", "model"))
	if err == nil || !strings.Contains(err.Error(), "none") || strings.Contains(out, "pass 1") {
		t.Errorf("got %v and the output %q, want an error about the directory before pass 1", err, out)
	}
	dir := t.TempDir()
	if _, err := execute(t.Context(), "factor", "-d", data, "-f", filepath.Join(dir, "model")); err == nil {
		t.Error("examples without users and items are accepted")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("a failed training leaves %v", left)
	}
}
