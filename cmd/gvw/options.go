// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// learnConfig is the learner's configuration for a command line: everything
// but files and talk.
func learnConfig(c *cli.Context) (learn.Config, error) {
	// vw's numbers are float32.
	f32 := func(name string) float32 { return float32(c.Float64(name)) }
	whole := func(name string) int { return int(c.Uint64(name)) }
	cfg := learn.Config{
		Data: learn.DataConfig{
			KillCache:     c.Bool("kill_cache"),
			Shuffle:       c.Bool("shuffle"),
			ShuffleSeed:   c.Uint64("random_seed"),
			ShuffleMemory: whole("shuffle_memory") << 20,
			Examples:      whole("examples"),
			PassLength:    whole("initial_pass_length"),
			CSV: csv.Config{
				Separator:       c.String("csv_separator"),
				Header:          c.String("csv_header"),
				NoFileHeader:    c.Bool("csv_no_file_header"),
				NamespaceValues: c.String("csv_ns_value"),
				Label:           c.String("label"),
			},
			Strict:  c.Bool("strict_parse"),
			MaxLine: whole("max_line"),
		},
		Passes:   whole("passes"),
		TestOnly: c.Bool("testonly"),
		Holdout: learn.HoldoutConfig{
			Off:            c.Bool("holdout_off"),
			Asked:          c.IsSet("holdout_off") || c.IsSet("holdout_period") || c.IsSet("holdout_after") || c.IsSet("early_terminate"),
			Period:         whole("holdout_period"),
			After:          whole("holdout_after"),
			EarlyTerminate: whole("early_terminate"),
		},
		Features: learn.FeatureConfig{
			Bits:       uint(c.Uint64("bit_precision")),
			BitsSet:    c.IsSet("bit_precision"),
			HashAll:    c.String("hash") == "all",
			HashSet:    c.IsSet("hash"),
			HashSeed:   learn.Option[uint32]{Value: uint32(c.Uint64("hash_seed")), Set: c.IsSet("hash_seed")},
			NoConstant: c.Bool("noconstant"),
			Constant:   f32("constant"),
			Namespaces: learn.Namespaces{
				Quadratic:       c.StringSlice("quadratic"),
				Cubic:           c.StringSlice("cubic"),
				Interactions:    c.StringSlice("interactions"),
				Permutations:    c.Bool("permutations"),
				LeaveDuplicates: c.Bool("leave_duplicate_interactions"),
				Ignore:          c.StringSlice("ignore"),
				IgnoreLinear:    c.StringSlice("ignore_linear"),
				Keep:            c.StringSlice("keep"),
				Redefine:        c.StringSlice("redefine"),
				NGrams:          c.StringSlice("ngram"),
				Skips:           c.StringSlice("skips"),
				Limits:          limits(c.StringSlice("feature_limit")),
				Affix:           c.String("affix"),
				Spelling:        c.StringSlice("spelling"),
				ChainHash:       c.Bool("chain_hash"),
				SortFeatures:    c.Bool("sort_features"),
				Dictionary:      c.StringSlice("dictionary"),
			},
		},
		SGD: learn.SGDConfig{
			Plain:             c.Bool("sgd"),
			Adaptive:          c.Bool("adaptive"),
			Normalized:        c.Bool("normalized"),
			Invariant:         c.Bool("invariant"),
			LearningRate:      learn.Option[float32]{Value: f32("learning_rate"), Set: c.IsSet("learning_rate")},
			PowerT:            learn.Option[float32]{Value: f32("power_t"), Set: c.IsSet("power_t")},
			InitialT:          learn.Option[float32]{Value: f32("initial_t"), Set: c.IsSet("initial_t")},
			DecayLearningRate: f32("decay_learning_rate"),
			Adax:              c.Bool("adax"),
		},
		Loss: learn.LossConfig{
			QuantileTau:   f32("quantile_tau"),
			ExpectileQ:    f32("expectile_q"),
			LogisticMin:   learn.Option[float32]{Value: f32("logistic_min"), Set: c.IsSet("logistic_min")},
			LogisticMax:   learn.Option[float32]{Value: f32("logistic_max"), Set: c.IsSet("logistic_max")},
			MinPrediction: learn.Option[float32]{Value: f32("min_prediction"), Set: c.IsSet("min_prediction")},
			MaxPrediction: learn.Option[float32]{Value: f32("max_prediction"), Set: c.IsSet("max_prediction")},
			Function:      c.String("loss_function"),
			FunctionSet:   c.IsSet("loss_function"),
			Link:          c.String("link"),
			LinkSet:       c.IsSet("link"),
			Binary:        c.Bool("binary"),
		},
		Reg: learn.RegConfig{
			SparseL2:        f32("sparse_l2"),
			L1State:         float64(f32("l1_state")),
			L2State:         learn.Option[float64]{Value: float64(f32("l2_state")), Set: c.IsSet("l2_state")},
			L1:              float64(max(0, f32("l1"))), // vw reads a negative one as 0
			L2:              float64(max(0, f32("l2"))),
			SGDL2:           float64(f32("sgd_l2")),
			NoBias:          c.Bool("no_bias_regularization"),
			Input:           c.String("input_feature_regularizer"),
			Output:          c.String("output_feature_regularizer_binary"),
			OutputText:      c.String("output_feature_regularizer_text"),
			OutputOnAnyRank: c.IsSet("output_feature_regularizer_binary") || c.IsSet("output_feature_regularizer_text"),
		},
		Model: learn.ModelConfig{
			FeatureMask: c.String("feature_mask"),
			Start: sgd.Start{
				Weight:    f32("initial_weight"),
				Random:    c.Bool("random_weights"),
				Normal:    c.Bool("normal_weights"),
				Truncated: c.Bool("truncated_normal_weights"),
				Seed:      merand.State(c.Uint64("random_seed")),
			},
			Final:            c.String("final_regressor"),
			PredictOnly:      c.Bool("predict_only_model"),
			HexWeights:       c.Bool("hexfloat_weights"),
			ID:               c.String("id"),
			Readable:         c.String("readable_model"),
			InvertHash:       c.String("invert_hash"),
			SavePerPass:      c.Bool("save_per_pass"),
			PreserveCounters: c.Bool("preserve_performance_counters"),
		},
		FTRL: learn.FTRLConfig{
			Rule:  follower(c),
			Alpha: learn.Option[float32]{Value: f32("ftrl_alpha"), Set: c.IsSet("ftrl_alpha")},
			Beta:  learn.Option[float32]{Value: f32("ftrl_beta"), Set: c.IsSet("ftrl_beta")},
		},
		OAA: learn.OAAConfig{
			Classes:       whole("oaa"),
			Subsample:     whole("oaa_subsample"),
			Probabilities: c.Bool("probabilities"),
			Scores:        c.Bool("scores"),
			Indexing:      learn.Option[int]{Value: indexing(c.String("indexing")), Set: c.IsSet("indexing")},
			NamedLabels:   c.String("named_labels"),
		},
		Batch: learn.BatchConfig{
			BFGS:              c.Bool("bfgs"),
			ConjugateGradient: c.Bool("conjugate_gradient"),
			HessianOn:         c.Bool("hessian_on"),
			Mem:               learn.Option[int]{Value: whole("mem"), Set: c.IsSet("mem")},
			Termination:       learn.Option[float64]{Value: float64(f32("termination")), Set: c.IsSet("termination")},
		},
		Output:  learn.OutputConfig{Predictions: c.String("predictions"), RawPredictions: c.String("raw_predictions")},
		Metrics: learn.MetricsConfig{File: c.String("metrics_file"), Extra: c.String("extra_metrics")},
		Diagnostics: learn.DiagnosticsConfig{
			Quiet:          c.Bool("quiet"),
			NoBestConstant: c.Bool("dont_output_best_constant"),
			Progress:       c.String("progress"),
		},
	}
	weights, err := classWeights(c.StringSlice("classweight"))
	if err != nil {
		return learn.Config{}, usageErrorf("--classweight: %w", err)
	}
	cfg.Data.ClassWeights = weights
	if c.IsSet("metrics") {
		set, err := metric.Parse(c.String("metrics"))
		if err != nil {
			return learn.Config{}, usageErrorf("--metrics: %w", err)
		}
		cfg.Metrics.Measures = set
	}
	for _, format := range learn.Formats {
		if cfg.Data.Format == "" && c.Bool(format) { // of several the first, as in vw
			cfg.Data.Format = format
		}
	}
	if models := c.StringSlice("initial_regressor"); len(models) > 0 {
		cfg.Model.Initial = models[0]
	}
	if c.IsSet("bfgs_semantics") {
		semantics, err := optim.ParseSemantics(c.String("bfgs_semantics"))
		if err != nil {
			return learn.Config{}, usageErrorf("--bfgs_semantics: %w", err)
		}
		cfg.Batch.Semantics = semantics
	}
	if c.IsSet("hybrid") {
		h, err := parseHybrid(c.String("hybrid"))
		if err != nil {
			return learn.Config{}, usageErrorf("--hybrid: %w", err)
		}
		cfg.Hybrid = h
	}
	return cfg, nil
}

