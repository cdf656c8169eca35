// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/tests/harness"
)

// fakeHadoop stands in for Hadoop's commands: it lists an input, and runs the mappers of a
// submitted job as processes. The file calls records its arguments.
const fakeHadoop = `#!/usr/bin/env bash
set -u
dir=$(cd "$(dirname "$0")" && pwd)
echo "$(basename "$0") $*" >>"$dir/calls"
case "$(basename "$0") ${1:-} ${2:-}" in
"hadoop fs -ls") case $3 in *model*) echo "-rw-r--r-- 3 ann users 2000 2026-01-01 10:00 hdfs://nn/user/ann/run/model"; exit ;;
	*run*) echo "-rw-r--r-- 3 ann users 2000 2026-01-01 10:00 /user/ann/run/train 1.vw"; exit ;; esac
	[ "$3" = /in ] || { echo "ls: $3: No such file or directory" >&2; exit 1; }
	for r in 0 1; do echo "-rw-r--r-- 3 ann users $((2000 - r)) 2026-01-01 10:00 /in/part.$r"; done ;;
"hadoop fs -mkdir")
	case $3 in
	/locked/*) echo "mkdir: Permission denied: user=eve, access=WRITE, inode=\"/locked\":root:supergroup:drwxr-xr-x" >&2; exit 1 ;;
	*) [ ! -e "$dir/exists" ] || { echo "mkdir: '$3': File exists" >&2; exit 1; } ;;
	esac ;;
"hadoop fs -mv") [ ! -e "$dir/stays" ] || exit 1; if [ -e "$dir/exists" ]; then mv "$dir/exists" "$dir/aside"; else mv "$dir/aside" "$dir/exists"; fi ;;
"hadoop fs -rm") rm -f "$dir/aside" ;;
"hadoop fs -test") [ -e "$dir/exists" ] ;;
"hadoop fs -get") shift 3; for f in "${@:1:$#-1}"; do cp "$dir/out/$(basename "$f")" "${@: -1}"; done ;;
"hadoop fs "*) ;;
"mapred job -kill") touch "$dir/killed" ;;
"mapred job -history") printf '%s\n' "Hadoop job: $3" '' "FAILED MAP task list for $3" "task_1	, java.io.IOException: No space left on device" '' 'Error without a task' ;;
"mapred streaming "*)
	while [ $# -gt 0 ]; do
		case $1 in -mapper) mapper=$2 ;; -D) p=${2%%=*}; export "${p//[^0-9A-Za-z]/_}=${2#*=}" ;; -files) files=$2 ;; esac
		shift
	done
	[ ! -e "$dir/refused" ] || { echo "Exception: Failed to submit application: queue q is stopped" >&2; exit 1; }
	echo "Running job: job_1700000000000_0001" >&2
	mkdir -p "$dir/out"
	pids=()
	trap 'kill "${pids[@]}" 2>/dev/null; exit 143' TERM
	for r in 0 1; do
		(
			mkdir -p "$dir/task$r" && cd "$dir/task$r"
			for f in ${files//,/ }; do ln -sf "${f%#*}" "$(basename "${f#*#}")"; done
			export mapreduce_task_attempt_id=attempt_1700000000000_0001_m_00000${r}_0 mapreduce_job_maps=2
			export mapreduce_task_output_dir=file:$dir/out mapreduce_job_submithostname=localhost
			[ -e "$dir/late" ] && [ $r = 1 ] && sleep 8
			if [ -e "$dir/odd" ]; then # the two never agree, and are started again and again
				[ $r = 0 ] || export GVW_L1=5
				# A NodeManager ends the program of a task, too. g may not be set yet for the newest one.
				trap 'kill $(jobs -p) 2>/dev/null; wait; exit 143' TERM
				for _ in {1..300}; do
					if [ -z "${g:-}" ] || ! kill -0 "$g" 2>/dev/null; then eval "exec ./$mapper" <"$dir/part.$r" 2>>stderr & g=$!; fi
					[ ! -e "$dir/killed" ] || break
					sleep 0.1
				done
				kill $(jobs -p) 2>/dev/null
				wait
				exit 6
			fi
			eval "exec ./$mapper" <"$dir/part.$r" 2>stderr
		) &
		pids+=($!)
	done
	rc=0
	for p in "${pids[@]}"; do # the first that fails ends the job
		wait -n || { c=$?; [ $rc = 1 ] || echo "Error: subprocess failed with code $c" >&2; rc=1; kill "${pids[@]}" 2>/dev/null; }
	done
	[ $rc = 0 ] || echo "Job job_1700000000000_0001 has not succeeded: Task failed task_1" >&2
	exit $rc ;;
*) exit 99 ;;
esac
`

