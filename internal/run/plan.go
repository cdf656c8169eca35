// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/train"
)

// localJob has the options of gvw run.
type localJob struct {
	workers    int
	shard      string // bytes or lines
	shardGiven bool
	id         string // run ID, random
	uniqueID   uint64 // unique ID of the job, random
	serverPort int    // 0: any free port
	logDir     string
	restarts   int  // restarts of a worker that dies
	asked      bool // --max_restarts was given
	spares     int
	hosts      *remoteHosts // nil: the workers run on this machine
}

// serverHost returns the host of the server as the workers reach it.
func (j *localJob) serverHost() string {
	if j.hosts != nil {
		return j.hosts.address
	}
	return "127.0.0.1"
}

// plan has the options of each worker, and the files to gather at the end.
type plan struct {
	workers  []*cli.Settings // by rank
	spares   []*cli.Settings // with {rank} in names, which a spare replaces by its rank
	own      bool            // each rank has files of its own ({rank} in -d)
	kind     hdfsio.Kind     // otherwise: division of the data
	gathered []gathering
	shrinks  bool // the job continues without lost ranks
}

// gathering is a file of predictions, or a timeline, that the ranks write in pieces.
type gathering struct {
	name     string   // as the user has given it
	pieces   []string // by rank
	timeline bool     // the pieces are timelines, and not predictions
	keep     bool     // the pieces remain, because the file could not be written
}

// makePlan divides a job among workers. It reads and writes no file, so it can also check the
// options before the server runs. An error is a UsageError.
func makePlan(j localJob, s *cli.Settings) (*plan, error) {
	for _, name := range flags.LauncherSays {
		if s.Has(name) {
			switch name {
			case "shard":
				return nil, cli.Usagef("--shard comes before --, as in: gvw run -n 4 --shard lines -- -d train.vw")
			case "elastic":
				return nil, cli.Usagef("--elastic is for ranks that others start: gvw run starts all ranks at once")
			case "spare":
				return nil, cli.Usagef("--spare is for a process without a launcher: gvw run starts N spares by --spares N, before --")
			}
			return nil, cli.Usagef("--%s is set by gvw run itself: leave it out", name)
		}
	}
	for _, name := range flags.Guarded {
		if s.Has(name) && name != "job_token" {
			if j.hosts != nil {
				return nil, cli.Usagef("--%s: under gvw run --hosts a secret that is generated for the run, or that of --secret_file FILE before --, proves who connects: leave it out", name)
			}
			return nil, cli.Usagef("--%s: under gvw run all connections stay on this machine, protected by a secret generated for the run (or that of --secret_file FILE before --): leave it out", name)
		}
	}
	for _, name := range []string{"audit", "invert_hash"} {
		if s.Has(name) {
			return nil, cli.Usagef("gvw run: --%s needs names, and each worker has only those of its share: train with -f MODEL, then run gvw -d FILE -t -i MODEL --%s", name, name)
		}
	}
	if j.hosts != nil {
		if err := j.hosts.check(s); err != nil {
			return nil, err
		}
	}
	how := s.Get("on_loss")
	p := &plan{shrinks: how == "shrink" || how == "grow"}
	if err := checkRestarts(j, s); err != nil {
		return nil, err
	}
	if err := p.divideData(j, s); err != nil {
		return nil, err
	}
	for rank := range j.workers {
		w := p.member(j, s, strconv.Itoa(rank))
		w.Set("node", strconv.Itoa(rank))
		for _, model := range files.OnceFiles {
			// All ranks have the same bytes, so rank 0 writes them. If any rank may be lost
			// permanently, every rank writes them, except a log that grows line by line.
			once := !p.shrinks || model == "log_json"
			if rank > 0 && once && w.Has(model) && !strings.Contains(w.Get(model), files.RankMark) {
				files.LeaveOut(w, model)
			}
		}
		files.FillRank(w, rank)
		p.workers = append(p.workers, w)
	}
	for range j.spares {
		w := p.member(j, s, files.RankMark)
		w.Set("spare", "true")
		p.spares = append(p.spares, w)
	}
	for _, name := range []string{"predictions", "raw_predictions"} {
		if file := s.Get(name); file != "" && !strings.Contains(file, files.RankMark) {
			// The order of predictions needs those of every rank.
			if p.shrinks {
				return nil, cli.Usagef("gvw run: --%s %s with --on_loss %s: the predictions of a lost worker would be missing: give each worker its own file (%s.{rank}), or predict in a separate run (gvw -d FILE -t -i MODEL)", name, file, how, file)
			}
			p.gather(j, name, file)
		}
	}
	if file := s.Get("timeline"); file != "" && !strings.Contains(file, files.RankMark) {
		p.gather(j, "timeline", file)
		p.gathered[len(p.gathered)-1].timeline = true
	}
	for _, w := range p.spares {
		w.Set("timeline") // the file cannot be opened before its rank is known
		w.Set("otlp")     // neither can its trace begin
	}
	// All workers have the same options except names and ranks, so one of each kind is checked.
	for _, w := range slices.Concat(p.workers[:1], p.spares[:min(1, len(p.spares))]) {
		if err := train.Check(w); err != nil {
			return nil, err
		}
	}
	if j.hosts == nil || j.hosts.local() {
		p.bind()
	}
	return p, nil
}

