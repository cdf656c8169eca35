// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"
)

// rankMark in a file name stands for a worker's rank.
const rankMark = "{rank}"

// onceFiles are the options of files that would be the same of every rank.
var onceFiles = []string{"final_regressor", "readable_model", "output_feature_regularizer_binary", "output_feature_regularizer_text", "metrics_file", "log_json"}

// leaveOut takes a file of onceFiles from a rank that does not write it. An output
// regulariser loses its name only: all ranks take part in the pass that it needs.
func leaveOut(s *settings, file string) {
	if strings.HasPrefix(file, "output_feature_regularizer") {
		s.set(file, "")
		return
	}
	s.set(file)
}

// rankFiles are the options in whose values {rank} stands for the rank.
var rankFiles = slices.Concat(onceFiles, []string{"data", "initial_regressor", "input_feature_regularizer", "cache_file", "predictions", "raw_predictions"})

// fillRank puts the rank where {rank} stands for it.
func fillRank(s *settings, rank int) {
	for _, name := range rankFiles {
		values := s.all(name)
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, rankMark, strconv.Itoa(rank))
		}
	}
}

// nameCache gives each rank a cache of its own. With own each rank has files of its own,
// and their caches have different names anyway.
func nameCache(w *settings, rank string, own bool) {
	switch file := w.get("cache_file"); {
	case file != "" && !strings.Contains(file, rankMark):
		w.set("cache_file", file+"."+rank)
	case file == "" && w.has("cache") && !own:
		w.set("cache_file", w.get("data")+".cache."+rank)
		w.set("cache")
	}
}