// scriptHome is a folder with the fake commands and two splits, and runs a script there.
type scriptHome struct {
	t   *testing.T
	dir string
	env []string // further variables of the script
}

func newScriptHome(t *testing.T) *scriptHome {
	t.Helper()
	lookPath(t, "bash")
	h := &scriptHome{t: t, dir: t.TempDir()}
	for _, name := range []string{"hadoop", "mapred"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(fakeHadoop), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")), "\n")
	for r := range 2 {
		writeFile(t, filepath.Join(h.dir, fmt.Sprintf("part.%d", r)), strings.Join(lines[r*300:(r+1)*300], ""))
	}
	return h
}

func (h *scriptHome) script(name string, args ...string) result {
	h.t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "scripts", name))
	if err != nil {
		h.t.Fatal(err)
	}
	env := []string{"PATH=" + h.dir + ":" + os.Getenv("PATH"), "GVW=" + gvwBin, "SPANNING_TREE=" + serverBin, "TMPDIR=" + h.dir}
	env = append(env, h.env...)
	return startWith(h.t, h.dir, nil, env, "bash", append([]string{path}, args...)...).wait()
}

func (h *scriptHome) calls() string {
	b, err := os.ReadFile(filepath.Join(h.dir, "calls"))
	if err != nil {
		return ""
	}
	return string(b)
}

// --dry_run prints the command and does not run it.
func TestMapscriptDryRun(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	r := h.script("mapscript.sh", "/out", "/in", "2", "--dry_run", "--memory", "2048", "--queue", "q", "-D", "a.b=c d", "--file", "part.0", "--cache_file", "own", "-b", "18", "--hybrid", "2:5", "--id", "a b")
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	for _, want := range []string{
		"mapred streaming ", "mapreduce.job.name=gvw\\ /out ", "mapreduce.input.fileinputformat.split.minsize=9223372036854775807 ",
		"mapreduce.map.memory.mb=2048 ", "mapreduce.job.queuename=q ", "a.b=c\\ d ", ",part.0 ", "-numReduceTasks 0 -input /in -output /out",
		`-mapper gvw\ mapper\ --log\ log\ --\ --cache_file\ own\ -b\ 18\ --hybrid\ 2:5\ --id\ \"a\ b\"\ -f\ model`,
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in:\n%s", want, r.stdout)
		}
	}
	if got := h.calls(); strings.Contains(got, "streaming") || strings.Contains(got, "-rm") {
		t.Errorf("a dry run has called:\n%s", got)
	}
}

