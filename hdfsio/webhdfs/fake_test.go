// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fake is a cluster with a name node and a data node over a folder, with the operations that
// the client uses.
type fake struct {
	dir  string
	name *httptest.Server
	data *httptest.Server

	mu      sync.Mutex // one operation at a time, as in a name node
	standby bool
	startup int    // number of the next requests that are refused because the name node loads its image
	gateway bool   // these refusals are those of a proxy: status 503
	user    string // required user; empty: any
	token   string // required token
	breaks  int    // number of the next reads and writes that fail in the middle
	calls   map[string]int
}

func newFake(t *testing.T) *fake { return newFakeOf(t, httptest.NewServer, httptest.NewServer) }

// newFakeOf is newFake with functions that start the name node and the data node.
func newFakeOf(t *testing.T, name, data func(http.Handler) *httptest.Server) *fake {
	f := &fake{dir: t.TempDir(), calls: map[string]int{}}
	f.name = name(http.HandlerFunc(f.serveNames))
	f.data = data(http.HandlerFunc(f.serveBytes))
	t.Cleanup(f.name.Close)
	t.Cleanup(f.data.Close)
	return f
}

func (f *fake) node() string { return f.name.Listener.Addr().String() }

func (f *fake) local(r *http.Request) string {
	return filepath.Join(f.dir, strings.TrimPrefix(r.URL.Path, "/webhdfs/v1"))
}

// refuse responds with an exception in Hadoop's format.
func refuse(w http.ResponseWriter, status int, exception, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"RemoteException":{"exception":%q,"javaClassName":"java.lang.%s","message":%q}}`, exception, exception, message)
}

func refuseFor(w http.ResponseWriter, name string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		refuse(w, 404, "FileNotFoundException", "File does not exist: "+name)
	case errors.Is(err, fs.ErrExist):
		refuse(w, 403, "FileAlreadyExistsException", name+" exists\n\tat java.lang.Stack")
	case errors.Is(err, syscall.ENOTEMPTY):
		refuse(w, 403, "PathIsNotEmptyDirectoryException", name+" is non empty")
	case errors.Is(err, syscall.ENOTDIR):
		refuse(w, 403, "ParentNotDirectoryException", name+" is not a directory")
	default:
		refuse(w, 403, "IOException", err.Error())
	}
}

func describe(fi fs.FileInfo, suffix string) map[string]any {
	kind := "FILE"
	if fi.IsDir() {
		kind = "DIRECTORY"
	}
	return map[string]any{
		"pathSuffix": suffix, "type": kind, "length": fi.Size(), "modificationTime": fi.ModTime().UnixMilli(),
		"permission": strconv.FormatUint(uint64(fi.Mode().Perm()), 8),
	}
}

func (f *fake) serveNames(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	op := q.Get("op")
	f.calls[op]++
	switch {
	case f.standby:
		refuse(w, 403, "StandbyException", "Operation category READ is not supported in state standby")
		return
	case f.startup > 0 && f.gateway:
		f.startup--
		w.WriteHeader(503)
		return
	case f.startup > 0:
		f.startup--
		refuse(w, 403, "RetriableException", "Namenode is in startup mode")
		return
	case f.token != "" && q.Get("delegation") != f.token:
		w.Header().Set("WWW-Authenticate", "Negotiate")
		w.WriteHeader(401)
		return
	case f.user != "" && q.Get("user.name") != f.user:
		refuse(w, 403, "AccessControlException", "Permission denied: user="+q.Get("user.name"))
		return
	}
	name := f.local(r)
	var answer any
	var err error
	switch r.Method + " " + op {
	case "GET GETFILESTATUS":
		var fi fs.FileInfo
		if fi, err = os.Stat(name); err == nil {
			answer = map[string]any{"FileStatus": describe(fi, "")}
		}
	case "GET LISTSTATUS":
		answer, err = f.listing(name)
	case "GET GETFILEBLOCKLOCATIONS":
		length, _ := strconv.ParseInt(q.Get("length"), 10, 64)
		answer = map[string]any{"BlockLocations": map[string]any{"BlockLocation": []any{
			map[string]any{"offset": length / 2, "length": length - length/2, "hosts": []string{"b", "c"}},
			map[string]any{"offset": 0, "length": length / 2, "hosts": []string{"a"}},
		}}}
	case "PUT MKDIRS":
		err = os.MkdirAll(name, 0o755)
		answer = map[string]bool{"boolean": true}
	case "DELETE DELETE":
		_, serr := os.Stat(name)
		if answer = map[string]bool{"boolean": serr == nil}; serr == nil {
			err = os.Remove(name)
		}
	case "PUT RENAME":
		to := filepath.Join(f.dir, q.Get("destination"))
		if q.Get("renameoptions") == "OVERWRITE" {
			err = os.Rename(name, to)
		} else if err = os.Link(name, to); err == nil {
			err = os.Remove(name)
		}
	case "GET OPEN", "PUT CREATE":
		if op == "CREATE" {
			_, err = os.Stat(filepath.Dir(name))
		} else {
			_, err = os.Stat(name)
		}
		if err == nil {
			w.Header().Set("Location", f.data.URL+r.URL.EscapedPath()+"?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
	default:
		refuse(w, 400, "IllegalArgumentException", "Invalid value for webhdfs parameter \"op\"")
		return
	}
	if err != nil {
		refuseFor(w, r.URL.Path, err)
		return
	}
	if answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (f *fake) listing(name string) (any, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	all := []any{}
	if !fi.IsDir() {
		all = append(all, describe(fi, ""))
	} else {
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			fi, err := e.Info()
			if err != nil {
				return nil, err
			}
			all = append(all, describe(fi, e.Name()))
		}
	}
	return map[string]any{"FileStatuses": map[string]any{"FileStatus": all}}, nil
}

// broken reports whether this transfer is to fail.
func (f *fake) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.breaks--
	return f.breaks >= 0
}

func (f *fake) serveBytes(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch q.Get("op") {
	case "OPEN":
		file, err := os.Open(f.local(r))
		if err != nil {
			refuseFor(w, r.URL.Path, err)
			return
		}
		defer func() { _ = file.Close() }()
		offset, _ := strconv.ParseInt(q.Get("offset"), 10, 64)
		fi, err := file.Stat()
		if err != nil || offset > fi.Size() {
			refuse(w, 403, "IOException", "Offset is out of range")
			return
		}
		left := fi.Size() - offset
		w.Header().Set("Content-Length", strconv.FormatInt(left, 10))
		if f.broken() {
			_, _ = io.Copy(w, io.NewSectionReader(file, offset, left/2))
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(w, io.NewSectionReader(file, offset, left))
	case "CREATE":
		if f.broken() {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			panic(http.ErrAbortHandler)
		}
		b, err := io.ReadAll(r.Body)
		if err == nil {
			perm, _ := strconv.ParseUint(q.Get("permission"), 8, 32)
			err = os.WriteFile(f.local(r), b, fs.FileMode(perm))
		}
		if err != nil {
			refuseFor(w, r.URL.Path, err)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}
}
