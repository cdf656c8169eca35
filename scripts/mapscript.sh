#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Trains over files in HDFS: a streaming job of N maps, one rank each, submitted from a
# gateway, where the server of the ranks runs. At the end the model and rank 0's log are
# in OUT, and copies of them here.
set -euo pipefail

usage() {
	cat <<-'TEXT'
		usage: mapscript.sh OUT IN N [OPTIONS]

		  OUT   folder of HDFS for the model; must not exist
		  IN    file or folder of HDFS with the examples
		  N     maps, all at the same time

		Options of the job; all others are the learner's (gvw --help):
		  --dry_run           print the command that would submit the job, and end
		  --overwrite         replace OUT: it is moved aside just before the job is submitted,
		                      and removed when the job has succeeded
		  --fetch DIR         where copies of model and log go (default: here)
		  --server HOST       where the ranks find this machine (default: its full name)
		  --port N            port of the server (default 26543)
		  --memory MB         of each map's container (default: the cluster's)
		  --java_mb MB        of that, the heap of its JVM (default 100)
		  --queue NAME        YARN's queue
		  --attempts N        of each map, at most (default 4)
		  --timeout T         until all maps must have begun, like 10m (default 10m)
		  --elastic           train on the splits of the maps that have begun then, also
		                      where not all can run at once
		  --no_speculation    no second attempts of slow maps
		  --speculator JAR    what lets YARN start them (scripts/java/README.md)
		  --file FILE         ship one more file; repeatable
		  --secret_file FILE  only ranks that have this secret join; it is shipped to them
		  --env NAME=VALUE    a variable of the mappers, without blanks; repeatable
		  -D NAME=VALUE       a property of the job; repeatable
		  --force             submit a job whose maps cannot all run at once

		Without options of the learner: -b 24 --loss_function logistic --hybrid 1:20 --mem 5

		environment: GVW, SPANNING_TREE   the programs (default: beside this script, ../bin, PATH)
		             HADOOP_CONF_DIR      the cluster
		             STREAMING_JAR        hadoop-streaming.jar (default: mapred streaming knows)
	TEXT
}

say() { echo "mapscript: $*" >&2; }
die() {
	say "$1"
	exit "${2:-1}"
}

# program NAME prints the path of one of our programs.
program() {
	local p
	for p in "$here/$1" "$here/../bin/$1"; do
		[ -x "$p" ] && { readlink -f "$p"; return; }
	done
	command -v "$1" || die "$1 is neither beside this script nor in ../bin nor in PATH: make build"
}

# inside FOLDER reads a path and the listing of its files, and prints the first path that may be FOLDER
# or below it. It compares the paths of all file systems, since only Hadoop knows which is the default
# one, and takes any user's home for that of a relative path.
inside() {
	FOLDER=$1 awk '
		# parts sets to[1], to[2]... to the names in a path, and returns their number.
		function parts(path, to,    names, n, i, k) {
			if (sub("^[A-Za-z][-A-Za-z0-9+.]*:(//[^/]*)?", "", path)) path = "/" path
			if (path !~ "^/") path = "/user/:/" path # no name in HDFS has a colon
			n = split(path, names, "/")
			k = 0
			for (i = 1; i <= n; i++)
				if (names[i] == "..") k -= (k > 0)
				else if (names[i] != "" && names[i] != ".") to[++k] = names[i]
			return k
		}
		BEGIN { depth = parts(ENVIRON["FOLDER"], folder) }
		{
			if (found) next
			path = $0
			if (NR > 1) {
				if (path !~ "^[-d]") next # a heading
				for (i = 1; i <= 7; i++) sub("^[^ ]+ +", "", path)
			}
			directory = NR > 1 && $0 ~ "^d"
			n = parts(path, names)
			# A folder that is listed itself is in the input folder, whose subfolders are no input.
			if (n < depth || directory && n == depth) next
			for (i = 1; i <= depth; i++)
				if (names[i] != folder[i] && names[i] != ":" && folder[i] != ":") next
			print path
			found = 1
		}'
}

