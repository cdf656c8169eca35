// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/mapper"
	"github.com/gvw-project/gvw/internal/programs"
	"github.com/gvw-project/gvw/internal/remote"
	"github.com/gvw-project/gvw/internal/run"
	"github.com/gvw-project/gvw/internal/search"
	"github.com/gvw-project/gvw/internal/show"
	"github.com/gvw-project/gvw/internal/tools"
	"github.com/gvw-project/gvw/internal/tools/jobs"
	"github.com/gvw-project/gvw/internal/tools/simulation"
	"github.com/gvw-project/gvw/internal/train"
)

// commands returns the table of gvw: every command with its options, its help and the
// function that runs it. The order matters: a message about an option of another command
// names the first command of the table that has it.
//
// Environment variables set options unless NoEnv is true: tools on files and Hadoop tasks
// must not pick up the variables of a job.
func commands() *cli.Table {
	return cli.NewTable(&cli.FlagSet{
		At: "gvw", Specs: flags.Learn, Help: learnHelp, Before: learnBefore, After: learnAfter + exitCodes, Repeats: flags.CatFeature, Check: train.CheckNamespaces,
	}, []*cli.Command{
		{
			Name: "inspect", Run: tools.Inspect,
			Sets: []*cli.FlagSet{{
				At: "gvw inspect", Specs: flags.Models,
				Before: `gvw inspect shows the header, the largest weights and the namespaces of a model.

  gvw inspect MODEL [OPTIONS]
`,
				After: `
With -d or --names weights get their names. A weight's size is relative to the
largest one. In a model of --oaa, x is the weight of feature x for the first class,
x[1] that for the second one, as --invert_hash has it.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "diff", Run: tools.Diff,
			Sets: []*cli.FlagSet{{
				At: "gvw diff", Specs: flags.Models,
				Before: `gvw diff shows the differences between two models.

  gvw diff MODEL MODEL [OPTIONS]
`,
				After: `
Both may be binary models or texts of one.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "convert", Run: tools.Convert,
			Sets: []*cli.FlagSet{{
				At: "gvw convert", Specs: flags.Convert,
				Before: `gvw convert writes a model in another form.

  gvw convert MODEL FILE [OPTIONS]
`,
				After: `
Models of vw 7.6 to 9 are read, binary or as text; 9.11.9 is written. The text is
that of --readable_model with all digits, so that it can be converted back. The
state for further training can be left out, but not restored: gvw -i MODEL
continues from any model.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "splines", Run: tools.Splines,
			Sets: []*cli.FlagSet{{
				At: "gvw splines", Specs: flags.Splines,
				Before: `gvw splines replaces dense numeric features by linear splines, with which a linear
learner follows curves.

  gvw splines -d train.vw -f splines -p train.splines.vw
  gvw splines -d test.vw -i splines -p test.splines.vw
`,
				After: `
A value is replaced by its place among the values of its feature in the training
data, and the place by the two knots next to it, whose values add up to 1. A
feature that is absent has the value 0. docs/vw-learners.md has an example.
`,
				NoWords: "gvw splines takes options only, but got %q: the data is given by -d",
				NoEnv:   true,
			}},
		},
		{
			Name: "topics", Run: tools.Topics,
			Sets: []*cli.FlagSet{{
				At: "gvw topics", Specs: flags.Topics,
				Before: `gvw topics describes the topics of a model of --lda: their most probable words,
prevalence, exclusivity and, with documents, coherence (NPMI).

  gvw topics MODEL --vocab words.txt
  gvw topics MODEL -d train.vw --to html > topics.html
  gvw topics MODEL --vocab words.txt --perplexity test.vw
`,
				After: `
Without --vocab and -d the words are numbers. With them only known words count. Names
that share a number are joined by |. docs/topics.md describes the measures.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "infer", Run: tools.Infer,
			Sets: []*cli.FlagSet{{
				At: "gvw infer", Specs: flags.Infer,
				Before: `gvw infer writes the shares of the topics in each document, by a model of --lda.

  gvw infer -i MODEL -d documents.vw
  gvw infer -i MODEL -d documents.vw --json -p shares.json
`,
				After: `
A line has a share for each topic and the tag of the document.
`,
				NoWords: "gvw infer takes options only, but got %q: the documents are given by -d",
				NoEnv:   true,
			}},
		},
		{
			Name: "bench", Run: tools.Bench,
			Sets: []*cli.FlagSet{{
				At: "gvw bench allreduce", Specs: flags.Bench,
				Before: `gvw bench allreduce measures sums of float32 over several processes of this
machine. Results are compared with the exact answer before and after.

  gvw bench allreduce -n 4 --sizes 4,65536
  gvw bench allreduce -n 4 --transport shm --schedule all
  gvw bench allreduce -n 4 --transport shm --alloc --peers
  gvw bench allreduce -n 4 --checksum off --peers --python .venv/bin/python
`,
				NoWords: "gvw bench allreduce takes options only, but got %q",
			}},
		},
		{
			Name: "simulate", Run: simulation.Simulate,
			Sets: []*cli.FlagSet{{
				At: "gvw simulate allreduce", Specs: flags.SimulateAllReduce,
				Before: `gvw simulate allreduce computes how long a sum of float32 takes on a simulated
cluster, by its real schedules and a model of links and processors.

  gvw simulate allreduce
  gvw simulate allreduce -n 10,100,1000,4000 --rate 1,10,100 --svg times.svg
  gvw simulate allreduce -n 200 --schedule all --hosts_per_rack 20 --oversubscription 4
`,
				After: `
The bound is the time of the bytes that each rank must send and receive, without
headers. docs/simulation.md describes the model and how precise it is.
`,
				NoWords: "gvw simulate allreduce takes options only, but got %q",
				NoEnv:   true,
			}, {
				At: "gvw simulate losses", Specs: flags.SimulateLosses,
				Before: `gvw simulate losses computes how much time failures cost a job that waits for lost
ranks, that has spares, or that continues without them. The server's rules are real.

  gvw simulate losses -n 1000 --between 1000,10000 --step 20s --load 2m
  gvw simulate losses -n 100 --spares 1,2,4,8 --silent 0.5 --svg lost.svg
`,
				After: `
A spare loads the data of the rank that it takes, so it saves the time of a restart.
docs/simulation.md describes the model.
`,
				NoWords: "gvw simulate losses takes options only, but got %q",
				NoEnv:   true,
			}, {
				At: "gvw simulate passes", Specs: flags.SimulatePasses,
				Before: `gvw simulate passes computes the times of passes in which all ranks wait for the slowest,
on hosts of unequal speed: quantiles without and with second attempts, and speed-up.

  gvw simulate passes -n 1000 --work 10h
  gvw simulate passes -n 10,100,1000 --hosts 50:1,95:1.8,100:22 --svg speedup.svg
`,
				After: `
A table of hosts has shares of hosts in percent, and the most that these take, relative
to a usual host. docs/simulation.md describes the model.
`,
				NoWords: "gvw simulate passes takes options only, but got %q",
				NoEnv:   true,
			}},
		},
		{
			Name: "topo", Run: tools.Topo,
			Sets: []*cli.FlagSet{{
				At: "gvw topo", Specs: flags.Topo,
				Before: `gvw topo draws an all-reduce of float32 numbers: the messages between ranks, and
the order in which the ranks' numbers are added.

  gvw topo -n 8 --schedule halving
  gvw topo -n 12 --schedule double_tree --format svg > picture.svg
`,
				NoWords: "gvw topo takes options only, but got %q",
			}},
		},
		{
			Name: "doctor", Run: tools.Doctor,
			Sets: []*cli.FlagSet{{
				At: "gvw doctor", Specs: flags.Doctor,
				Before: `gvw doctor examines the network between ranks: whether all reach each other, how
fast, and whether clocks and packet sizes agree. Start it as a job is started, with
the same addresses; rank 0 prints the faults.

  gvw doctor --span_server gateway --total 8 --node 3
  gvw doctor -n 4
  gvw doctor --verbs
`,
				After: `
The exit code is 0 if there are no faults.
`,
				NoWords: "gvw doctor takes options only, but got %q",
			}},
		},
		{
			Name: "jobs", Run: jobs.Jobs,
			Sets: []*cli.FlagSet{{
				At: "gvw jobs", Specs: flags.Jobs,
				Before: `gvw jobs lists the jobs of a spanning_tree server: their progress, the missing ranks,
and what each rank waits for.

  gvw jobs --span_server gateway
  gvw jobs --span_server gateway --all --watch
  gvw jobs --span_server gateway --json | jq '.jobs[].state'
  gvw jobs --span_server gateway --logs 17 --rank 3
`,
				NoWords: "gvw jobs takes options only, but got %q: the server is given by --span_server",
			}},
		},
		{
			Name: "top", Run: jobs.Top,
			Sets: []*cli.FlagSet{{
				At: "gvw top", Specs: flags.Top,
				Before: `gvw top is a live table of the jobs of a spanning_tree server, and of the ranks of a
job with the ranks that they wait for. It needs a terminal.

  gvw top --span_server gateway
`,
				After: `
Keys: q ends; s and S change the column by which jobs are sorted, r reverses the order;
j and k or the arrows select a job; enter shows its ranks, and the jobs again.
`,
				NoWords: "gvw top takes options only, but got %q: the server is given by --span_server",
			}},
		},
		{
			Name: "cancel", Run: jobs.Cancel,
			Sets: []*cli.FlagSet{{
				At: "gvw cancel", Specs: flags.Cancel,
				Before: `gvw cancel ends a job of a spanning_tree server: its ranks fail with exit code 6. JOB
is its unique_id, or unique_id/run_id, as gvw jobs shows it.

  gvw cancel --span_server gateway 17
  gvw cancel --span_server gateway 17/job_2024_0042 --reason 'wrong data'
`,
			}},
		},
		{
			Name: "report", Run: show.Report,
			Sets: []*cli.FlagSet{{
				At: "gvw report", Specs: flags.Report,
				Before: `gvw report makes a page of a run, or of two side by side, from files of --record:
losses, the time of ranks, traffic, predictions, weights, options, data and machines.

  gvw report run.jsonl -o report.html
  gvw report run.jsonl -p predictions --labels test.vw -i model -o report.html
  gvw report old.jsonl new.jsonl -o compare.html
`,
				After: `
The page is one HTML file without scripts. Files of one run that several machines have
written are joined. docs/reports.md has examples.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "plot", Run: show.Plot,
			Sets: []*cli.FlagSet{{
				At: "gvw plot", Specs: flags.Plot,
				Before: `gvw plot draws the losses in files of --record or --log_json, those of the trials of
gvw search --state, or the largest weights of a model.

  gvw plot run.jsonl
  gvw plot old.jsonl new.jsonl --x time -o loss.png
  gvw plot search.jsonl --x learning_rate
  gvw plot model --names model.txt -o weights.svg
`,
				NoEnv: true,
			}},
		},
		{
			Name: "timeline", Run: show.Timeline,
			Sets: []*cli.FlagSet{{
				At: "gvw timeline", Specs: flags.Timeline,
				Before: `gvw timeline shows how the ranks of a job have spent their time, by files that
--timeline has written.

  gvw timeline trace.json
  gvw timeline trace.json --svg trace.svg --from 2 --to 3.5
`,
				After: `
A rank waits where it is in a collective, and neither sends nor receives. Where ranks
share memory all time in collectives counts as waiting. docs/reports.md has examples.
`,
				NoEnv: true,
			}},
		},
		{
			Name: "svm", Run: programs.SVM,
			Sets: []*cli.FlagSet{{
				At: "gvw svm", Specs: flags.SVM,
				Before: `gvw svm trains a linear support-vector machine by stochastic gradients.

  gvw svm -d train.vw -f model --lambda 1e-4 --average
  gvw svm -t -i model -d test.vw -p predictions
  gvw run -n 4 -- ./gvw svm -d train.vw -f model --malt all --sync bsp
`,
				After: `
Examples are lines of vw's text, or of LIBSVM's. Labels above 0 are the positive
class. docs/learners.md describes the learner.
`,
				NoWords: "gvw svm takes options only, but got %q: the data is given by -d",
			}},
		},
		{
			Name: "factor", Run: programs.Factor,
			Sets: []*cli.FlagSet{{
				At: "gvw factor", Specs: flags.Factor,
				Before: `gvw factor predicts ratings of items by users, by matrix factorisation.

  gvw factor -d ratings.vw -f model --rank 10
  gvw factor -t -i model -d test.vw -p predictions
  gvw run -n 4 -- ./gvw factor -d ratings.vw -f model --malt all --cb_size 5000
`,
				After: `
An example is a rating with two features, a user and an item: 3.5 |u 17 |i 4.
docs/learners.md describes the learner.
`,
				NoWords: "gvw factor takes options only, but got %q: the data is given by -d",
			}},
		},
		{
			Name: "nn", Run: programs.NN,
			Sets: []*cli.FlagSet{{
				At: "gvw nn", Specs: flags.NN,
				Before: `gvw nn trains a neural network with fully connected layers.

  gvw nn -d train.vw -f model --hidden 64 --classes 10
  gvw nn -t -i model -d test.vw -p predictions
  gvw run -n 4 -- ./gvw nn -d train.vw -f model --hidden 64 --classes 10 --malt all
`,
				After: `
Examples are lines of vw's text, or of LIBSVM's. docs/learners.md describes the
learner.
`,
				NoWords: "gvw nn takes options only, but got %q: the data is given by -d",
			}},
		},
		{
			Name: "supervise", // main runs it: it returns the exit code of another program
			Sets: []*cli.FlagSet{{
				At: "gvw supervise, before the --", Specs: flags.Supervise,
				Before: `gvw supervise starts a command again when it dies, under launchers that restart
nothing: Slurm, mpirun and their like. Put it before each rank's command.

  gvw supervise -- gvw -d part.3 --span_server gateway --total 8 --node 3 ...
`,
				After: `
The pause before a new start is 0.1 s, and twice as long each time, up to 5 s.
Exit codes 0, 1, 2, 6, 130 and 143 end it: another attempt would do no better, or was
not wanted. Signals are passed on; the exit code is the command's last one.
`,
				Rest: "the command comes after --, as in: gvw supervise -- gvw -d train.vw", RestAny: true,
			}},
		},
		{
			Name: "mapper", Run: mapper.Command,
			Sets: []*cli.FlagSet{{
				At: "gvw mapper, before the --", Specs: flags.Mapper,
				Before: `gvw mapper is one rank of a job, as the mapper of Hadoop Streaming: one map, one
rank. It reads its split from stdin.

  hadoop jar hadoop-streaming.jar -files gvw -numReduceTasks 0 -input IN -output OUT \
      -cmdenv GVW_SPAN_SERVER=gateway -mapper './gvw mapper -- --hybrid 2:18 -f model'
`,
				After: `
The learner's options follow -- (gvw --help). The server is that of
--span_server, else of -D gvw.span_server=HOST, else the host that submitted the
job. The files of the attempt that Hadoop accepts go to OUT. scripts/mapscript.sh
submits such a job.
`,
				NoEnv: true,
				Rest:  "the learner's options come after --, as in: gvw mapper -- --hybrid 2:18 -f model",
			}},
		},
		{
			Name: "hadoop", Run: tools.Hadoop,
			Sets: []*cli.FlagSet{
				{
					At: "gvw hadoop split", Specs: flags.Split, Help: hadoopHelp, Before: hadoopBefore, After: hadoopAfter, NoEnv: true,
					NoWords: "gvw hadoop split takes options only, but got %q",
				},
				{
					At: "gvw hadoop slots", Specs: flags.Slots, Help: hadoopHelp, Before: hadoopBefore, After: hadoopAfter, NoEnv: true,
					NoWords: "gvw hadoop slots takes options only, but got %q",
				},
			},
		},
		{
			Name: "keygen", Run: tools.Keygen,
			Sets: []*cli.FlagSet{{
				At: "gvw keygen", Specs: flags.Keygen,
				Before: `gvw keygen creates the credentials of a cluster: a secret, or certificates for TLS.
A site that has an authority of its own takes its certificates from there.

  gvw keygen --secret cluster.secret
  gvw keygen --dir keys --hosts gateway,10.0.0.1
`,
				After: `
DIR gets server.crt and server.key for spanning_tree, rank.crt and rank.key for ranks
and people, ca.crt for all, and ca.key, which is needed only to make more of them:
store it elsewhere. All files are readable only by their owner. See docs/security.md.
`,
				NoWords: "gvw keygen takes options only, but got %q",
			}},
		},
		{Name: "remote", Run: remote.Command, Summary: "connects gvw run --hosts to a worker; gvw run starts it"},
		{Name: "faults", Run: tools.Faults, Summary: "describes GVW_FAULT, which injects faults into processes"},
		{
			Name: "run", Run: run.Command,
			Sets: []*cli.FlagSet{{
				At: "gvw run, before the --", Specs: flags.Run, Help: runHelp, Before: runBefore, After: runAfter,
				Rest: "the learner's options come after --, as in: gvw run -n 4 -- -d train.vw",
			}},
		},
		{
			Name: "search", Run: search.Command,
			Sets: []*cli.FlagSet{{
				At: "gvw search, before the --", Specs: flags.Search,
				Before: `gvw search trains with many combinations of options, compares them by their loss on
held-out examples, and trains the model with the best ones.

  gvw search --space 'learning_rate=log:0.01..10 l2=log:1e-9..1e-3' --trials 64 \
      --parallel 2 --valid test.vw -- -d train.vw -f model
  gvw search --space 'l=log:0.01..10' --strategy asha --holdout -- -d train.vw --passes 9
  gvw search --space 'l=log:0.01..10' --valid test.vw -- run -n 2 -- -d train.vw
  gvw search 1e-10 5e-4 0.01 -- -d train.vw --l2 %    as vw-hypersearch
`,
				After: `
NAME=low..high is a range; log:, int: and logint: change its scale. NAME=a,b is a
list; flags have the values on and off. Stdout gets the table of trainings, best first,
and the command with the chosen options. docs/search.md describes the strategies.
`,
				Rest: "the learner's options come after --, as in: gvw search --space 'l=log:0.01..10' -- -d train.vw",
			}},
		},
		{
			Name: "allreduce", Run: tools.AllReduce,
			Sets: []*cli.FlagSet{{
				At: "gvw allreduce", Specs: flags.AllReduce,
				Before: `gvw allreduce reads vectors from stdin, one a line, and writes for each the
reduction over all ranks of a job, the same on all of them.

  wc -l < part | gvw allreduce --op sum --type i64 \
      --span_server gateway --unique_id 7 --total 4 --node 2
`,
				After: `
Without cluster options it is a job of one rank. Frames are 8 bytes, the length in
bytes, then the elements, all little-endian. docs/allreduce.md has examples.
`,
				NoWords: "gvw allreduce reads stdin and takes no file, but got %q: write < FILE",
			}},
		},
		{
			Name: "malt", Run: tools.Malt,
			Sets: []*cli.FlagSet{{
				At: "gvw malt", Specs: flags.Malt,
				Before: `gvw malt makes a program of any language parallel: it reads the program's model from
stdin as a vector, one a line, sends it to some other ranks, and writes the mean of it and
of the models that have arrived.

  mkfifo models
  ./train part.2 < models | gvw malt --graph halton --sync ssp:4 \
      --span_server gateway --unique_id 7 --total 4 --node 2 > models
`,
				After: `
Without cluster options it is a job of one rank, and writes what it reads. Frames are
8 bytes, the length in bytes, then the elements, all little-endian. docs/parallel.md
has an example.
`,
				NoWords: "gvw malt reads stdin and takes no file, but got %q: write < FILE",
			}},
		},
		{
			Name: "serve", Run: train.Serve,
			Sets: []*cli.FlagSet{{
				At: "gvw serve", Specs: flags.Serve,
				Before: `gvw serve answers examples over HTTP, by one or several models.

  gvw serve -i MODEL [OPTIONS]
  gvw serve spam=spam.model topic=topic.model --port 8080
  gvw serve --learn --loss_function logistic --checkpoint state -f MODEL

  curl --data-binary @examples.vw http://127.0.0.1:8080/predict
`,
				After: `
Paths: POST /predict, GET /model, /healthz and /metrics; ?model=NAME selects a model.
A model whose file changes is loaded again. docs/serving.md describes bodies, limits
and checkpoints. vw's socket protocol is that of gvw --daemon.
`,
			}},
		},
		{Name: "completion", Run: completion, Summary: "prints the completions of a shell, or writes the manual"},
		{Name: "version", Summary: "prints the version, the commit and its date", Run: func(_ context.Context, p *cli.Process, _ *cli.Command, _ []string) error {
			return p.Print(cli.Version() + "\n")
		}},
		{Name: "help", Summary: "prints the help, with help all every option", Run: func(_ context.Context, p *cli.Process, _ *cli.Command, args []string) error {
			return p.Print(commands().Learner.Page(len(args) > 0))
		}},
	})
}