// Faults are reported before anything is submitted.
func TestMapscriptRefusals(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":          {nil, 1, "usage: mapscript.sh OUT IN N"},
		"no number":        {[]string{"/out", "/in", "four"}, 1, "got 'four'"},
		"a wrong option":   {[]string{"/out", "/in", "2", "--hibrid", "1:2"}, 1, "did you mean --hybrid"},
		"a missing input":  {[]string{"/out", "/other", "2"}, 5, "cannot list the input /other"},
		"too few maps":     {[]string{"/out", "/in", "1"}, 1, "the input has 2 files"},
		"a missing file":   {[]string{"/out", "/in", "2", "--file", "no"}, 1, "cannot read no"},
		"a missing value":  {[]string{"/out", "/in", "2", "--memory"}, 1, "--memory lacks its value"},
		"a missing folder": {[]string{"/out", "/in", "2", "--fetch", "no"}, 1, "--fetch no"},
		"a quote":          {[]string{"/out", "/in", "2", "--id", `it's`}, 1, "quote"},
		"no permission":    {[]string{"/locked/out", "/in", "2"}, 5, "Permission denied: user=eve"},
	} {
		r := h.script("mapscript.sh", c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", name, r.code, c.code, c.want, r.stderr)
		}
	}
	writeFile(t, filepath.Join(h.dir, "exists"), "")
	if r := h.script("mapscript.sh", "/out", "/in", "2"); r.code != 5 || !strings.Contains(r.stderr, "--overwrite") {
		t.Errorf("an output that exists: exit code %d\n%s", r.code, r.stderr)
	}
	if got := h.calls(); strings.Contains(got, "streaming") || strings.Contains(got, "-rm") {
		t.Errorf("something was submitted or removed:\n%s", got)
	}
}

// --overwrite refuses an input that it would remove, in whatever form the two names are given.
func TestMapscriptKeepsTheInput(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	writeFile(t, filepath.Join(h.dir, "exists"), "")
	for _, c := range []struct {
		out, in string
		refused bool
	}{
		{"/user/ann/run", "/user/ann/run", true},
		{"/user/ann/run", "/user/ann/run/train 1.vw", true},
		{"/user/ann/run/", "hdfs://nn:8020//user/ann/./run/train.vw", true},
		{"hdfs:///user/ann/run", "/user/bob/../ann/run/", true},
		{"/user/ann/run", "/user/an[n]/run/*", true},
		{"/user/ann/run", "/user/*/{run,walk}", true},
		{"run", "/user/ann/run/train.vw", true},
		{"/user/ann", "run/train.vw", true},
		{"hdfs://nn", "run", true},
		{".", "run", true},
		{"/user/ann/runs", "/user/ann/run", false},
		{"/user/ann/run/out", "/user/ann/run", false},
		{"/user/ann/walk", "/user/*/run", false},
		{"/user/ann/out", "run", false},
		{"/user/ann/r*", "/in", true},
	} {
		r := h.script("mapscript.sh", c.out, c.in, "2", "--overwrite", "--dry_run")
		want := 0
		if c.refused {
			want = 1
		}
		if r.code != want || c.refused != strings.Contains(r.stderr, "--overwrite ") {
			t.Errorf("OUT %s, IN %s: exit code %d, want %d:\n%s", c.out, c.in, r.code, want, r.stderr)
		}
	}
}

// --overwrite refuses a folder with a file that the learner reads, unless the learner writes it.
func TestMapscriptKeepsFilesOfTheLearner(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	writeFile(t, filepath.Join(h.dir, "exists"), "")
	takes := writeFile(t, filepath.Join(h.dir, "takes"), "#!/bin/sh\ncase \" $* \" in *' --dry_run '*) exit 0 ;; esac\nexec "+gvwBin+" \"$@\"\n")
	if err := os.Chmod(takes, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"GVW=" + takes} // the learner would read these files for --dry_run
	for options, refused := range map[string]bool{
		"-i hdfs:///user/ann/run/model":                                      true,
		"--initial_regressor=hdfs://nn:8020/user/ann/run/model":              true,
		"--input_feature_regularizer hdfs://nn/user/ann//run/r":              true,
		"-i hdfs://nn/user/ann/*/model":                                      true,
		"-p hdfs:///user/ann/run/p -i hdfs:///user/ann/run/model":            true,
		"-i hdfs:///user/ann/walk/model":                                     false,
		"-i run/model":                                                       false,
		"-i file:///user/ann/run/model":                                      false,
		"-p hdfs:///user/ann/run/p --readable_model=hdfs:///user/ann/run/rm": false,
		"--checkpoint hdfs:///user/ann/run/ck":                               false,
		"--checkpoint hdfs:///user/ann/run/ck --resume":                      true,
		"--dictionary a:hdfs:///user/ann/run/d":                              true,
	} {
		r := h.script("mapscript.sh", append([]string{"/user/ann/run", "/in", "2", "--overwrite", "--dry_run"}, strings.Fields(options)...)...)
		want := 0
		if refused {
			want = 1
		}
		if r.code != want || refused != strings.Contains(r.stderr, "--overwrite would remove a file that the learner reads") {
			t.Errorf("%s: exit code %d, want %d:\n%s", options, r.code, want, r.stderr)
		}
	}
}

