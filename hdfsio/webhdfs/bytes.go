// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
)

// Open reads a file from offset on.
func (c *Client) Open(name string, offset int64) (io.ReadCloser, error) {
	res, err := c.ask(http.MethodGet, name, c.query("OPEN", "offset", strconv.FormatInt(offset, 10)))
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res.Body, nil // a gateway that has the bytes itself
	}
	to, err := there(res)
	if err != nil {
		return nil, err
	}
	if res, err = c.one(http.MethodGet, to, nil); err != nil {
		return nil, atNode(to, err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, atNode(to, fmt.Errorf("HTTP status %s, and bytes were expected", res.Status))
	}
	return res.Body, nil
}

// Put makes a file of what r has.
func (c *Client) Put(name string, r io.Reader, perm fs.FileMode) error {
	q := c.query("CREATE", "overwrite", "true", "createparent", "false", "permission", strconv.FormatUint(uint64(perm.Perm()), 8))
	res, err := c.ask(http.MethodPut, name, q)
	if err != nil {
		return err
	}
	to, err := there(res)
	if err != nil {
		return err
	}
	if res, err = c.one(http.MethodPut, to, r); err != nil {
		return atNode(to, err)
	}
	defer func() { _ = res.Body.Close() }() // its status says all
	if res.StatusCode != http.StatusCreated {
		return atNode(to, fmt.Errorf("HTTP status %s, and 201 was expected", res.Status))
	}
	return nil
}

// there returns where a name node sends the caller for the bytes.
func there(res *http.Response) (string, error) {
	defer func() { _ = res.Body.Close() }() // a redirect has none that is of use
	to := res.Header.Get("Location")
	if res.StatusCode < 300 || to == "" {
		return "", fmt.Errorf("HTTP status %s without a data node to go to: is this a name node's HTTP port?", res.Status)
	}
	u, err := res.Request.URL.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the name node names %q as a data node, which is no address", to)
	}
	if res.Request.URL.Scheme == "https" && u.Scheme != "https" {
		return "", fmt.Errorf("the name node speaks TLS, and sends the caller to %s without it", u.Host)
	}
	return u.String(), nil
}

// atNode tells which data node it was: its name may be one that only the cluster knows.
func atNode(to string, err error) error {
	_, host, _ := strings.Cut(to, "://")
	host, _, _ = strings.Cut(host, "/")
	return fmt.Errorf("data node %s: %w", host, err)
}