# inputs prints the URLs among the learner's words that are not those of outputs, one a line.
inputs() {
	local word option=''
	for word in "${learner[@]}"; do
		case $word in
		--*=*) option=${word%%=*} ;;
		-*) option=$word ;;
		esac
		case ${option//-/_} in
		_[fpr] | __final_regressor | __readable_model | __invert_hash | __output_feature_regularizer_* | __predictions | __raw_predictions | __metrics_file | __extra_metrics) ;;
		__checkpoint) [[ " ${learner[*]}" != *" --resume"* ]] || url "$word" ;; # otherwise it is only written
		*) url "$word" ;;
		esac
		case $word in -*) ;; *) option='' ;; esac # it was the option's value
	done
}
# url prints the URL in a word, unless Hadoop cannot remove what it names.
url() {
	local pattern='[A-Za-z][A-Za-z0-9+.-]*://.*' # the word may be --x=URL or NAME:URL
	if [[ $1 =~ $pattern ]]; then
		case ${BASH_REMATCH[0]} in [Ff][Ii][Ll][Ee]:* | http:* | https:*) ;; *) printf '%s\n' "${BASH_REMATCH[0]}" ;; esac
	fi
}

here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) usage; exit ;; esac
[ $# -ge 3 ] || { usage >&2; exit 1; }
out=$1 in=$2 maps=$3
shift 3
case $maps in '' | *[!0-9]* | 0*) die "N is a number of maps, got '$maps'" ;; esac

dry=0 overwrite=0 fetch=. server=$(hostname -f 2>/dev/null || hostname) port=26543 memory='' java=100 queue=''
attempts=4 timeout=10m speculate=true speculator='' force=0 elastic=0
secret='' files=() env=() properties=() learner=()
while [ $# -gt 0 ]; do
	need() { [ $# -ge 2 ] || die "$1 lacks its value"; }
	case $1 in
	--dry_run | --dry-run) dry=1 ;;
	--overwrite) overwrite=1 ;;
	--force) force=1 ;;
	--elastic) elastic=1 ;;
	--no_speculation | --no-speculation) speculate=false ;;
	--fetch) need "$@"; fetch=$2; shift ;;
	--server) need "$@"; server=$2; shift ;;
	--port) need "$@"; port=$2; shift ;;
	--memory) need "$@"; memory=$2; shift ;;
	--java_mb | --java-mb) need "$@"; java=$2; shift ;;
	--queue) need "$@"; queue=$2; shift ;;
	--attempts) need "$@"; attempts=$2; shift ;;
	--timeout) need "$@"; timeout=$2; shift ;;
	--speculator) need "$@"; speculator=$2; shift ;;
	--file) need "$@"; files+=("$2"); shift ;;
	--secret_file | --secret-file) need "$@"; secret=$2; shift ;;
	--env) need "$@"; env+=(-cmdenv "$2"); shift ;;
	-D) need "$@"; properties+=(-D "$2"); shift ;;
	*) learner+=("$1") ;;
	esac
	shift