// limits are the values of --feature_limit. As in vw the number of a value like a:2,
// which begins with a colon there, is 0.
func limits(values []string) []string {
	list := slices.Clone(values)
	for i, v := range list {
		if len(v) > 1 && v[1] == ':' && (v[0] < '0' || v[0] > '9') {
			list[i] = v[:1] + "0"
		}
	}
	return list
}

// follower is the rule of the FTRL family that was asked for.
func follower(c *cli.Context) ftrl.Rule {
	for _, rule := range []ftrl.Rule{ftrl.Proximal, ftrl.Pistol, ftrl.Coin} {
		if c.Bool(rule.String()) {
			return rule
		}
	}
	return ftrl.None
}

// indexing is the number of the first label.
func indexing(value string) int {
	if value == "1" {
		return 1
	}
	return 0
}

// classWeights reads lists like 1:3,-1:0.5; of a class that is there twice the
// last weight counts, as in vw.
func classWeights(lists []string) ([]learn.ClassWeight, error) {
	var all []learn.ClassWeight
	for _, list := range lists {
		for pair := range strings.SplitSeq(list, ",") {
			class, weight, found := strings.Cut(pair, ":")
			label, err1 := strconv.ParseInt(class, 10, 32)
			w, err2 := strconv.ParseFloat(weight, 32)
			if !found || err1 != nil || err2 != nil || !(w >= 0) || math.IsInf(w, 0) {
				return nil, fmt.Errorf("%q is not CLASS:WEIGHT, like -1:0.5: a whole number, and a weight of 0 or more", pair)
			}
			i := slices.IndexFunc(all, func(c learn.ClassWeight) bool { return c.Label == float32(label) })
			if i < 0 {
				i = len(all)
				all = append(all, learn.ClassWeight{Label: float32(label)})
			}
			all[i].Weight = float32(w)
		}
	}
	return all, nil
}