// The output that --overwrite replaces is there again after a job that Hadoop refuses, and is kept after a job that fails.
func TestMapscriptRestoresTheOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string // of the fake cluster
		code int
		want string
		kept string
	}{
		"a job is refused":     {"refused", 3, "the earlier /out is there again\n", "exists"},
		"a job fails":          {"part.1", 3, "the earlier /out is kept as /out.replaced-", "aside"},
		"it cannot be moved":   {"stays", 5, "cannot move /out aside", "exists"},
		"the server is silent": {"silent", 5, "does not answer", "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newScriptHome(t)
			writeFile(t, filepath.Join(h.dir, "exists"), "")
			writeFile(t, filepath.Join(h.dir, c.file), "1 |a x\n1 |a "+strings.Repeat("x", 20000)+"\n")
			if c.file == "silent" { // it listens on another port
				silent := writeFile(t, filepath.Join(h.dir, "silent"), "#!/bin/sh\nexec "+serverBin+" --nondaemon --port "+freePort(t)+"\n")
				if err := os.Chmod(silent, 0o700); err != nil {
					t.Fatal(err)
				}
				h.env = []string{"SPANNING_TREE=" + silent}
			}
			r := h.script("mapscript.sh", "/out", "/in", "2", "--overwrite", "--port", freePort(t), "--server", "127.0.0.1", "-b", "10", "--max_line", "9999")
			if r.code != c.code || !strings.Contains(r.stderr, c.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", r.code, c.code, c.want, r.stderr)
			}
			if _, err := os.Stat(filepath.Join(h.dir, c.kept)); err != nil {
				t.Errorf("the earlier output is lost: %v\n%s", err, h.calls())
			}
			if calls := h.calls(); strings.Contains(calls, "-rm ") || c.code == 5 && strings.Contains(calls, "streaming") {
				t.Errorf("something was removed, or submitted:\n%s", calls)
			}
		})
	}
}

// --overwrite removes nothing if the job is refused before its submission.
func TestMapscriptKeepsTheOutputOfARefusedJob(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	h := newScriptHome(t)
	writeFile(t, filepath.Join(h.dir, "exists"), "")
	full := writeFile(t, filepath.Join(h.dir, "full"), "#!/bin/sh\n[ \"$1 $2\" != 'hadoop slots' ] || exit 6\nexec "+gvwBin+" \"$@\"\n")
	if err := os.Chmod(full, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  []string
		code int
		want string
	}{
		"a full cluster": {[]string{"GVW=" + full}, 6, "the maps would never all run at once"},
		"a port in use":  {nil, 5, "the server does not start"},
	} {
		h.env = c.env
		r := h.script("mapscript.sh", "/out", "/in", "2", "--overwrite", "--port", port, "--server", "127.0.0.1")
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", name, r.code, c.code, c.want, r.stderr)
		}
	}
	if got := h.calls(); strings.Contains(got, "streaming") || strings.Contains(got, "-rm ") {
		t.Errorf("something was submitted or removed:\n%s", got)
	}
}