// bind sets the listening address to the loopback interface, unless the user has chosen one.
func (p *plan) bind() {
	for _, w := range slices.Concat(p.workers, p.spares) {
		if !w.Has("bind") {
			w.Set("bind", cmp.Or(w.Get("advertise"), "127.0.0.1"))
		}
	}
}

// member returns the options that all processes of the job have. rank is a number, or {rank}.
func (p *plan) member(j localJob, s *cli.Settings, rank string) *cli.Settings {
	w := s.Clone()
	w.Launcher = "gvw run"
	w.Set("span_server", j.serverHost())
	if j.hosts != nil && !w.Has("server_timeout") {
		w.Set("server_timeout", hostsServerTimeout) // the launcher has the server: a worker that has lost both must end
	}
	w.Set("span_server_port", strconv.Itoa(j.serverPort))
	w.Set("unique_id", strconv.FormatUint(j.uniqueID, 10))
	w.Set("total", strconv.Itoa(j.workers))
	w.Set("run_id", j.id)
	w.Set("run_dir", train.NoRunDir) // late attempts cannot occur: only this launcher starts ranks
	if !w.Has("on_loss") && j.restarts+j.spares > 0 {
		w.Set("on_loss", joinflags.RestartedOnLoss)
	}
	if !p.own {
		w.Set("shard", p.kind.String())
	}
	files.NameCache(w, rank, p.own)
	return w
}

// checkRestarts checks that restarts, spares and the loss policy fit each other.
func checkRestarts(j localJob, s *cli.Settings) error {
	switch how := s.Get("on_loss"); {
	case j.spares > 0 && how != "" && how != "wait":
		return cli.Usagef("--spares %d would be ignored with --on_loss %s: no process replaces a lost worker", j.spares, how)
	case how == "wait" && j.restarts == 0 && j.spares == 0:
		return cli.Usagef("--on_loss wait with --max_restarts 0: no process would replace a lost worker: give one or more, or --spares, or --on_loss abort or shrink")
	case s.Get("on_loss") == "abort" && j.restarts > 0 && j.asked:
		return cli.Usagef("--max_restarts %d would be ignored with --on_loss abort: the loss of a worker ends the job", j.restarts)
	}
	return nil
}

// divideData determines whether each rank has its own files ({rank} in all names) or all share
// them, and how they are divided.
func (p *plan) divideData(j localJob, s *cli.Settings) error {
	data := s.All("data")
	marked := 0
	for _, name := range data {
		if slices.Contains(files.StdinNames, name) {
			return cli.Usagef("gvw run: workers cannot share stdin: give files by -d")
		}
		if strings.Contains(name, files.RankMark) {
			marked++
		}
	}
	switch {
	case len(data) == 0:
		return cli.Usagef("gvw run: there is no data: give files by -d (several workers cannot share stdin)")
	case marked > 0 && marked < len(data):
		return cli.Usagef("gvw run: some of -d have {rank} and some have not: either each rank has its own files, or all are shared out")
	case marked > 0 && j.shardGiven:
		return cli.Usagef("--shard %s would be ignored: with {rank} in -d each rank reads its own file whole", j.shard)
	case marked > 0:
		p.own = true
		return nil
	}
	kind, err := hdfsio.ParseKind(j.shard)
	if err != nil {
		return cli.Usagef("--shard: %w", err)
	}
	p.kind = kind
	return nil
}

// gather gives each rank a file beside the given one for its piece, with the run ID in its
// name, so that two runs do not collide. The pieces of predictions to stdout are in the folder
// of the logs.
func (p *plan) gather(j localJob, option, file string) {
	dir, base := filepath.Split(file)
	if slices.Contains(files.StdoutNames, file) {
		dir, base = j.logDir+string(filepath.Separator), option
	}
	g := gathering{name: file}
	piece := fmt.Sprintf("%s%s.%s.", dir, base, j.id)
	for rank, w := range p.workers {
		w.Set(option, piece+strconv.Itoa(rank))
		g.pieces = append(g.pieces, w.Get(option))
	}
	for _, w := range p.spares {
		w.Set(option, piece+files.RankMark)
	}
	p.gathered = append(p.gathered, g)
}