// parseHybrid reads P:Q.
func parseHybrid(s string) (*learn.Hybrid, error) {
	p, q, found := strings.Cut(s, ":")
	sgd, err1 := strconv.ParseUint(p, 10, 31)
	lbfgs, err2 := strconv.ParseUint(q, 10, 31)
	if !found || err1 != nil || err2 != nil || sgd < 1 || lbfgs < 2 {
		return nil, fmt.Errorf("%q is not P:Q, like 2:20: P ≥ 1 passes of SGD, then up to Q ≥ 2 of L-BFGS (the curvature pass counts)", s)
	}
	return &learn.Hybrid{SGDPasses: int(sgd), LBFGSPasses: int(lbfgs)}, nil
}

// place finds this process's rank, if it has one.
func place(c *cli.Context) (launch.Place, bool, error) {
	p, ok, err := launch.Detect(os.LookupEnv, launch.Flags{
		Given: c.IsSet("node"), Rank: int(c.Uint64("node")), Total: int(c.Uint64("total")),
	})
	if err != nil {
		return p, ok, usageErrorf("%w", err)
	}
	return p, ok, nil
}

// clusterConfig says how to join the job.
func clusterConfig(c *cli.Context, p launch.Place) (*allreduce.Config, error) {
	host := c.String("span_server")
	if strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return nil, usageErrorf("--span_server %s: give the host alone, and its port by --span_server_port", host)
	}
	port := uint64(defaultServerPort)
	if c.IsSet("span_server_port") {
		port = c.Uint64("span_server_port")
	}
	var name schedule.Name
	if c.IsSet("schedule") {
		var err error
		if name, err = schedule.ParseName(c.String("schedule")); err != nil {
			return nil, usageErrorf("--schedule: %w", err)
		}
	}
	how := allreduce.TransportTCP
	if c.IsSet("transport") {
		var err error
		if how, err = allreduce.ParseTransport(c.String("transport")); err != nil {
			return nil, usageErrorf("--transport: %w", err)
		}
	}
	return &allreduce.Config{
		Server:       net.JoinHostPort(host, strconv.FormatUint(port, 10)),
		Job:          protocol.Job{UniqueID: c.Uint64("unique_id"), RunKey: c.String("run_id")},
		Rank:         p.Rank,
		Total:        p.Total,
		Generation:   uint32(c.Uint64("generation")),
		StartTimeout: c.Duration("start_timeout"),
		DialTimeout:  min(c.Duration("start_timeout"), maxDial),
		Heartbeat:    c.Duration("heartbeat"),
		LostAfter:    c.Duration("lost_after"),
		Listen:       listenAt(c.String("bind"), c.String("port_range")),
		Advertise:    c.String("advertise"),
		Schedule:     name,
		NoChecksum:   c.String("checksum") == "off",

		NoSharedMemory: c.String("shm") == "off",
		Transport:      how,
		VerbsDevice:    c.String("verbs_device"),
		TraceDir:       c.String("trace_dir"),

		Elastic:        c.Bool("elastic"),
		OnLoss:         onLoss(c.String("on_loss")),
		ReplaceTimeout: c.Duration("replace_timeout"),
		SlowFactor:     slowFactor(c),
		ServerTimeout:  c.Duration("server_timeout"),
		Stall:          c.Duration("stall_timeout"),
	}, nil
}

// maxDial is how long the server is tried at most, as vw does; less where all ranks must come
// sooner.
const maxDial = 100 * time.Second

// onLossNames are the values of --on_loss, by their numbers.
var onLossNames = []string{allreduce.Abort: "abort", allreduce.Wait: "wait", allreduce.Shrink: "shrink"}

// onLoss is what a job does about the loss of a rank; nothing said is abort.
func onLoss(name string) allreduce.OnLoss {
	return allreduce.OnLoss(max(0, slices.Index(onLossNames, name)))
}

// defaultSlowFactor is how many times slower than the others a rank is that yields.
const defaultSlowFactor = 2

// slowFactor is 0 where no rank can yield to another attempt.
func slowFactor(c *cli.Context) float64 {
	switch {
	case onLoss(c.String("on_loss")) == allreduce.Abort:
		return 0
	case c.IsSet("slow_factor"):
		return c.Float64("slow_factor")
	}
	return defaultSlowFactor
}

// listenAt is where this rank listens for others.
func listenAt(host, ports string) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), cmp.Or(ports, "0"))
}

// defaultServerPort is vw's.
const defaultServerPort = 26543
