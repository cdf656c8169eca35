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

// status is a file or folder as a name node describes it.
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

// do asks a name node and decodes what it answers; nil: nothing of interest.
func (c *Client) do(method, name string, query url.Values, answer any) error {
	res, err := c.ask(method, name, query)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // what was asked for has been read
	if res.StatusCode >= 300 {
		return fmt.Errorf("HTTP status %s, and an answer was expected", res.Status)
	}
	if answer == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("the name node's answer cannot be read: %w", err)
	}
	return nil
}

// Stat describes a file or folder.
func (c *Client) Stat(name string) (hdfsio.Info, error) {
	var a struct{ FileStatus status }
	if err := c.do(http.MethodGet, name, c.query("GETFILESTATUS"), &a); err != nil {
		return hdfsio.Info{}, err
	}
	return a.FileStatus.info(path.Base(name)), nil
}

// ReadDir describes what is in a folder.
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

// Mkdir makes a folder and its missing parents.
func (c *Client) Mkdir(name string) error {
	return c.yes(http.MethodPut, name, c.query("MKDIRS", "permission", "755"), errors.New("the name node did not make it, and does not say why"))
}

// Remove removes a file or an empty folder.
func (c *Client) Remove(name string) error {
	return c.yes(http.MethodDelete, name, c.query("DELETE", "recursive", "false"), &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist})
}

// yes does what a name node answers with true, and is no if it answers with false.
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

// Rename gives a file another name. With an option, be it NONE, the name node says
// what is wrong; without one it would answer false.
func (c *Client) Rename(from, to string, replace bool) error {
	option := "NONE"
	if replace {
		option = "OVERWRITE"
	}
	return c.do(http.MethodPut, from, c.query("RENAME", "destination", to, "renameoptions", option), nil)
}

// Blocks returns where the pieces of a file are.
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
