// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/hadoop"
)

// catHadoop is the category of what gvw hadoop takes.
const catHadoop = "Hadoop job"

// splitFlags are the options of `gvw hadoop split`.
var splitFlags = []*spec{
	{name: "maps", kind: integer, positive: true, category: catHadoop, arg: "N", help: "maps that the job is to have"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// slotsFlags are the options of `gvw hadoop slots`.
var slotsFlags = []*spec{
	{name: "maps", kind: integer, positive: true, category: catHadoop, arg: "N", help: "maps that must run at once"},
	{name: "map_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "memory of a map; that of mapred-site.xml if left out"},
	{name: "am_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "memory of the ApplicationMaster, likewise"},
	{name: "step_mb", kind: integer, positive: true, category: catHadoop, arg: "MB", help: "containers are multiples of it, likewise"},
	{name: "rm", kind: text, category: catHadoop, arg: "HOST:PORT", help: "the ResourceManager over HTTP; that of yarn-site.xml if left out"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

func hadoopHelp() string {
	var b strings.Builder
	b.WriteString("gvw hadoop answers what a launcher of a job of maps has to know.\n\n" +
		"  hadoop fs -ls IN | gvw hadoop split --maps 8     SIZE N: this least size of a split\n" +
		"                                                   (mapreduce.input.fileinputformat.\n" +
		"                                                   split.minsize) gives N maps\n" +
		"  gvw hadoop slots --maps 8 --map_mb 2048          do they all run at once?\n")
	writeOptions(&b, slotsFlags, true)
	b.WriteString("\nMaps that wait for each other must all run at once, and MapReduce does not see to it.\n" +
		"yarn-site.xml and mapred-site.xml are read in $HADOOP_CONF_DIR. Exit codes of slots: 0 they fit now, or will\n" +
		"when other jobs end (it says which); 6 they never will.\n")
	return b.String()
}

// hadoopCommand is gvw hadoop.
func (p *program) hadoopCommand(ctx context.Context, args []string) error {
	what := ""
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	specs := splitFlags
	switch what {
	case "split":
	case "slots":
		specs = slotsFlags
	case "--help", "-h":
		return p.Print(hadoopHelp())
	default:
		return cli.Usagef("gvw hadoop %s: split or slots is needed (gvw hadoop --help)", what)
	}
	s, err := normalise(specs, args, nil, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(hadoopHelp())
	case len(s.words)+len(s.rest) > 0:
		return cli.Usagef("gvw hadoop %s takes options only, but got %q", what, append(s.words, s.rest...)[0])
	case !s.has("maps"):
		return cli.Usagef("gvw hadoop %s: --maps is missing: how many maps?", what)
	}
	if what == "split" {
		return p.hadoopSplit(int(s.number("maps")))
	}
	return p.hadoopSlots(ctx, s)
}

// hadoopSplit reads a listing of the input and says what split size gives n maps.
func (p *program) hadoopSplit(n int) error {
	listing, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	files, err := hadoop.Inputs(string(listing))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return cli.Usagef("gvw hadoop split: there is no file on stdin: the output of hadoop fs -ls IN is needed there")
	}
	size, got, err := hadoop.SplitSize(files, n)
	switch {
	case err != nil:
		return err
	case got > n:
		return cli.Usagef("the input has %d files, and each is a map at least: %d maps cannot be had (give %d, or fewer and larger files)", got, n, got)
	case got < n:
		return cli.Usagef("%d maps cannot be had of this input, but %d: a compressed file is one map, others are cut into equal parts (give %d, or other files)", n, got, got)
	}
	return p.Print(fmt.Sprintf("%d %d\n", size, got))
}

// hadoopSlots says whether n maps run at once.
func (p *program) hadoopSlots(ctx context.Context, s *settings) error {
	site, err := p.sites()
	if err != nil {
		return err
	}
	var managers []string
	if s.has("rm") {
		managers = []string{strings.TrimPrefix(s.get("rm"), "http://")}
	} else {
		managers = hadoop.ResourceManagers(site)
	}
	if len(managers) == 0 {
		return cli.Usagef("gvw hadoop slots: where is the ResourceManager? Give --rm HOST:PORT, or HADOOP_CONF_DIR with a yarn-site.xml that says so")
	}
	room, err := askRoom(ctx, managers)
	if err != nil {
		return err
	}
	// mb is a size in MB: as given, else as the cluster has it, else Hadoop's default.
	mb := func(name, property string, otherwise int) int {
		if s.has(name) {
			return int(s.number(name))
		}
		if n, err := strconv.Atoi(site[property]); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	room.Step = mb("step_mb", "yarn.scheduler.minimum-allocation-mb", 1024)
	n := int(s.number("maps"))
	mapMB, masterMB := mb("map_mb", "mapreduce.map.memory.mb", 1024), mb("am_mb", "yarn.app.mapreduce.am.resource.mb", 1536)
	now, idle := room.Fit(mapMB, masterMB)
	text := fmt.Sprintf("%d nodes: of maps of %d MB, beside an ApplicationMaster of %d MB, %d run at once now, %d when nothing else runs", len(room.All), mapMB, masterMB, now, idle)
	if idle < n {
		return &slotsError{fmt.Sprintf("%s; %d are needed, and they wait for each other, so the job would never begin: ask for fewer or smaller maps", text, n)}
	}
	if now < n {
		text += fmt.Sprintf("; %d are needed: the job begins when others have ended", n)
	}
	return p.Print(text + "\n")
}

// slotsError says that a cluster is too small for a job.
type slotsError struct{ text string }

func (e *slotsError) Error() string { return e.text }
func (e *slotsError) ExitCode() int { return cli.ExitRefused }

// sites are the properties of the cluster's yarn-site.xml and mapred-site.xml; without
// them it is empty.
func (p *program) sites() (map[string]string, error) {
	all := map[string]string{}
	dir := p.Getenv("HADOOP_CONF_DIR")
	if dir == "" {
		return all, nil
	}
	for _, file := range []string{"yarn-site.xml", "mapred-site.xml"} {
		name := filepath.Join(dir, file)
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		site, err := hadoop.Properties(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		maps.Copy(all, site)
	}
	return all, nil
}

// askRoom asks the first ResourceManager that answers.
func askRoom(ctx context.Context, managers []string) (hadoop.Room, error) {
	var errs []error
	for _, m := range managers {
		room, err := askRoomOf(ctx, "http://"+m)
		if err == nil {
			return room, nil
		}
		errs = append(errs, fmt.Errorf("cannot ask the ResourceManager %s for its nodes: %w", m, err))
	}
	return hadoop.Room{}, errors.Join(errs...)
}

// askRoomWithin bounds the question to one ResourceManager.
const askRoomWithin = 9 * time.Second

func askRoomOf(ctx context.Context, base string) (room hadoop.Room, err error) {
	ctx, cancel := context.WithTimeout(ctx, askRoomWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/ws/v1/cluster/nodes", nil)
	if err != nil {
		return room, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return room, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return room, fmt.Errorf("it answers %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return room, err
	}
	return hadoop.Nodes(text)
}
