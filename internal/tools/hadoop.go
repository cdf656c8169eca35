// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/hadoop"
)

// Hadoop runs gvw hadoop.
func Hadoop(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	what := ""
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	flags := c.Sets[0]
	switch what {
	case "split":
	case "slots":
		flags = c.Sets[1]
	case "--help", "-h":
		return p.Print(c.Sets[1].Page(true))
	default:
		return cli.Usagef("gvw hadoop: got %q, want split or slots (gvw hadoop --help)", what)
	}
	s, err := flags.Read(p, args)
	if s == nil {
		return err
	}
	if !s.Has("maps") {
		return cli.Usagef("gvw hadoop %s: --maps is missing: give the number of maps", what)
	}
	if what == "split" {
		return hadoopSplit(p, int(s.Number("maps")))
	}
	return hadoopSlots(ctx, p, s)
}

// hadoopSplit reads a listing of the input and prints the size of a split that gives n maps.
func hadoopSplit(p *cli.Process, n int) error {
	listing, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	files, err := hadoop.Inputs(string(listing))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return cli.Usagef("gvw hadoop split: stdin lists no file: give it the output of hadoop fs -ls IN")
	}
	size, got, err := hadoop.SplitSize(files, n)
	switch {
	case err != nil:
		return err
	// Each map is a rank, so another number of maps than n would be another job.
	case got > n:
		return cli.Usagef("the input has %d files, each of at least one map: %d maps are impossible (give %d, or fewer and larger files)", got, n, got)
	case got < n:
		return cli.Usagef("%d maps of this input are impossible, but %d are possible: a compressed file is one map, others are cut into equal parts (give %d, or other files)", n, got, got)
	}
	return p.Print(fmt.Sprintf("%d %d\n", size, got))
}

// hadoopSlots prints how many maps run at once, now and on an idle cluster. It returns an error
// with exit code 6 if the job could never start. The defaults of sizes are Hadoop's.
func hadoopSlots(ctx context.Context, p *cli.Process, s *cli.Settings) error {
	site, err := hadoop.Sites(p.Getenv("HADOOP_CONF_DIR"))
	if err != nil {
		return err
	}
	var managers []string
	if s.Has("rm") {
		managers = []string{strings.TrimPrefix(s.Get("rm"), "http://")}
	} else {
		managers = hadoop.ResourceManagers(site)
	}
	if len(managers) == 0 {
		return cli.Usagef("gvw hadoop slots: the address of the ResourceManager is missing: give --rm HOST:PORT, or HADOOP_CONF_DIR with a yarn-site.xml that has it")
	}
	room, err := hadoop.AskRoom(ctx, managers)
	if err != nil {
		return err
	}
	// mb returns a size in MB: that of the option, of the cluster's configuration, or Hadoop's default.
	mb := func(name, property string, otherwise int) int {
		if s.Has(name) {
			return int(s.Number(name))
		}
		if n, err := strconv.Atoi(site[property]); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	// YARN rounds the memory of a container up to a multiple of the step.
	room.Step = mb("step_mb", "yarn.scheduler.minimum-allocation-mb", 1024)
	n := int(s.Number("maps"))
	mapMB, masterMB := mb("map_mb", "mapreduce.map.memory.mb", 1024), mb("am_mb", "yarn.app.mapreduce.am.resource.mb", 1536)
	now, idle := room.Fit(mapMB, masterMB)
	text := fmt.Sprintf("%d nodes; beside an ApplicationMaster of %[3]d MB, maps of %[2]d MB that run at once: %[4]d now, %[5]d when no other job runs", len(room.All), mapMB, masterMB, now, idle)
	// A map that waits for the others keeps its container, so a cluster that is too small would hang.
	if idle < n {
		return &cli.ExitError{Code: cli.ExitRefused, Text: fmt.Sprintf("%s; the job needs %d at once, so it would never begin: use fewer or smaller maps", text, n)}
	}
	if now < n {
		text += fmt.Sprintf("; the job needs %d at once, and begins when other jobs have ended", n)
	}
	return p.Print(text + "\n")
}