// On a cluster of two processes, the script starts and stops the server, trains, and fetches
// the model and the log.
func TestMapscriptTrains(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	writeFile(t, filepath.Join(h.dir, "exists"), "")
	secret := writeFile(t, filepath.Join(h.dir, "secret"), "a secret that is hard to guess: 0123456789\n")
	var port string
	var r result
	for range 3 { // a port that was free may be in use when the server starts
		port = freePort(t)
		r = h.script("mapscript.sh", "/out", "/in", "2", "--overwrite", "--secret_file", secret, "--port", port, "--server", "127.0.0.1", "-b", "10", "--hybrid", "1:5", "--loss_function", "logistic")
		if !strings.Contains(r.stderr, "the port is in use") {
			break
		}
	}
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	if fi, err := os.Stat(filepath.Join(h.dir, "model")); err != nil || fi.Size() < 1000 {
		t.Errorf("no model was fetched: %v", err)
	}
	if log := readFile(t, filepath.Join(h.dir, "log")); !strings.Contains(log, "rank 0 of 2") {
		t.Errorf("the log is not rank 0's:\n%s", log)
	}
	if strings.Contains(h.calls(), "hard to guess") {
		t.Error("the secret is on a command line")
	}
	if dialable("127.0.0.1:" + port) {
		t.Error("the server that the script has started still runs")
	}
	if !strings.Contains(h.calls(), "-mv /out /out.replaced-") || !strings.Contains(h.calls(), "-rm -r -skipTrash /out.replaced-") {
		t.Errorf("--overwrite has removed nothing:\n%s", h.calls())
	}
}

// When a job fails, the script prints the reason and the place of the logs, and its server
// ends.
func TestMapscriptPrintsTheCauseOfAFailure(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	port := freePort(t)
	writeFile(t, filepath.Join(h.dir, "part.1"), "1 |a x\n1 |a "+strings.Repeat("x", 20000)+"\n")
	r := h.script("mapscript.sh", "/out", "/in", "2", "--port", port, "--server", "127.0.0.1", "-b", "10", "--max_line", "9999")
	// Either rank may end first: with 2 for its own reason, with 3 for that of the other.
	said := regexp.MustCompile(`(?s)failed with code [23]\n.*IOException: No space left on device\n.*rank=1 .*the job job_1700000000000_0001 has failed .*application_1700000000000_0001\)`)
	if r.code != 3 || !said.MatchString(r.stderr) || strings.Contains(r.stderr, "without a task") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	if dialable("127.0.0.1:" + port) {
		t.Error("the server that the script has started still runs")
	}
}

// A refusal is the same for every attempt, so the script kills the job, also with a server that
// it did not start.
func TestMapscriptKillsAJobThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		h := newScriptHome(t)
		writeFile(t, filepath.Join(h.dir, "odd"), "")
		port := freePort(t)
		if !own {
			port = startServer(t)
		}
		r := h.script("mapscript.sh", "/out", "/in", "2", "--port", port, "--server", "127.0.0.1", "-b", "10", "--l2", "1")
		if r.code != 3 || !strings.Contains(r.stderr, "the server refuses the ranks, so the job is killed: options differ") || !strings.Contains(r.stderr, "l1=") {
			t.Errorf("own server %v: exit code %d\n%s", own, r.code, r.stderr)
		}
		if !strings.Contains(h.calls(), "mapred job -kill job_1700000000000_0001") {
			t.Errorf("own server %v: the job was not killed:\n%s", own, h.calls())
		}
		waitFor(t, "the processes of the killed job to end", func() bool { // they may have been told so just now
			return harness.Find(func(p harness.Process) bool {
				return p.Env("mapreduce_task_output_dir") == "file:"+filepath.Join(h.dir, "out")
			}) == 0
		})
	}
}

