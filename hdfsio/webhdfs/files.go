// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// status is a file or directory as a name node describes it.
type status struct {
	PathSuffix       string `json:"pathSuffix"`
	Type             string `json:"type"`
	Length           int64  `json:"length"`
	ModificationTime int64  `json:"modificationTime"` // milliseconds
	Permission       string `json:"permission"`       // octal
}

func (s status) info(name string) hdfsio.Info {
	mode := fs.FileMode(0)
	if bits, err := strconv.ParseUint(s.Permission, 8, 32); err == nil {
		mode = fs.FileMode(bits) & fs.ModePerm
	}
	switch s.Type {
	case "DIRECTORY":
		mode |= fs.ModeDir
	case "SYMLINK":
		mode |= fs.ModeSymlink
	}
	return hdfsio.Info{Name: name, Size: s.Length, Modified: time.UnixMilli(s.ModificationTime), Mode: mode}
}

// do sends a request to a name node and decodes the response into answer; nil: ignore it.
func (c *Client) do(method, name string, query url.Values, answer any) error {
	res, err := c.ask(method, name, query)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the response has been read
	if res.StatusCode >= 300 {
		return fmt.Errorf("got HTTP status %s, want a response with a body", res.Status)
	}
	if answer == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("cannot decode the name node's response: %w", err)
	}
	return nil
}

// Stat describes a file or directory.
func (c *Client) Stat(name string) (hdfsio.Info, error) {
	var a struct{ FileStatus status }
	if err := c.do(http.MethodGet, name, c.query("GETFILESTATUS"), &a); err != nil {
		return hdfsio.Info{}, err
	}
	return a.FileStatus.info(path.Base(name)), nil
}

// ReadDir describes the files in a directory.
func (c *Client) ReadDir(name string) ([]hdfsio.Info, error) {
	var a struct {
		FileStatuses struct{ FileStatus []status }
	}
	if err := c.do(http.MethodGet, name, c.query("LISTSTATUS"), &a); err != nil {
		return nil, err
	}
	all := a.FileStatuses.FileStatus
	if len(all) == 1 && all[0].PathSuffix == "" {
		return nil, &fs.PathError{Op: "list", Path: name, Err: syscall.ENOTDIR} // a file is listed as itself
	}
	infos := make([]hdfsio.Info, len(all))
	for i, s := range all {
		infos[i] = s.info(s.PathSuffix)
	}
	return infos, nil
}

// Mkdir makes a directory and its missing parents.
func (c *Client) Mkdir(name string) error {
	return c.yes(http.MethodPut, name, c.query("MKDIRS", "permission", "755"), errors.New("the name node did not make it, without a reason"))
}

// Remove removes a file or an empty directory.
func (c *Client) Remove(name string) error {
	return c.yes(http.MethodDelete, name, c.query("DELETE", "recursive", "false"), &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist})
}

// yes sends a request for which the name node returns a boolean, and returns no if that is false.
func (c *Client) yes(method, name string, query url.Values, no error) error {
	var a struct {
		Boolean bool `json:"boolean"`
	}
	if err := c.do(method, name, query, &a); err != nil {
		return err
	}
	if !a.Boolean {
		return no
	}
	return nil
}

// Rename renames a file. With an option, even NONE, the name node returns an error with
// its reason; without one it would return false.
func (c *Client) Rename(from, to string, replace bool) error {
	option := "NONE"
	if replace {
		option = "OVERWRITE"
	}
	return c.do(http.MethodPut, from, c.query("RENAME", "destination", to, "renameoptions", option), nil)
}

// Blocks returns the locations of a file's blocks.
func (c *Client) Blocks(name string, size int64) ([]hdfsio.Block, error) {
	var a struct {
		BlockLocations struct {
			BlockLocation []struct {
				Offset int64    `json:"offset"`
				Length int64    `json:"length"`
				Hosts  []string `json:"hosts"`
			}
		}
	}
	q := c.query("GETFILEBLOCKLOCATIONS", "offset", "0", "length", strconv.FormatInt(size, 10))
	if err := c.do(http.MethodGet, name, q, &a); err != nil {
		return nil, err
	}
	blocks := make([]hdfsio.Block, len(a.BlockLocations.BlockLocation))
	for i, l := range a.BlockLocations.BlockLocation {
		blocks[i] = hdfsio.Block{Offset: l.Offset, Length: l.Length, Hosts: l.Hosts}
	}
	return blocks, nil
}
