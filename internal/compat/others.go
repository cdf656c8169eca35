// SPDX-License-Identifier: Apache-2.0

package compat

// bandits is said of a third of them.
const bandits = "gvw learns no contextual bandits: use vw"

// Driver is the group of options that vw's program has and its library has not.
const Driver = "Driver"

var driver = []group{
	{Driver, []row{
		{"onethread", Silent, "the model never depends on the number of threads"},
		{"args=", Works, "learners run one after the other, so the data is a file; a line whose options would read other examples than the first line's is refused; each model keeps the options of the first line that decide how its examples were read"},
	}},
}

// others are the reductions that gvw leaves to vw, each as a whole.
func others() []group {
	return []group{
		{"Active Learning", learner("gvw asks for no labels: score candidates with -p, or use vw", "active", "simulation direct mellowness=")},
		{"Active Learning with Cover", learner("gvw asks for no labels: score candidates with -p, or use vw", "active_cover", "alpha= beta_scale= cover= oracular")},
		{"Audit Regressor", refused("use --invert_hash or --audit", "audit_regressor=")},
		{"Autolink", refused("use --link, or --interactions for products", "autolink=")},
		{"Automl", learner("choose interactions by --valid or holdout loss", "automl=", `
		default_lease= priority_type= priority_challengers= verbose_metrics csv_trace interaction_type=
		oracle_type= debug_reversed_learn automl_significance_level= fixed_significance_level
		reward_as_cost tol_x= opt_func=`)},
		{"Baseline", learner("--initial_weight and the constant feature do for most; else use vw", "baseline", "lr_multiplier= global_only check_enabled")},
		{"Baseline challenger", learner(bandits, "baseline_challenger_cb", "cb_c_alpha= cb_c_tau=")},
		{"CATS Tree", learner(bandits, "cats_tree=", "tree_bandwidth=")},
		{"CB Distributionally Robust Optimization", learner(bandits, "cb_dro", "cb_dro_alpha= cb_dro_tau= cb_dro_wmax=")},
		{"CB Sample", refused(bandits, "cb_sample")},
		{"CBify", learner(bandits, "cbify= cats=", `
		cbify_cs cbify_reg cb_discrete min_value= max_value= loss_option= loss_report= loss_01_ratio=
		loss0= loss1= flip_loss_sign`)},
		{"Conditional Contextual Bandit Exploration with ADF", learner(bandits, "ccb_explore_adf", "all_slots_loss no_predict ccb_no_slot_index cb_type=")},
		{"Confidence", learner("use vw", "confidence", "confidence_after_training")},
		{"Contextual Bandit Exploration", learner(bandits, "cb_explore=", "first= epsilon= bag= nounif psi=")},
		{"Contextual Bandit Exploration with ADF (RegCB)", learner(bandits, "cb_explore_adf regcbopt", "regcb cb_min_cost= cb_max_cost= first_only")},
		{"Contextual Bandit Exploration with ADF (SquareCB)", learner(bandits, "", "squarecb gamma_scale= gamma_exponent= elim")},
		{"Contextual Bandit Exploration with ADF (bagging)", learner(bandits, "", "greedify")},
		{"Contextual Bandit Exploration with ADF (rnd)", learner(bandits, "", "rnd= rnd_alpha= rnd_invlambda=")},
		{"Contextual Bandit Exploration with ADF (softmax)", learner(bandits, "", "softmax lambda=")},
		{"Contextual Bandit Exploration with ADF (synthetic cover)", learner(bandits, "", "synthcover synthcoverpsi= synthcoversize=")},
		{"Contextual Bandit", learner(bandits, "cb=", "eval cb_force_legacy")},
		{"Contextual Bandit with Action Dependent Features", learner(bandits, "cb_adf", "rank_all clip_p=")},
		{"Contextual Bandit: cb -> cb_adf", learner(bandits, "", "cb_to_cbadf=")},
		{"Continuous Action Contextual Bandit using Zeroth-Order Optimization", learner(bandits, "cbzo", "policy=")},
		{"Continuous Action Tree with Smoothing with Full Pdf", refused(bandits, "cats_pdf=")},
		{"Continuous Actions Tree with Smoothing", learner(bandits, "", "bandwidth=")},
		{"Continuous Actions: Convert to Pmf", refused(bandits, "get_pmf")},
		{"Continuous Actions: Sample Pdf", refused(bandits, "sample_pdf")},
		{"Continuous Actions: cb_explore_pdf", refused(bandits, "cb_explore_pdf")},
		{"Convert Discrete PMF into Continuous PDF", refused(bandits, "pmf_to_pdf=")},
		{"Cost Sensitive Active Learning", learner("gvw asks for no labels: use vw", "cs_active=", `
		domination= range_c= max_labels= min_labels= cost_max= cost_min= csa_debug`)},
		{"Cost Sensitive One Against All with Label Dependent Features", learner("--oaa learns classes; label dependent features need vw", "csoaa_ldf=", "ldf_override= csoaa_rank")},
		{"Cost Sensitive Weighted All-Pairs with Label Dependent Features", refused("--oaa learns classes; label dependent features need vw", "wap_ldf=")},
		{"Eigen Memory Tree", learner("use --oaa, or vw", "emt", "emt_tree= emt_leaf= emt_scorer= emt_initial= emt_router=")},
		{"Epsilon-Decaying Exploration", learner(bandits, "epsilon_decay", `
		model_count= min_scope= epsilon_decay_significance_level= epsilon_decay_audit= constant_epsilon
		bonferroni_denominator= min_champ_examples= initial_epsilon= shift_model_bounds=
		challenger_epsilon`)},
		{"Experience Replay / replay_b", learner("use --passes", "replay_b=", "replay_b_count=")},
		{"Experience Replay / replay_c", learner("use --passes", "replay_c=", "replay_c_count=")},
		{"Experience Replay / replay_m", learner("use --passes", "replay_m=", "replay_m_count=")},
		{"Experimental: Contextual Bandit Exploration with ADF with graph feedback", learner(bandits, "", "graph_feedback")},
		{"Experimental: Contextual Bandit Exploration with ADF with large action space filtering", learner(bandits, "large_action_space", `
		max_actions= spanner_c= thread_pool_size= block_size= las_hint_explicit_simd two_pass_svd
		action_cache_slack=`)},
		{"Explore Evaluation", learner(bandits, "explore_eval", "multiplier= target_rate=")},
		{"Interact via Elementwise Multiplication", refused("use -q", "interact=")},
		{"Interaction Grounded Learning", refused(bandits, "experimental_igl")},
		{"Kernel SVM", learner("gvw is linear: use --interactions, or vw", "ksvm", `
		reprocess= pool_greedy para_active pool_size= subsample= kernel= degree=`)},
		{"Make csoaa_ldf into Contextual Bandit", refused(bandits, "cbify_ldf")},
		{"Memory Tree", learner("use --oaa, or vw", "memory_tree=", `
		max_number_of_labels= leaf_example_multiplier= dream_repeats= top_K= learn_at_leaf oas
		dream_at_update= online`)},
		{"Multiworld Testing", learner(bandits, "multiworld_test=", "learn= exclude_eval")},
		{"Network sending", refused("copy the data, or pipe it through ssh", "sendto=")},
		{"Noop Base Learner", refused("-t learns nothing", "noop")},
		{"Offset Tree", refused("use --oaa", "ot=")},
		{"OjaNewton", learner("use --bfgs", "OjaNewton", `
		sketch_size= epoch_size= alpha_inverse= learning_rate_cnt= normalize= random_init=`)},
		{"Print Psuedolearner", refused("use --audit", "print")},
		{"Probabilistic Label Tree", learner("use --oaa, or vw", "plt=", "kary_tree= threshold= top_k= plt_force_load_legacy_model")},
		{"Recall Tree", learner("use --oaa, or vw", "recall_tree=", "max_candidates= bern_hyper= max_depth= node_only randomized_routing")},
		{"Search", learner("gvw learns no structured prediction: use vw", "search_task=", `
		search= search_metatask= search_interpolation= search_rollout= search_rollin=
		search_passes_per_policy= search_beta= search_alpha= search_total_nb_policies=
		search_trained_nb_policies= search_allowed_transitions= search_subsample_time=
		search_neighbor_features= search_rollout_num_steps= search_history_length= search_no_caching
		search_xv search_perturb_oracle= search_linear_ordering search_active_verify=
		search_save_every_k_runs=`)},
		{"Slates", refused(bandits, "slates")},
		{"Top K", refused("sort the predictions of -p", "top=")},
		{"Warm start contextual bandit", learner(bandits, "warm_cb=", `
		warm_cb_cs warm_start= interaction= warm_start_update interaction_update
		corrupt_type_warm_start= corrupt_prob_warm_start= choices_lambda= lambda_scheme=
		overwrite_label= sim_bandit`)},
	}
}
