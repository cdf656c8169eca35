// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/link/upgrade"
)

// taggedEdges are the open edges whose frames have tags, and all of them, by direction.
func taggedEdges(j *testJob) (tagged, all int) {
	for _, g := range j.groups {
		en := &g.epoch.Engine
		en.Mu.Lock()
		for _, e := range en.Open {
			all += 2
			if e.Tags.In != nil {
				tagged++
			}
			if e.Tags.Out != nil {
				tagged++
			}
		}
		en.Mu.Unlock()
	}
	return tagged, all
}

// Frames have tags as long as they cross a network.
func TestTagsEndWhereMemoryIsShared(t *testing.T) {
	cfg := Config{Credentials: &auth.Credentials{Secret: authtest.Secret(t, "a")}}
	j := newSharedJob(t, 4, cfg)
	turn(j, func(g *Group, round int) error { return gather(g, 10, round) })
	j.each(func(rank int) error { return gather(j.groups[rank], 300_000, 1) })
	stay := 0
	for stage, n := range stages(j) {
		if stage != upgrade.Done {
			stay += 2 * n // not used: there is no pipe
		}
	}
	j.close() // before a look at what the edges' drivers have
	if tagged, all := taggedEdges(j); tagged != stay || stay == all {
		t.Errorf("%d directions of %d have tags, want %d: those without a pipe", tagged, all, stay)
	}
}

// Verbs go to other machines.
func TestTagsOverVerbs(t *testing.T) {
	j, f := newVerbsJob(t, 3, Config{Credentials: &auth.Credentials{Secret: authtest.Secret(t, "a")}})
	checkCollectives(t, j, 10_007)
	j.close()
	if tagged, all := taggedEdges(j); tagged != all || all == 0 || f.Writes() == 0 {
		t.Errorf("%d directions of %d have tags, after %d writes", tagged, all, f.Writes())
	}
}

// NoTags has checksums in their place; without a checksum there would be nothing.
func TestNoTags(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for _, noSum := range []bool{false, true} {
		j := newTCPJob(t, 3, Config{Credentials: creds, NoTags: true, NoChecksum: noSum})
		checkCollectives(t, j, 10_007)
		j.close()
		if tagged, all := taggedEdges(j); tagged != 0 || all == 0 {
			t.Errorf("%d directions of %d have tags", tagged, all)
		}
	}
	tls := &auth.Credentials{Secret: creds.Secret, TLS: authtest.Ephemeral(t)}
	for name, c := range map[string]struct {
		cfg  Config
		good bool
	}{
		"a secret without checksums":            {Config{Credentials: creds, NoChecksum: true}, false},
		"without checksums, and nobody's there": {Config{Credentials: creds, NoChecksum: true, NoTags: true}, true},
		"TLS without checksums":                 {Config{Credentials: tls, NoChecksum: true}, true},
		"no tags where there are none":          {Config{NoTags: true}, false},
		"no tags under TLS":                     {Config{Credentials: tls, NoTags: true}, false},
	} {
		c.cfg.Server, c.cfg.Total = "gateway:26543", 1
		if err := c.cfg.Validate(); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Ranks that do not agree on tags are refused before they send each other anything.
func TestRanksAgreeOnTags(t *testing.T) {
	cfg := Config{Server: "gateway:26543", Total: 2, Credentials: &auth.Credentials{Secret: authtest.Secret(t, "a")}}
	with := cfg.agreed()
	if cfg.NoTags = true; cfg.agreed() == with {
		t.Errorf("both say %q", with)
	}
}
