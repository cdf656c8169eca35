// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Ranks of gvw svm read their shares of files on HDFS, by its own protocol and by HTTP.
func TestRanksReadTheirSharesFromHDFS(t *testing.T) {
	t.Parallel()
	c, in := hadoop(t), smallInput(t)
	for _, root := range []string{c.HDFS(), "webhdfs://" + strings.TrimPrefix(c.WebHDFS(), "http://")} {
		out, err := program(t.Context(), c, "run", "-n", "4", "--", filepath.Join(shared.programs, "gvw"), "svm", "-d", root+in.hdfs+"/part.*",
			"--malt", "all", "--sync", "bsp", "--cb_size", "50", "--passes", "2").CombinedOutput()
		if err != nil || !regexp.MustCompile(`pass 2: 2[45]\d examples`).Match(out) {
			t.Errorf("%s: %v, want rank 0 with a quarter of %d examples:\n%s", root, err, in.lines, out)
		}
	}
}
