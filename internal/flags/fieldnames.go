// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"maps"
	"strings"
	"sync"

	"github.com/gvw-project/gvw/internal/cli"
)

// fieldPrefixes maps the beginning of a field's name in messages to the beginning of its path
// in learn.Config, as rows of Learn have it. Packages below learn name fields of their own
// Config, which learn.Config contains.
var fieldPrefixes = map[string]string{
	"learn.Config.":     "",
	"allreduce.Config.": "Cluster.Join.",
	"stream.Config.":    "Data.",
	"csv.Config.":       "Data.CSV.",
}

// otherFields maps fields that no row of Learn names to their options.
var otherFields = map[string]string{
	"allreduce.Config.Listen":    "--port_range",
	"allreduce.Config.Owner":     "--job_token",
	"auth.Credentials.Secret":    "--secret_file",
	"auth.Credentials.TLS":       "--tls_cert or --encrypt",
	"auth.Credentials.AllowVW":   "--allow_vw",
	"checkpoint.Store.Resume":    "--resume",
	"hdfs.Config.Client":         "--hdfs_client",
	"s3.Config.Endpoint":         "--s3_endpoint",
	"hdfs.Config.Keytab":         "--hdfs_keytab",
	"loss.Params.Logistic":       "--logistic_min, --logistic_max",
	"loss.Params.Tau":            "--quantile_tau",
	"loss.Params.Expectile":      "--expectile_q",
	"learn.Config.Data.Format":   "--json, --csv, --parquet, --libsvm or --csr",
	"stream.Config.Keep":         "--csr",
	"stream.Config.Memory":       "--example_memory",
	"learn.Config.FTRL.Rule":     "--ftrl, --pistol, --coin or --freegrad",
	"learn.Config.Cluster.Group": "--spare",
	"factor.Config.Factors":      "--rank",
	"factor.Config.Rate":         "--learning_rate",
	"factor.Config.Decay":        "--rate_decay",
	"factor.Config.Lambda":       "--lambda",
	"nn.Config.Hidden":           "--hidden",
	"nn.Config.Outputs":          "--classes",
	"nn.Config.Embedding":        "--embedding",
	"nn.Config.Loss":             "--loss_function",
	"nn.Config.Rate":             "--learning_rate",
	"nn.Config.Decay":            "--rate_decay",
	"nn.Config.Momentum":         "--momentum",
	"nn.Config.Lambda":           "--lambda",
	"svm.Config.Size":            "--bit_precision",
	"svm.Config.Lambda":          "--lambda",
	"svm.Config.T0":              "--t0",
}

// fieldOptions returns the options of all fields by the fields' names in messages. It is
// computed at the first message that names a field.
var fieldOptions = sync.OnceValue(func() cli.FieldOptions {
	all := cli.FieldOptions{}
	for prefix, path := range fieldPrefixes {
		for _, s := range Learn {
			for field := range strings.SplitSeq(s.Sets+","+s.About, ",") {
				rest, ok := strings.CutPrefix(field, path)
				if !ok || rest == "" {
					continue
				}
				if _, known := all[prefix+rest]; !known {
					all[prefix+rest] = s.Spelled()
				}
				if s.Kind == cli.Boolean && s.Read != nil || s.About == learnerField { // one of several options for a field
					all[prefix+rest+"="+s.Name] = s.Spelled()
				}
			}
		}
	}
	maps.Copy(all, otherFields)
	return all
})

// WithOptions returns a message with options instead of fields.
func WithOptions(text string) string {
	if !cli.NamesField(text) {
		return text
	}
	return fieldOptions().Replace(text)
}

// ErrorLines returns the messages of an error, for users of the command line.
func ErrorLines(err error) []string {
	lines := cli.ErrorLines(err)
	for i, line := range lines {
		lines[i] = WithOptions(line)
	}
	return lines
}