done
[ ${#learner[@]} -gt 0 ] || learner=(-b 24 --loss_function logistic --hybrid 1:20 --mem 5)
for f in ${files[@]+"${files[@]}"} ${speculator:+"$speculator"} ${secret:+"$secret"}; do
	[ -r "$f" ] || die "cannot read $f"
done
if ! [ -d "$fetch" ] || ! [ -w "$fetch" ]; then die "--fetch $fetch: there is no such folder to write to"; fi

gvw=${GVW:-$(program gvw)} tree=${SPANNING_TREE:-$(program spanning_tree)}
if ! [ -x "$gvw" ] || ! [ -x "$tree" ]; then exit 1; fi # program has said why
if [ -n "${STREAMING_JAR:-}" ]; then submit=(hadoop jar "$STREAMING_JAR"); else submit=(mapred streaming); fi
for p in hadoop "${submit[0]}"; do
	command -v "$p" >/dev/null || die "there is no $p in the path: this must run where Hadoop's commands are" 5
done

# Invalid options of the learner are reported once here instead of N times by the maps.
cache=(--cache_file /nonexistent/gvw.cache)
case " ${learner[*]}" in *" --cache_file"* | *" --cache-file"*) cache=() ;; esac
"$gvw" "${learner[@]}" -f model ${cache[@]+"${cache[@]}"} -d /dev/null --dry_run >/dev/null ||
	die "the learner does not take these options: ${learner[*]}" 1

# streaming takes the mapper's command apart at blanks, with quotes and without a shell.
command="gvw mapper --log log --"
[ -z "$secret" ] || learner+=(--secret_file gvw.secret)
ours=(-f model --start_timeout "$timeout")
[ $elastic = 0 ] || ours+=(--elastic)
for word in "${learner[@]}" "${ours[@]}"; do
	case $word in
	*[\"\']*) die "an option with a quote cannot be passed on to the mappers: $word" ;;
	*[[:space:]]*) word="\"$word\"" ;;
	esac
	command+=" $word"
done

listing=$(hadoop fs -ls "$in") || die "cannot list the input $in: see above" 5
if [ $overwrite = 1 ]; then
	# hadoop fs -mv takes a pattern, and could move other folders.
	case $out in *[*?[{\\]*) die "with --overwrite OUT cannot be a pattern, got $out" ;; esac
	lost=$(printf '%s\n' "$in" "$listing" | inside "$out") || die "cannot compare OUT and IN: awk has failed" 5
	case $lost in
	'') ;;
	"$in") die "--overwrite would remove the input: $in is $out or in it; choose another OUT" ;;
	*) die "--overwrite would remove the input: $in has files in $out; choose another OUT" ;;
	esac
	while IFS= read -r file; do
		found=''
		case $file in
		*[*?[{]*) found=$(hadoop fs -ls "$file" </dev/null) || die "cannot list $file, which the learner reads: see above" 5 ;;
		esac
		lost=$(printf '%s\n' "$file" "$found" | inside "$out") || die "cannot compare OUT and $file: awk has failed" 5
		[ -z "$lost" ] || die "--overwrite would remove a file that the learner reads: $file is in $out; choose another OUT"
	done < <(inputs)
fi
split=$(printf '%s\n' "$listing" | "$gvw" hadoop split --maps "$maps") || die "$in cannot be read by $maps maps" $?
exists=0
if [ $dry = 0 ]; then
	# Create OUT here to report missing permission clearly. The job creates it again itself.
	if said=$(hadoop fs -mkdir "$out" 2>&1); then
		hadoop fs -rmdir "$out" || die "cannot remove $out again, which was made to see whether that is allowed" 5
	else
		case $said in
		*"File exists"*)
			[ $overwrite = 1 ] || die "$out exists: --overwrite replaces it" 5
			exists=1
			;;
		*"No such file or directory"*) ;; # its folder is not there either
		*)
			printf '%s\n' "$said" >&2
			die "cannot create the output $out: see above" 5
			;;
		esac
	fi
	slots=(--maps "$maps")
	[ -z "$memory" ] || slots+=(--map_mb "$memory")
	rc=0
	[ $force = 1 ] || "$gvw" hadoop slots "${slots[@]}" >&2 || rc=$?
	case $rc in
	0) ;;
	6) [ $elastic = 1 ] || die "the maps would never all run at once; --elastic trains on the splits of those that do, --force submits all the same" 6
		say "the maps will not all run at once: the job trains on the splits of those that have begun $timeout after the first" ;;
	*) say "cannot ask the cluster for its room (above): submitting all the same" ;;
	esac
fi

