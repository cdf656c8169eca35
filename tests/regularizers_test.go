// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// vw reads the regularisers that gvw has written, of one process or of a job: training
// from them ends with the same model in both.
func TestVWReadsRegularizers(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	archive, err := txtar.ParseFile(filepath.Join("testdata", "recorded", "output_regularizers.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	data := archive.Files[slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "x.vw" })].Data
	for _, c := range []struct{ name, launcher, solver string }{
		{"vw 9's", "", "--bfgs --bfgs_semantics vw9"},
		{"with a Hessian", "", "--bfgs"},
		{"of conjugate gradients", "", "--conjugate_gradient"},
		{"of a job", "run -n 3 -- ", "--bfgs"},
		{"of a job, vw 9's", "run -n 3 -- ", "--bfgs --bfgs_semantics vw9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "x.vw"), string(data))
			gvw(t, dir, strings.Fields(c.launcher+"-d x.vw -b 6 --l2 0.7 --passes 60 -k --cache_file c --quiet --output_feature_regularizer_binary r "+c.solver)...)
			method, _, _ := strings.Cut(c.solver, " ")
			train := strings.Fields("-d x.vw --passes 9 -k --cache_file d --holdout_off --predict_only_model --quiet --input_feature_regularizer r " + method)
			test := strings.Fields("-d x.vw -t --quiet --predict_only_model -i")
			gvw(t, dir, append(train, "--bfgs_semantics", "vw9", "-f", "of-gvw")...)
			gvw(t, dir, append(test, "of-gvw", "-p", "by-gvw")...)
			realRun(t, dir, vw, append(train, "-f", "of-vw")...)
			realRun(t, dir, vw, append(test, "of-vw", "-p", "by-vw")...)
			sameText(t, "predictions", readFile(t, filepath.Join(dir, "by-gvw")), readFile(t, filepath.Join(dir, "by-vw")))
		})
	}
}
