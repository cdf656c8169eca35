// SPDX-License-Identifier: Apache-2.0

package maltjob

import (
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/malt"
)

// TestConfigHasAllSharedFields checks that every field with the same name and type in both
// configurations is carried over, except for a few.
func TestConfigHasAllSharedFields(t *testing.T) {
	excluded := []string{"Spare", "Stall"}
	j := allreduce.Config{
		Server: "gateway:1", Job: allreduce.Job{UniqueID: 7, RunKey: "x"}, Rank: 1, Total: 3, OnLoss: allreduce.Shrink,
		Network: transport.TCP, Listen: ":2", Advertise: "h:2", Allow: []netip.Prefix{{}}, Credentials: &auth.Credentials{}, Host: "h",
		DialTimeout: 4, StartTimeout: 5, Heartbeat: 6, LostAfter: 7, ServerTimeout: 8, Log: slog.New(slog.DiscardHandler),
		NoSharedMemory: true, ReplaceTimeout: 9, Spare: true, Stall: 10, Owner: &auth.Secret{},
	}
	from, to := reflect.ValueOf(j), reflect.ValueOf(Config(&j))
	for f := range reflect.TypeFor[allreduce.Config]().Fields() {
		got, want := to.FieldByName(f.Name), from.FieldByName(f.Name)
		switch {
		case !f.IsExported() || !got.IsValid() || got.Type() != want.Type():
		case want.IsZero():
			t.Errorf("%s is not set in this test", f.Name)
		case got.IsZero() != slices.Contains(excluded, f.Name):
			t.Errorf("%s: got %v, want it carried over, or listed as excluded", f.Name, got)
		case !got.IsZero() && !reflect.DeepEqual(got.Interface(), want.Interface()):
			t.Errorf("%s: got %v, want %v", f.Name, got, want)
		}
	}
}

func TestConfigOfVectorsFollowsThatOfCollectives(t *testing.T) {
	for _, c := range []struct {
		join   allreduce.Config
		onLoss malt.OnLoss
		verbs  string
	}{
		{allreduce.Config{VerbsDevice: "mlx5_0"}, malt.Abort, ""},
		{allreduce.Config{OnLoss: allreduce.Wait, Transport: allreduce.TransportAuto}, malt.Wait, "auto"},
		{allreduce.Config{OnLoss: allreduce.Open, Transport: allreduce.TransportVerbs, VerbsDevice: "mlx5_0"}, malt.Grow, "mlx5_0"},
	} {
		if got := Config(&c.join); got.OnLoss != c.onLoss || got.Verbs != c.verbs {
			t.Errorf("%+v: got %v and device %q, want %v and %q", c.join, got.OnLoss, got.Verbs, c.onLoss, c.verbs)
		}
	}
}
