// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strconv"
	"strings"
)

// maxModels bounds the sums that a reader allocates for a file.
const maxModels = 1 << 20

// Classes returns the number of classes of --oaa, and 1 for any other model. With K classes and
// the width w, K rounded up to a power of two, feature i has the weights i·w to i·w+K-1, modulo
// the size of the table.
func (h *Header) Classes() int {
	values := h.Values("oaa")
	if len(values) == 0 {
		return 1
	}
	if n, err := strconv.Atoi(values[0]); err == nil && n >= 1 && n <= maxModels {
		return n
	}
	return 1
}

// ownRules are rules of vw that keep the sums of one model, however many there are, and do not number
// them in text.
var ownRules = []string{"ftrl", "pistol", "coin", "freegrad", "svrg"}

// unknownLearners are learners of vw whose number of models is not known here.
var unknownLearners = []string{
	"active", "active_cover", "autolink", "automl", "baseline", "baseline_challenger_cb", "cats", "cats_pdf", "cats_tree", "cb",
	"cb_adf", "cb_dro", "cb_explore", "cb_explore_adf", "cb_explore_pdf", "cb_sample", "cbify", "cbify_ldf", "cbzo",
	"ccb_explore_adf", "confidence", "cs_active", "csoaa_ldf", "emt", "epsilon_decay", "experimental_igl", "explore_eval", "get_pmf",
	"interact", "ksvm", "large_action_space", "memory_tree", "multiworld_test", "noop", "OjaNewton", "ot", "plt", "pmf_to_pdf",
	"print", "recall_tree", "replay_b", "replay_c", "replay_m", "sample_pdf", "search", "search_task", "sendto", "slates", "top",
	"wap", "wap_ldf", "warm_cb",
}

// models returns the number of models whose sums a file of --per_model_save_load has, and 0 if it
// has those of one model only. Learners on top of each other multiply the number, as in vw.
func (h *Header) models() (int, error) {
	for _, name := range ownRules {
		if h.Has(name) {
			return 0, nil
		}
	}
	n := 1
	for _, l := range severalModels {
		values := h.Values(l.option)
		if len(values) == 0 {
			continue
		}
		k, err := l.models(h, values)
		if err == nil && k > maxModels/n {
			err = fmt.Errorf("the learners have more than %d models", maxModels)
		}
		if err != nil {
			return 0, fmt.Errorf("--per_model_save_load of an unknown number of models: --%s %s: %w", l.option, strings.Join(values, " "), err)
		}
		n *= k
	}
	return n, nil
}

// readModels returns the number of models in a file that keeps --per_model_save_load, and whose resume
// flag is at an offset.
func (h *Header) readModels(at int64) (int, error) {
	for _, name := range unknownLearners {
		if h.Has(name) {
			return 0, fail(at, "resume flag", ErrVersion, "--per_model_save_load of --%s, whose number of models gvw does not know: train without --per_model_save_load", name)
		}
	}
	n, err := h.models()
	if err != nil {
		return 0, fail(at, "resume flag", ErrDamaged, "%v", err)
	}
	return n, nil
}

// severalModels are the learners of several models. Their numbers are those that vw 9.11.9 writes, at
// least 1.
var severalModels = []struct {
	option string
	models func(h *Header, values []string) (int, error)
}{
	{"oaa", timesK(1, 0)},
	{"csoaa", timesK(1, 0)},
	{"multilabel_oaa", timesK(1, 0)},
	{"bootstrap", timesK(1, 0)},
	{"boosting", timesK(1, 0)},
	{"nn", timesK(1, 1)},
	{"new_mf", timesK(2, 1)},
	{"log_multi", timesK(1, -1)},
	{"ect", ectModels},
	{"lrq", lrqModels},
	{"lrqfa", lrqfaModels},
}

// timesK returns a function that computes factor·K + more of an option's value K.
func timesK(factor, more int) func(*Header, []string) (int, error) {
	return func(_ *Header, values []string) (int, error) {
		k, err := modelCount(values[0], 1)
		return max(1, factor*k+more), err
	}
}

// ectModels returns the number of matches: each of K classes but one loses in each of E+1
// tournaments, and E matches follow between their winners.
func ectModels(h *Header, values []string) (int, error) {
	k, err := modelCount(values[0], 1)
	if err != nil || k == 1 {
		return 1, err
	}
	tournaments := 1
	if given := h.Values("error"); len(given) > 0 {
		e, err := modelCount(given[0], 0)
		if err != nil {
			return 0, fmt.Errorf("--error: %w", err)
		}
		tournaments += e
	}
	return k*tournaments - 1, nil
}

// lrqModels returns one more than the greatest rank of the pairs.
func lrqModels(_ *Header, values []string) (int, error) {
	most := 0
	for _, v := range values {
		k, err := modelCount(v[min(2, len(v)):], 1)
		if err != nil {
			return 0, err
		}
		most = max(most, k)
	}
	return 1 + most, nil
}

// lrqfaModels returns one more than the rank times the number of namespaces.
func lrqfaModels(_ *Header, values []string) (int, error) {
	names := strings.TrimRight(values[0], "0123456789")
	k, err := modelCount(values[0][len(names):], 1)
	return 1 + len(names)*k, err
}

// modelCount parses a number from low to maxModels.
func modelCount(text string, low int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > maxModels {
		return 0, fmt.Errorf("%.20q: want a number from %d to %d", text, low, maxModels)
	}
	return n, nil
}
