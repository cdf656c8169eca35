// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"strings"
	"testing"
)

// diagnosed runs gvw doctor with three ranks on two hosts: ranks 0 and 2 on the first, rank 1
// on the second with more options. before is a shell command that runs first. It returns the
// output of rank 0.
func diagnosed(t *testing.T, before, options string) result {
	return twoHosts(t, before+`
`+serverBin+` --nondaemon --bind 10.77.0.1 >server.log 2>&1 & server=$!
trap 'kill $server' EXIT
set +e
until grep -qs serving server.log; do sleep 0.05; done
doctor="$gvw doctor --span_server 10.77.0.1 --total 3 --start_timeout 20s --patience 3s"
$doctor --node 2 >out2 2>err2 & second=$!
on2 $doctor --node 1 `+options+` >out1 2>err1 & first=$!
$doctor --node 0
code=$?
wait $first
[ $? = $code ] || echo "rank 1 ends otherwise: $(cat err1)"
wait $second
[ $? = $code ] || echo "rank 2 ends otherwise: $(cat err2)"
exit $code`)
}

// A network without faults has none in the report. On a busy machine one of its paths may be
// slower than the others, and the report says so; that is no error of the doctor.
func TestDoctorFindsNothing(t *testing.T) {
	t.Parallel()
	r := diagnosed(t, "", "")
	var faults []string
	slower := 0
	for line := range strings.Lines(r.stderr) {
		if strings.HasPrefix(line, "gvw doctor: rank ") && strings.Contains(line, ", on most paths ") {
			slower++
		} else if !strings.Contains(line, "in the network between the ranks: see above") {
			faults = append(faults, line)
		}
	}
	well := r.code == 0 && strings.Contains(r.stdout, "no faults: 3 ranks, 6 directions")
	if len(faults) > 0 || well != (slower == 0) || !strings.Contains(r.stdout, " 1500 ") || strings.Contains(r.stdout, "otherwise") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, options string
		want                  []string // on stderr
	}{
		{
			"the address of the loopback", "", "--advertise 127.0.0.1",
			[]string{"no rank reaches rank 1", "which each machine resolves to itself; the server observes it at 10.77.0.2", "advertise 10.77.0.2"},
		},
		{
			"an address behind a wall", "", "--advertise 10.78.0.0/16",
			[]string{"no rank reaches rank 1", "advertises 10.78.0.2:", "the server observes it at 10.77.0.2", "check that rank 0 can reach that interface"},
		},
		{
			"one MTU here, another there", "ip link set a77 mtu 1400", "",
			[]string{"MTU 1400 from rank 0 to rank 1, but 1500 back"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := diagnosed(t, c.before, c.options)
			for _, want := range c.want {
				if !strings.Contains(r.stderr, want) || r.code != 5 || strings.Contains(r.stdout, "otherwise") {
					t.Errorf("want %q and exit code 5, got %d\n%s%s", want, r.code, r.stdout, r.stderr)
				}
			}
		})
	}
}
