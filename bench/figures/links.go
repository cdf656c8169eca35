// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// gigabit is the rate of the links in the figures about networks.
const gigabit = "1gbit"

// linksWork returns why network links of a bounded rate cannot be made; nil: they can.
func linksWork(ctx context.Context) error {
	const probe = "mount -t tmpfs none /run && ip link set lo up && tc qdisc add dev lo root tbf rate 1gbit burst 256kb latency 50ms"
	out, err := exec.CommandContext(ctx, "unshare", "-nm", "sh", "-c", probe).CombinedOutput()
	if err == nil {
		return nil
	}
	return errors.Join(err, errors.New(strings.TrimSpace(string(out))))
}

// behindLinks returns the command of a job in which each rank has a network namespace of its own, with a link of a
// bounded rate in each direction. The server is at the bridge that joins the links. All of it ends with the command.
func (j *jobs) behindLinks(ctx context.Context, rate string, args []string) *exec.Cmd {
	return j.network(ctx, ranks, rate, "", args)
}

// network is behindLinks with a number of ranks. Rank i is in the control group DIR/hI, if groups is a directory with them.
func (j *jobs) network(ctx context.Context, total int, rate, groups string, args []string) *exec.Cmd {
	const gateway = "10.81.0.254"
	var b strings.Builder
	fmt.Fprintf(&b, "set -e\nmount -t tmpfs none /run\nip link set lo up\nip link add name bridge type bridge\n"+
		"ip addr add %s/24 dev bridge\nip link set bridge up\n", gateway)
	for rank := range total {
		fmt.Fprintf(&b, "ip netns add h%d\nip link add v%[1]d type veth peer name eth0 netns h%[1]d\nip link set v%[1]d master bridge up\n"+
			"ip -n h%[1]d addr add 10.81.0.%[2]d/24 dev eth0\nip -n h%[1]d link set eth0 up\nip -n h%[1]d link set lo up\n"+
			"tc -n h%[1]d qdisc add dev eth0 root tbf rate %[3]s burst 256kb latency 50ms\n"+
			"tc qdisc add dev v%[1]d root tbf rate %[3]s burst 256kb latency 50ms\n", rank, rank+1, rate)
	}
	fmt.Fprintf(&b, "%s --nondaemon >%s 2>&1 &\nserver=$!\nranks=\n", quote(j.server), quote(j.path("server.log")))
	for rank := range total {
		line := append([]string{j.gvw}, rankArgs(args, rank)...)
		line = append(line, "--span_server", gateway, "--unique_id", "1", "--total", strconv.Itoa(total), "--node", strconv.Itoa(rank),
			"--bind", "10.81.0.0/24", "--shard", "bytes")
		if groups != "" {
			fmt.Fprintf(&b, "sh -c 'echo 0 >%s/h%d/cgroup.procs; exec \"$@\"' sh ", groups, rank)
		}
		fmt.Fprintf(&b, "ip netns exec h%d", rank)
		for _, word := range line {
			b.WriteString(" " + quote(word))
		}
		if rank > 0 {
			fmt.Fprintf(&b, " >%s 2>&1", quote(j.path("rank"+strconv.Itoa(rank)+".log")))
		}
		b.WriteString(" &\nranks=\"$ranks $!\"\n")
	}
	b.WriteString("for rank in $ranks; do wait $rank; done\nkill $server\n")
	return exec.CommandContext(ctx, "unshare", "-nmpf", "--kill-child", "--mount-proc", "sh", "-c", b.String())
}

// rankArgs returns the options of a rank, as gvw run sets them: only rank 0 writes the model and the log.
func rankArgs(args []string, rank int) []string {
	line := slices.Clone(args)
	for i := 0; i < len(line); i++ {
		line[i] = strings.ReplaceAll(line[i], "{rank}", strconv.Itoa(rank))
		if once := line[i] == "-f" || line[i] == "--log_json"; once && rank > 0 {
			line = slices.Delete(line, i, i+2)
			i--
		}
		if i >= 0 && line[i] == "--save_per_pass" && rank > 0 {
			line = slices.Delete(line, i, i+1)
			i--
		}
	}
	return line
}

// quote quotes a word for the shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
