// SPDX-License-Identifier: Apache-2.0

package files

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// RankMark stands for the rank of a worker in the name of a file.
const RankMark = "{rank}"

// HasRank reports whether each rank has a file of its own by that name.
func HasRank(name string) bool { return strings.Contains(name, RankMark) }

// OnceFiles are the options of files that have the same bytes on every rank. One rank writes
// them.
var OnceFiles = []string{"final_regressor", "readable_model", "output_feature_regularizer_binary", "output_feature_regularizer_text", "metrics_file", "log_json"}

// LeaveOut removes a file of OnceFiles from a rank that does not write it. An output
// regulariser loses only its name, since all ranks take part in the pass that it needs.
func LeaveOut(s *cli.Settings, file string) {
	if strings.HasPrefix(file, "output_feature_regularizer") {
		s.Set(file, "")
		return
	}
	s.Set(file)
}

// rankFiles are the options in whose values {rank} stands for the rank.
var rankFiles = slices.Concat(OnceFiles, []string{"data", "initial_regressor", "input_feature_regularizer", "cache_file", "predictions", "raw_predictions", "timeline", "record"})

// FillRank replaces {rank} by the rank.
func FillRank(s *cli.Settings, rank int) {
	for _, name := range rankFiles {
		values := s.All(name)
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, RankMark, strconv.Itoa(rank))
		}
	}
}

// NameCache gives each rank a cache of its own. If own is true, each rank has data files of
// its own, whose caches have different names without it.
func NameCache(w *cli.Settings, rank string, own bool) {
	switch file := w.Get("cache_file"); {
	case file != "" && !strings.Contains(file, RankMark):
		w.Set("cache_file", file+"."+rank)
	case file == "" && w.Has("cache") && !own:
		w.Set("cache_file", w.Get("data")+".cache."+rank)
		w.Set("cache")
	}
}