// --elastic trains on the splits of the maps that have started in time, and names the others.
func TestMapscriptTrainsOnStartedMaps(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	writeFile(t, filepath.Join(h.dir, "late"), "")
	r := h.script("mapscript.sh", "/out", "/in", "2", "--port", freePort(t), "--server", "127.0.0.1", "--elastic", "--timeout", "3s", "-b", "10", "--passes", "2")
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	if !strings.Contains(r.stderr, "the model is without the splits of rank 1, whose maps had not begun in time") {
		t.Errorf("the gateway does not say who is missing:\n%s", r.stderr)
	}
	if log := readFile(t, filepath.Join(h.dir, "log")); !strings.Contains(log, "missing=\"rank 1\" of=2") {
		t.Errorf("rank 0's log does not say who is missing:\n%s", log)
	}
	if fi, err := os.Stat(filepath.Join(h.dir, "model")); err != nil || fi.Size() < 1000 {
		t.Errorf("no model was fetched: %v", err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "task1", "stderr")); err != nil || !strings.Contains(readFile(t, filepath.Join(h.dir, "task1", "stderr")), "has finished") {
		t.Errorf("the late map was not told that it is not needed: %v", err)
	}
}

// runvw.sh adds --hybrid only if the options choose neither passes nor a solver nor a learner without L-BFGS.
func TestRunvwAddsHybrid(t *testing.T) {
	t.Parallel()
	h := newScriptHome(t)
	echo := writeFile(t, filepath.Join(h.dir, "echo"), "#!/bin/sh\necho \"$@\"\n")
	if err := os.Chmod(echo, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"GVW=" + echo}
	for options, added := range map[string]string{
		"-b 20":           " --hybrid 1:20 --mem 5",
		"--passes 5":      "",
		"--passes=5":      "",
		"--hybrid 1:5":    "",
		"--hybrid=1:5":    "",
		"--bfgs -b 20":    "",
		"--passes_x 5":    " --hybrid 1:20 --mem 5",
		"--id a--passes=": " --hybrid 1:20 --mem 5",
		"--ftrl":          "",
		"-b 20 --oaa 3":   "",
		"--nn=3 --inpass": "",
		"-t -i m":         "",
		"--nn_x 3 -tt":    " --hybrid 1:20 --mem 5",
	} {
		r := h.script("runvw.sh", strings.Fields(options)...)
		if want := "mapper --log log -- " + options + added + " -f model\n"; r.code != 0 || r.stdout != want {
			t.Errorf("%s: exit code %d, gvw %swant gvw %s%s", options, r.code, r.stdout, want, r.stderr)
		}
	}
}

// runvw.sh is a mapper: one call of gvw, or vw's two.
func TestRunvw(t *testing.T) {
	t.Parallel()
	for _, two := range []string{"0", "1"} {
		h := newScriptHome(t)
		port := startServer(t)
		script, err := filepath.Abs("../scripts/runvw.sh")
		if err != nil {
			t.Fatal(err)
		}
		var tasks []*process
		for r := range 2 {
			own := filepath.Join(h.dir, fmt.Sprint("task", r))
			out := filepath.Join(h.dir, "out")
			for _, d := range []string{own, out} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			split, err := os.Open(filepath.Join(h.dir, fmt.Sprintf("part.%d", r)))
			if err != nil {
				t.Fatal(err)
			}
			defer split.Close()
			tasks = append(tasks, startWith(t, own, split, []string{
				// those of MapReduce 1
				fmt.Sprintf("mapred_task_id=attempt_200904211745_0018_m_%06d_0", r), "mapred_map_tasks=2", "mapreduce_job_submithost=127.0.0.1",
				"mapred_work_output_dir=" + out, "GVW_SPAN_SERVER_PORT=" + port, "GVW=" + gvwBin, "RUNVW_TWO_CALLS=" + two,
			}, "bash", script, "-b", "10", "--loss_function", "logistic"))
		}
		for r, p := range tasks {
			if res := p.wait(); res.code != 0 {
				t.Fatalf("two calls %s: rank %d: exit code %d\n%s", two, r, res.code, res.stderr)
			}
		}
		for _, name := range []string{"model", "log"} {
			if _, err := os.Stat(filepath.Join(h.dir, "out", name)); err != nil {
				t.Errorf("two calls %s: %v", two, err)
			}
		}
	}
}