shipped=$gvw#gvw
for f in ${files[@]+"${files[@]}"}; do shipped+=,$f; done
[ -z "$secret" ] || shipped+=,$secret#gvw.secret # only its owner may read it, there too
job=(
	-D "mapreduce.job.name=gvw $out"
	-D "gvw.span_server=$server" -D "gvw.span_server_port=$port"
	# one map for each of the N splits, all at once, none inside the ApplicationMaster
	-D "mapreduce.input.fileinputformat.split.minsize=${split% *}" -D mapreduce.job.maps=1000000
	-D mapreduce.job.ubertask.enable=false -D mapreduce.job.running.map.limit=0
	-D "mapreduce.map.speculative=$speculate" -D "mapreduce.map.maxattempts=$attempts"
	# a rank says every 10 s that it lives
	-D mapreduce.task.timeout=600000
	-D "mapreduce.map.java.opts=-Xmx${java}m"
	# when a node is lost, its maps start again after 10 s rather than 3 minutes
	-D yarn.client.nodemanager-connect.max-wait-ms=10000 -D yarn.client.nodemanager-connect.retry-interval-ms=1000
	-D stream.map.output=keyonlytext -D stream.jobconf.truncate.limit=20000
)
[ -z "$memory" ] || job+=(-D "mapreduce.map.memory.mb=$memory")
[ -z "$queue" ] || job+=(-D "mapreduce.job.queuename=$queue")
if [ -n "$speculator" ]; then
	job+=(-D yarn.app.mapreduce.am.job.task.estimator.class=org.gvw.EagerEstimator -D mapreduce.task.progress-report.interval=1000)
fi
job+=(${properties[@]+"${properties[@]}"} -files "$shipped")
[ -z "$speculator" ] || job+=(-libjars "$speculator")
job+=(-numReduceTasks 0 -input "$in" -output "$out" -mapper "$command" ${env[@]+"${env[@]}"})
if [ $dry = 1 ]; then
	printf '%q ' "${submit[@]}" "${job[@]}"
	echo
	exit
fi

# The server: one that runs already, or our own.
work=$(mktemp -d "${TMPDIR:-/tmp}/mapscript.XXXXXX")
own='' client='' id='' aside=''
# shellcheck disable=SC2317 # called by the traps
finish() {
	trap - EXIT INT TERM
	[ -z "$own" ] || { kill -INT "$own" 2>/dev/null; wait "$own" 2>/dev/null; } || true
	[ -z "$client" ] || ! kill -0 "$client" 2>/dev/null || { kill "$client" 2>/dev/null; name; cancel; } || true
	[ -z "$aside" ] || restore || true
	exit "${1:-1}"
}
# name finds and prints the name of the job that the client has submitted.
name() {
	[ -z "$id" ] || return 0
	id=$(grep -om 1 'job_[0-9]*_[0-9]*' "$work/client.log" 2>/dev/null || true)
	[ -z "$id" ] || say "it is $id"
}
# cancel ends the job on the cluster, if there is one.
cancel() { [ -z "$id" ] || mapred job -kill "$id" >/dev/null 2>&1 || true; }
# restore moves the earlier output back if there was no job. It does not replace what a job has written.
restore() {
	if [ -z "$id" ] && ! hadoop fs -test -e "$out" && hadoop fs -mv "$aside" "$out"; then
		say "the earlier $out is there again"
	else
		say "the earlier $out is kept as $aside"
	fi
}
# refusal prints why the server refuses attempts of the job, if it does. It asks the server, and
# reads the log of a server of our own, which also has refusals of other versions.
refusal() {
	if [[ ${now:-} == *": has refused attempts "* ]]; then
		printf '%s\n' "${now##*, the last one since }" | head -n 1
	elif [ -n "$own" ]; then
		grep -m 1 -E 'msg="client refused".*version' "$work/server.log"
	else
		return 1
	fi
}
trap 'finish $?' EXIT
trap 'say "interrupted: the job is killed"; finish 130' INT
trap 'say "told to end: the job is killed"; finish 143' TERM

at=(--span_server 127.0.0.1 --span_server_port "$port")
guard=()
[ -z "$secret" ] || guard=(--secret_file "$secret")
at+=(${guard[@]+"${guard[@]}"})
if "$gvw" jobs "${at[@]}" >/dev/null 2>&1; then
	say "the server on port $port runs already"
