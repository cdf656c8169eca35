// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/record"
)

// Record opens the record of the run with an ID, for the events of a rank (--record). If again is true it continues a file
// of the same run, which other processes or an earlier attempt may have begun. It replaces any other file. fresh reports that the file is empty: the
// caller then adds the Run.
func (f *Set) Record(local hdfsio.Local, name string, rank int, id string, again bool) (w *record.Writer, fresh bool, err error) {
	if slices.Contains(StdoutNames, name) {
		return nil, false, cli.Usagef("--record %s: it must be a file, since several processes may write it", name)
	}
	name = LocalPath(name)
	if fresh = !again || !continues(name, id); fresh {
		out, err := local.CreateNow(name)
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			return nil, false, fmt.Errorf("--record: %w", err)
		}
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, false, fmt.Errorf("--record: %w", err)
	}
	return record.NewWriter(out, rank, nil), fresh, nil
}

// continues reports whether the file is the record of the run.
func continues(name, id string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 1<<20).ReadSlice('\n')
	var first record.Run
	return json.Unmarshal(bytes.TrimSpace(line), &first) == nil && first.Event == "run" && first.ID == id
}
