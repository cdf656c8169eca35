// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

// The topic models: K topics of lda-ap, whose shards have about 505 documents.
const (
	topicCount, topicDocuments, topicBits = 10, 2021, 14
	topicBatch, topicPasses               = 64, 20
	topicGoal                             = 3136 // perplexity of the set's batch reference
)

// topicWays are the moments at which ranks average the topics.
var topicWays = []struct {
	name    string
	rounds  int // of a pass
	options []string
}{
	{"SendGradient: after each batch", 8, []string{"--aggregate", "model", "--average_every", strconv.Itoa(topicBatch)}},
	{"after each four batches", 2, []string{"--aggregate", "model", "--average_every", strconv.Itoa(4 * topicBatch)}},
	{"after each pass", 1, nil},
}

var perplexityLine = regexp.MustCompile(`(?m)^perplexity (\S+) of `)

// topicAverages measures the perplexity of topics that are averaged after each batch, as sums of gradients would be, or
// less often (Guo et al., Fig. 6).
func topicAverages(ctx context.Context, data string) (figures []figure, err error) {
	j, end, err := newJobs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	folder := filepath.Join(data, "lda-ap")
	rounds := figure{
		Name: "topics-rounds", Title: "Perplexity by rounds, lda-ap", X: "rounds", Y: "perplexity of held-out documents", LogX: true,
		Notes: fmt.Sprintf("lda-ap: %d documents, %d topics, batches of %d a rank, α 0.1, η 0.1, rate (1+t)^-0.7, seed 1; %d ranks, %s",
			topicDocuments, topicCount, topicBatch, ranks, setup.Machine()),
	}
	seconds := rounds
	seconds.Name, seconds.Title, seconds.X, seconds.LogX = "topics-seconds", "Perplexity by seconds, lda-ap", "seconds since the start of rank 0", false
	var texts, times []string
	for _, way := range topicWays {
		o, err := j.run(ctx, "", append([]string{
			"-d", filepath.Join(folder, "train.vw.gz"), "--cache_file", j.path("topics.cache.{rank}"), "--passes", strconv.Itoa(topicPasses), "--holdout_off",
			"--lda", strconv.Itoa(topicCount), "--lda_alpha", "0.1", "--lda_rho", "0.1", "--lda_D", strconv.Itoa(topicDocuments),
			"--minibatch", strconv.Itoa(topicBatch), "-b", strconv.Itoa(topicBits), "-l", "1", "--power_t", "0.7", "--initial_t", "1",
			"--random_seed", "1", "--shm", "off", "-f", j.path("topics"), "--save_per_pass",
		}, way.options...)...)
		if err != nil {
			return nil, err
		}
		reached, when, best := "not reached", "not reached", math.Inf(1)
		for pass := 1; pass < len(o.seconds); pass++ {
			v, err := j.perplexity(ctx, j.path("topics."+strconv.Itoa(pass)), folder)
			if err != nil {
				return nil, err
			}
			if v <= topicGoal && best > topicGoal {
				reached, when = fmt.Sprintf("%d rounds", pass*way.rounds), fmt.Sprintf("%.3g s", o.seconds[pass])
			}
			best = min(best, v)
			rounds.Add(way.name, point{X: float64(pass * way.rounds), Y: v})
			seconds.Add(way.name, point{X: o.seconds[pass], Y: v})
		}
		texts = append(texts, fmt.Sprintf("%s: %s, best %.1f", way.name, reached, best))
		times = append(times, fmt.Sprintf("%s: %s, %.3g s CPU a rank in all", way.name, when, o.cpu))
	}
	goal := fmt.Sprintf("; to %d: ", topicGoal)
	rounds.Notes += goal + strings.Join(texts, "; ")
	seconds.Notes += goal + strings.Join(times, "; ")
	return []figure{rounds, seconds}, nil
}

// perplexity returns the perplexity of the test documents in a folder.
func (j *jobs) perplexity(ctx context.Context, model, folder string) (float64, error) {
	cmd := exec.CommandContext(ctx, j.gvw, "topics", model, "--perplexity", filepath.Join(folder, "test.vw.gz"), "--vocab", filepath.Join(folder, "vocab.txt"), "--top", "1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	m := perplexityLine.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s: no perplexity in\n%s", strings.Join(cmd.Args, " "), out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