else
	"$tree" --nondaemon --port "$port" --state "$work/state" ${guard[@]+"${guard[@]}"} 2>"$work/server.log" &
	own=$!
	answers=0
	for _ in $(seq 50); do
		"$gvw" jobs "${at[@]}" >/dev/null 2>&1 && { answers=1; break; }
		kill -0 "$own" 2>/dev/null || die "the server does not start: $(tail -n 1 "$work/server.log")" 5
		sleep 0.1
	done
	[ $answers = 1 ] || die "the server on port $port does not answer: $(tail -n 1 "$work/server.log")" 5
	say "server on $server:$port, its log is $work/server.log"
fi

# Nothing can refuse the job any more, except Hadoop itself.
if [ $exists = 1 ]; then
	aside=$out
	while [[ $aside == ?*/ ]]; do aside=${aside%/}; done
	aside+=.replaced-${work##*.}
	hadoop fs -mv "$out" "$aside" || { aside='' && die "cannot move $out aside: see above" 5; }
fi
"${submit[@]}" "${job[@]}" >"$work/client.log" 2>&1 &
client=$!
say "submitted; the client's log is $work/client.log"
shown='' without=''
while kill -0 "$client" 2>/dev/null; do
	name
	if [ -n "$id" ]; then
		now=$("$gvw" jobs "${at[@]}" 2>/dev/null | grep -A 1 -F "$id" || true)
		if [ -n "$now" ] && [ "$now" != "$shown" ]; then printf '%s\n' "$now" >&2; fi
		shown=$now
		if [[ $now == *": runs without "* ]]; then without=${now##*: runs without } without=${without%%$'\n'*}; fi
		# A refusal is the same for every attempt, so do not wait for the others.
		if why=$(refusal); then
			say "the server refuses the ranks, so the job is killed: $why"
			cancel
			break
		fi
	fi
	sleep 1
done
rc=0
wait "$client" || rc=$?
client=''
name # a short job is over before it is looked at
if [ $rc != 0 ]; then
	grep -E 'Error|Exception|Status : FAILED|failed with state|Diagnostics' "$work/client.log" | sort -u | tail -n 12 >&2 || true
	# The client prints neither the attempt that ended the job nor one that a node could not start.
	if [ -n "$id" ] && grep -q 'Task failed' "$work/client.log"; then
		timeout 60 mapred job -history "$id" >"$work/history.log" 2>&1 || true
		sed -n '/^FAILED .* task list/,/^$/p' "$work/history.log" | grep -E 'Exception|Error: |No space' | tail -n 3 >&2 || true
	fi
	[ -z "$own" ] || grep -E 'level=(WARN|ERROR)' "$work/server.log" | tail -n 5 >&2 || true
	[ -z "$id" ] || hadoop fs -cat "$out/_gvw/failed-*" 2>/dev/null | sort -u | tail -n 5 >&2 || true
	[ -n "$id" ] || die "the client has failed before it said which job it is; its log is $work/client.log" 3
	die "the job $id has failed (logs: $work; of the maps: yarn logs -applicationId ${id/job/application})" 3
fi
if [ -n "$aside" ]; then
	hadoop fs -rm -r -skipTrash "$aside" >/dev/null || say "cannot remove $aside, the earlier $out: see above"
	aside=''
fi
hadoop fs -get -f "$out/model" "$out/log" "$fetch" || die "the job has ended, but $out/model cannot be fetched" 5
if [ $elastic = 1 ] && [ -z "$without" ]; then # the same
	for log in ${own:+"$work/server.log"} "$fetch/log"; do
		[ -n "$without" ] || without=$(sed -n '/job started without ranks/s/.*missing="\([^"]*\)".*/\1/p' "$log" | head -n 1)
	done
fi
[ -z "$without" ] || say "the model is without the splits of $without, whose maps had not begun in time"
say "done: $out/model, a copy in $fetch/model; rank 0's log in $fetch/log; others in $work"
