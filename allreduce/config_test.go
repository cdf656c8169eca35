// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// TestValidateRefusesNanoseconds checks that durations below 1 ms, which mostly lack a unit, are
// refused.
func TestValidateRefusesNanoseconds(t *testing.T) {
	for _, c := range []Config{{Stall: 3}, {Heartbeat: 1}, {LostAfter: 10}, {DialTimeout: 100}, {MaxWait: 1}, {ReplaceTimeout: 5}, {ServerTimeout: 9}, {StartTimeout: 2}, {Stall: -1}} {
		c.Server, c.Total = "server:1", 1
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "at least 1ms") {
			t.Errorf("%+v: got %v, want that it is refused", c, err)
		}
	}
	if err := (Config{Server: "server:1", Total: 1 << 40}).Validate(); err == nil || !strings.Contains(err.Error(), "Total: got 1099511627776") {
		t.Errorf("a total of 2^40: got %v, want that it is refused", err)
	}
}

// FuzzValidate checks that a Config which Validate accepts starts a job or returns an error, and
// never panics.
func FuzzValidate(f *testing.F) {
	f.Add(int64(3), int64(0), int64(0), int64(0), int64(0), int64(0), 2, 0, byte(0), byte(0), byte(0), byte(0), byte(0), 0.0, "", "")
	f.Add(int64(time.Millisecond), int64(time.Millisecond), int64(time.Millisecond), int64(time.Millisecond), int64(time.Millisecond), int64(time.Millisecond),
		2, 8, byte(1), byte(2), byte(1), byte(3), byte(0), 1.5, ":0", "h0:7")
	f.Add(int64(-1), int64(1<<62), int64(1<<63-1), int64(1<<62), int64(1<<63-1), int64(1<<62), 1<<40, 1<<40, byte(2), byte(1), byte(2), byte(7), byte(255), 1e300, "10.0.0.0/8:5-1", "x")
	f.Fuzz(func(t *testing.T, stall, wait, heartbeat, lost, dial, start int64, total, chunk int, onLoss, driver, over, name, flags byte, slow float64, listen, advertise string) {
		cfg := Config{
			Server: "server:26543", Total: total, Chunk: chunk, OnLoss: OnLoss(onLoss), driver: epoch.Driver(driver % 3), Transport: Transport(over), Schedule: schedule.Name(name),
			Stall: time.Duration(stall), MaxWait: time.Duration(wait), Heartbeat: time.Duration(heartbeat), LostAfter: time.Duration(lost), DialTimeout: time.Duration(dial),
			StartTimeout: time.Duration(start), ServerTimeout: time.Duration(lost), ReplaceTimeout: time.Duration(wait), SlowFactor: slow, Listen: listen, Advertise: advertise,
			NoChecksum: flags&1 > 0, NoSharedMemory: flags&2 > 0, Elastic: flags&4 > 0, Job: Job{UniqueID: 7, RunKey: "run"},
		}
		if cfg.Validate() != nil {
			return
		}
		newGroup(cfg.withDefaults())
		if total <= 3 {
			synctest.Test(t, func(t *testing.T) { startAnyJob(t, cfg) })
		}
	})
}

// startAnyJob starts a job and ends it; its collectives may fail.
func startAnyJob(t *testing.T, cfg Config) {
	n := mem.New()
	startServer(t, n.Host("server"), cfg.Server)
	within, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var work sync.WaitGroup
	for rank := range cfg.Total {
		c := cfg
		c.Rank, c.Network = rank, n.Host(fmt.Sprintf("h%d", rank))
		work.Go(func() {
			g, err := Join(within, c)
			if err != nil {
				return
			}
			defer g.Close()
			v := []float32{1, 2, 3}
			if err := g.AllReduce(within, Vec(v), Sum); err == nil && v[2] != float32(3*c.Total) {
				t.Errorf("rank %d: the sum is %v of %d ranks", c.Rank, v[2], c.Total)
			}
		})
	}
	work.Wait()
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Server: ":26543", Rank: 5, Total: 4, Chunk: 12, Stall: -1, MaxWait: -1}.Validate()
	for _, want := range []string{"Server", "Rank", "Chunk", "Stall", "MaxWait"} {
		if err == nil || !strings.Contains(err.Error(), "allreduce: "+want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
	if err := (Config{Server: "gateway:26543", Total: 1}).Validate(); err != nil {
		t.Errorf("the least configuration: %v", err)
	}
}

// TestJoinConfigHasAllSharedFields checks that every field which Config and the server's client
// have in common is carried over.
func TestJoinConfigHasAllSharedFields(t *testing.T) {
	secret := authtest.Secret(t, "a")
	c := Config{
		Server: "gateway:1", Job: Job{UniqueID: 7, RunKey: "x"}, Rank: 1, Total: 3, Spare: true, Generation: 4, Options: "bits=18", Version: "5",
		Advertise: "h:2", Host: "h", Network: transport.TCP, Credentials: &auth.Credentials{Secret: secret}, Owner: secret,
		OnLoss: Wait, ReplaceTimeout: 6, SlowFactor: 7, Elastic: true, StartTimeout: 8, Heartbeat: 9, LostAfter: 10,
		ServerTimeout: 11, DialTimeout: 12, Log: slog.New(slog.DiscardHandler),
	}
	from, to := reflect.ValueOf(c), reflect.ValueOf(c.join())
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		want := from.FieldByName(name)
		switch {
		case !want.IsValid(): // the client's own
		case want.IsZero():
			t.Errorf("%s is not set in this test", name)
		case name == "Elastic": // a switch here, a duration there
			if got := to.Field(i).Int(); got != 8 {
				t.Errorf("Elastic: got %d, want StartTimeout", got)
			}
		case !reflect.DeepEqual(to.Field(i).Interface(), want.Interface()):
			t.Errorf("%s: got %v, want %v", name, to.Field(i), want)
		}
	}
}
