// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/launch"
)

func parse(t *testing.T, line string) *cli.Settings {
	t.Helper()
	set := cli.NewTable(&cli.FlagSet{Specs: flags.Learn}, nil).Learner
	s, err := cli.Parse(set, strings.Fields(line), nil, os.ReadFile)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s
}

const rank = "--span_server h --unique_id 1 --total 4 --node 2 "

// Check accepts a rank and a process without a job, and names the missing options.
func TestCheck(t *testing.T) {
	for line, want := range map[string]string{
		"":                                  "",
		rank:                                "",
		"--unique_id 7 --total 1 --node 0":  "", // a job of one rank needs no server
		"--span_server h":                   "missing: --unique_id, --total, --node",
		rank + "--node 2 --total 4 --spare": "--spare would be ignored without --on_loss wait",
		"--span_server h --unique_id 1 --total 2 --node 2": "the ranks of --total 2 are 0 to 1",
		rank + "--on_loss wait --slow_factor 1":            "--slow_factor 1: above 1",
		rank + "--slow_factor 3":                           "--slow_factor would be ignored without --on_loss",
		rank + "--run_dir d":                               "--run_dir without --run_id",
		rank + "--port_range 0":                            "--port_range 0",
		rank + "--tls_cert c":                              "--tls_key is missing",
		rank + "--allow 10.0.0.0/33":                       `"10.0.0.0/33" is not a network`,
		rank + "--verbs_device mlx5_0":                     "--verbs_device would be ignored",
	} {
		errs := Check(parse(t, line))
		switch {
		case want == "" && len(errs) > 0:
			t.Errorf("%q: %v", line, errs)
		case want != "" && !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), want) }):
			t.Errorf("%q: %v, want %s", line, errs, want)
		}
	}
}

// LeaveServer removes the options of a job only if the job has one rank.
func TestLeaveServer(t *testing.T) {
	single, member := parse(t, "--unique_id 7 --total 1 --node 0"), parse(t, rank)
	LeaveServer(single)
	LeaveServer(member)
	if single.Has("total") || !member.Has("total") {
		t.Errorf("total of a single process: %v, of a rank: %v", single.Has("total"), member.Has("total"))
	}
}

func TestNetworks(t *testing.T) {
	got, err := networks("10.0.0.0/8,192.168.1.7")
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.1.7/32")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestListenAt(t *testing.T) {
	got := []string{ListenAt("", ""), ListenAt("[::1]", "9000-9009"), ListenAt("h", "80")}
	if diff := cmp.Diff([]string{":0", "[::1]:9000-9009", "h:80"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each field that the rule of elastic jobs can name has its option in the message.
func TestElasticFaultsNameOptions(t *testing.T) {
	errs := Check(parse(t, rank+"--elastic"))
	if len(errs) != len(elasticOptions) {
		t.Errorf("%d faults, want %d: %v", len(errs), len(elasticOptions), errs)
	}
	for field, option := range elasticOptions {
		want := "--elastic without " + option + ": "
		if !slices.ContainsFunc(errs, func(err error) bool { return strings.HasPrefix(err.Error(), want) }) {
			t.Errorf("%s: no fault begins with %q: %v", field, want, errs)
		}
	}
	if errs := Check(parse(t, rank+"--elastic --on_loss shrink --run_id r")); len(errs) > 0 {
		t.Errorf("a complete elastic job is refused: %v", errs)
	}
}

// A fault names starts of the whole job from 1, and --generation counts restarts from 0.
func TestFaultsOfGenerations(t *testing.T) {
	t.Cleanup(func() { fault.Arm(nil, fault.Life{}, fault.Hands{}) })
	for _, c := range []struct {
		plan       string
		generation uint64
		want       bool
	}{
		{"", 0, true},
		{"", 1, false},
		{"", 2, false},
		{",generation:1", 0, true},
		{",generation:1", 1, false},
		{",generation:2", 0, false},
		{",generation:2", 1, true},
		{",generation:2", 2, false},
		{",generation:any", 0, true},
		{",generation:any", 7, true},
	} {
		exited := false
		p := &cli.Process{Env: []string{"GVW_FAULT=op:1,kind:exit" + c.plan}, Stderr: io.Discard, Exit: func(int) { exited = true }}
		if err := ArmFaults(p, launch.Place{Total: 2}, c.generation, false, false); err != nil {
			t.Fatal(err)
		}
		if fault.At(0, fault.Op); exited != c.want {
			t.Errorf("op:1%s in --generation %d: triggered %v, want %v", c.plan, c.generation, exited, c.want)
		}
	}
}
