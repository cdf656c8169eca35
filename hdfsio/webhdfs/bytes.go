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
		return res.Body, nil // a gateway that serves the bytes itself
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
		return nil, atNode(to, fmt.Errorf("got HTTP status %s, want a redirect or data", res.Status))
	}
	return res.Body, nil
}

// Put makes a file from r.
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
	defer func() { _ = res.Body.Close() }() // only its status is used
	if res.StatusCode != http.StatusCreated {
		return atNode(to, fmt.Errorf("got HTTP status %s, want 201", res.Status))
	}
	return nil
}

// there returns the URL to which a name node redirects the caller for data.
func there(res *http.Response) (string, error) {
	defer func() { _ = res.Body.Close() }() // the body of a redirect is not used
	to := res.Header.Get("Location")
	if res.StatusCode < 300 || to == "" {
		return "", fmt.Errorf("HTTP status %s without a redirect to a data node: check that this is a name node's HTTP port", res.Status)
	}
	u, err := res.Request.URL.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", &redirectError{withoutQuery(to)}
	}
	if res.Request.URL.Scheme == "https" && u.Scheme != "https" {
		return "", fmt.Errorf("the name node uses TLS, but redirects to %s without it", u.Host)
	}
	return u.String(), nil
}

// atNode adds the data node to an error: its name may be known only in the cluster.
func atNode(to string, err error) error {
	_, host, _ := strings.Cut(withoutQuery(to), "://")
	host, _, _ = strings.Cut(host, "/")
	return fmt.Errorf("data node %s: %w", host, err)
}
