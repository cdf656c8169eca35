// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// maxTail is the limit in bytes of the kept stderr of a client.
const maxTail = 64 << 10

// tail keeps the last bytes that are written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// last returns the last line that is not empty.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// said maps texts of the client to the exceptions that cause them: it prints an
// exception's message but not its name.
var said = []struct{ words, exception string }{
	{"No such file or directory", "FileNotFoundException"},
	{"File does not exist", "FileNotFoundException"},
	{"does not exist", "FileNotFoundException"},
	{"Permission denied", "AccessControlException"},
	{"File exists", "FileAlreadyExistsException"},
	{"Directory is not empty", "PathIsNotEmptyDirectoryException"},
	{"is not empty", "PathIsNotEmptyDirectoryException"},
	{"is not a directory", "ParentNotDirectoryException"},
	{"Is not a directory", "ParentNotDirectoryException"},
	{"in safe mode", "SafeModeException"},
	{"DiskSpace quota", "DSQuotaExceededException"},
	{"NameSpace quota", "NSQuotaExceededException"},
	{"Quota by storage type", "QuotaByStorageTypeExceededException"},
	{"Operation category", "StandbyException"},
	{"Could not obtain block", "BlockMissingException"},
	{"UnknownHostException", "UnknownHostException"},
	{"Connection refused", "ConnectException"},
	{"timed out", "SocketTimeoutException"},
	{"Connection reset", "ConnectException"},
	{"can't be found in cache", "InvalidToken"},
}

// explain converts the stderr of a client, and the way it ended, to an error.
func explain(text string, end error) error {
	line := complaint(text)
	for _, s := range said {
		if strings.Contains(line, s.words) {
			return remote.Refuse(s.exception, line)
		}
	}
	if line == "" {
		return fmt.Errorf("the client has failed without a message (%w)", end)
	}
	// A message without a known exception name: package remote may recognise its text.
	return remote.Refuse("IOException", line)
}

// complaint returns the line with the client's error: "put: …", or "-put: …" for invalid
// arguments, among lines of Java's log and of help; the last line if
// there is none.
func complaint(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		for _, command := range []string{"cat", "put", "stat", "mv", "rm", "rmdir", "mkdir"} {
			if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "-"), command+": "); ok {
				return strings.TrimSpace(rest)
			}
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
